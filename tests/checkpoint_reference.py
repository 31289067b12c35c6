"""A slow second implementation of checkpoints: exact fractions, event after event, save after save, every copy by hand.

It shares nothing with c4sim.checkpoint but the meaning of the words and the address of a save's random numbers, so
that the arithmetic there has something to be wrong against.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction


@dataclass(frozen=True)
class Place:
    """One tier: every k-th save, its times in seconds, and which lost slots destroy it."""

    every: int
    stall: float
    persist: float
    slowdown: float
    load: float
    destroyed_by: Callable[[tuple[int, ...]], bool]


@dataclass(frozen=True)
class Copy:
    """A durable copy of a save in one tier. held: work, stall, slowdown and saves of its stretch up to its end."""

    time: Fraction
    work: Fraction
    address: tuple[int, int, int]
    stretch: int
    held: tuple[Fraction, Fraction, Fraction, int]


NOTHING = (Fraction(0), Fraction(0), Fraction(0), 0)


@dataclass
class SlowCheckpoints:
    """Runs stretches event by event. `failed` and `corrupt` say what becomes of the save at (leg, tier, number)."""

    interval: float
    places: list[Place]
    overrun: str = "block"
    evaluate_every: float | None = None
    evaluate_for: float = 0.0
    keep: int | None = None
    delete_before: bool = False
    tries_s: float | None = None
    failed: Callable[[tuple[int, int, int]], bool] = lambda _address: False
    corrupt: Callable[[tuple[int, int, int]], bool] = lambda _address: False
    shelves: list[list[Copy]] = field(init=False)

    def __post_init__(self) -> None:
        self.shelves = [[] for _ in self.places]
        self.restart: Copy | None = None
        self.stretch = 0
        self.leg = 0

    # -- one stretch ------------------------------------------------------------------------------------------------

    def begin(self, now: float) -> None:
        self.t = self.start = Fraction(now)
        self.stretch += 1
        self.leg += 1
        self.base = self.work = Fraction(0) if self.restart is None else self.restart.work
        self.rate = Fraction(1)
        self.due = self.work + Fraction(self.interval)
        self.turn = 0
        self.stall = self.slow = Fraction(0)
        self.saves = 0
        self.open: dict[int, tuple[Fraction, Copy]] = {}
        self.numbers: dict[tuple[int, int], int] = {}
        self.activity: tuple[str, Fraction] | None = None
        self.saving: list[int] = []
        self.save_leg = 0
        self.rearmed_until: Fraction | None = None
        if self.evaluate_every is not None:
            every = Fraction(self.evaluate_every)
            self.next_evaluation = (self.work // every + 1) * every

    def run(self, until: float) -> None:
        """Let time pass up to and including `until`."""
        end = Fraction(until)
        while True:
            self._happen()
            step = self._next()
            if step is None or step > end:
                self._pass(end)
                return
            self._pass(step)

    def set_rate(self, factor: float) -> None:
        self.rate = Fraction(factor)
        self.leg += 1

    def _speed(self) -> Fraction:
        speed = self.rate
        for tier in self.open:
            speed *= 1 - Fraction(self.places[tier].slowdown)
        return speed

    def _next(self) -> Fraction | None:
        """The next moment at which something changes."""
        times = [] if self._evaluating() else [end for end, _ in self.open.values()]
        if self.activity is not None:
            times.append(self.activity[1])
        elif self._speed() > 0:
            goals = [] if self.rearmed_until is not None else [self.due]
            if self.evaluate_every is not None:
                goals.append(self.next_evaluation)
            times += [self.t + (goal - self.work) / self._speed() for goal in goals]
        if self.rearmed_until is not None and not self._evaluating():
            times.append(self.rearmed_until)
        return min(times, default=None)

    def _evaluating(self) -> bool:
        return self.activity is not None and self.activity[0] == "evaluation"

    def _pass(self, until: Fraction) -> None:
        dt = until - self.t
        if self.activity is None:
            self.work += dt * self._speed()
            self.slow += dt * (1 - self._speed())
        elif self._evaluating():
            self.slow += dt
            self.open = {tier: (end + dt, copy) for tier, (end, copy) in self.open.items()}
            if self.rearmed_until is not None:
                self.rearmed_until += dt
        else:
            self.stall += dt
        self.t = until

    def _happen(self) -> None:
        """Everything that is due at this very moment, until nothing is left."""
        while self._one_thing():
            pass

    def _one_thing(self) -> bool:
        if self._persisted() or self._activity_over():
            return True
        if self.activity is not None:
            return False
        if self.rearmed_until is not None:
            return self._rearmed()
        return self._evaluation_due() or self._save_due()

    def _persisted(self) -> bool:
        ended = [] if self._evaluating() else [tier for tier, (end, _) in self.open.items() if end <= self.t]
        for tier in ended:
            self._durable(tier, self.open.pop(tier)[1])
        return bool(ended)

    def _activity_over(self) -> bool:
        if self.activity is None or self.activity[1] > self.t:
            return False
        kind, _ = self.activity
        self.activity = None
        if kind == "save":
            self._snapshot()
        elif kind == "wait":
            self._start_save()
        return True

    def _rearmed(self) -> bool:
        assert self.rearmed_until is not None
        if self.rearmed_until <= self.t:
            self.rearmed_until = None
            self.due = self.work + Fraction(self.interval)
            return True
        return self._evaluation_due()

    def _evaluation_due(self) -> bool:
        if self.evaluate_every is None or self.work != self.next_evaluation:
            return False
        self.next_evaluation += Fraction(self.evaluate_every)
        self.activity = ("evaluation", self.t + Fraction(self.evaluate_for))
        return True

    def _save_due(self) -> bool:
        if self.work != self.due:
            return False
        self._trigger()
        return True

    def _trigger(self) -> None:
        wanted = [i for i, place in enumerate(self.places) if (self.turn + 1) % place.every == 0]
        busy = [i for i in wanted if i in self.open]
        if busy and self.overrun == "rearm":
            self.rearmed_until = max(self.open[i][0] for i in busy)
            return
        self.save_leg = self.leg
        self.turn += 1
        if busy and self.overrun == "skip":
            wanted = [i for i in wanted if i not in busy]
        self.saving = wanted
        if not wanted:
            self.due = self.work + Fraction(self.interval)
        elif busy and self.overrun == "block":
            self.activity = ("wait", max(self.open[i][0] for i in busy))
        else:
            self._start_save()

    def _start_save(self) -> None:
        if self.keep is not None and self.delete_before:
            for tier in self.saving:
                self._trim(tier, self.keep - 1)
        self.activity = ("save", self.t + max(Fraction(self.places[i].stall) for i in self.saving))

    def _snapshot(self) -> None:
        self.saves += 1
        for tier in self.saving:
            number = self.numbers.get((self.save_leg, tier), 0)
            self.numbers[self.save_leg, tier] = number + 1
            held = (self.work - self.base, self.stall, self.slow, self.saves)
            copy = Copy(self.t, self.work, (self.save_leg, tier, number), self.stretch, held)
            self.open[tier] = (self.t + Fraction(self.places[tier].persist), copy)
        self.due = self.work + Fraction(self.interval)

    def _durable(self, tier: int, copy: Copy) -> None:
        if not self.failed(copy.address):
            self.shelves[tier].append(copy)
            if self.keep is not None:
                self._trim(tier, self.keep)

    def _trim(self, tier: int, keep: int) -> None:
        shelf = self.shelves[tier]
        del shelf[: max(len(shelf) - keep, 0)]

    # -- a failure ---------------------------------------------------------------------------------------------------

    def rollback(
        self, slots: tuple[int, ...], corrupt_since: float | None
    ) -> tuple[Fraction, Fraction, float, float, bool, tuple[Fraction, Fraction, Fraction, int]]:
        """kept_until, work, load_s, failed_loads_s, no_progress, held."""
        for tier, place in enumerate(self.places):
            if place.destroyed_by(slots):
                self.shelves[tier].clear()
            if corrupt_since is not None:
                self.shelves[tier] = [c for c in self.shelves[tier] if c.time <= Fraction(corrupt_since)]
        before = self.restart
        best, waited = self._try_to_load()
        if best is not None and self.tries_s is None and self.corrupt(best[1].address):
            return best[1].time, best[1].work, 0.0, 0.0, True, best[1].held
        self.restart = None if best is None else best[1]
        load = self.places[-1 if best is None else best[0]].load
        if best is None:
            return (self.start if before is None else Fraction(0)), Fraction(0), load, waited, False, NOTHING
        copy = best[1]
        self._reload_memory(copy)
        same = before is not None and before.time == copy.time
        return (self.start if same else copy.time), copy.work, load, waited, False, NOTHING if same else copy.held

    def _newest(self) -> tuple[int, Copy] | None:
        best: tuple[int, Copy] | None = None
        for tier, shelf in enumerate(self.shelves):
            if shelf and (best is None or shelf[-1].time > best[1].time):
                best = (tier, shelf[-1])
        return best

    def _try_to_load(self) -> tuple[tuple[int, Copy] | None, float]:
        waited = 0.0
        best = self._newest()
        while best is not None and self.tries_s is not None and self.corrupt(best[1].address):
            waited += self.tries_s
            self.shelves[best[0]].pop()
            best = self._newest()
        return best, waited

    def _reload_memory(self, copy: Copy) -> None:
        for tier, place in enumerate(self.places):
            volatile = place.destroyed_by(tuple(range(10_000)))
            if volatile and not (self.shelves[tier] and self.shelves[tier][-1].time == copy.time):
                self.shelves[tier].append(copy)
                if self.keep is not None:
                    self._trim(tier, self.keep)
