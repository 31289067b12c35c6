"""The save schedule, worked out save by save until it repeats: once for a scenario, not once for a run.

Saves to several tiers, written while the job works on, slow it down, and may still be open when the next one is due.
From a given state the schedule is deterministic, and after a few saves it comes back to a state that it has been in:
from there on it repeats.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import prod
from typing import Any, Generic, Literal, TypeVar

from c4sim.checkpoint.tiers import TierPlan, period
from c4sim.checkpoint.timeline import STANDSTILL, Entry
from c4sim.scenario.saves import LONGEST_TURN

Overrun = Literal["block", "skip", "rearm"]
Number = TypeVar("Number", float, Fraction)

LONGEST_PERIOD = LONGEST_TURN  # saves; a run that needs more of them between two failures is rare
_MOST_TRIGGERS = 20_000  # until a schedule of skipped saves must have come near to a repetition
_NEAR = 1e-3  # of the interval: what closing a schedule that does not repeat may shift a save by
_SAME = 1e-9  # states that differ by less than this share of the interval are the same


@dataclass(frozen=True, slots=True)
class Piece(Generic[Number]):
    """From `start` on the job works at `rate`, or stands still for a save (rate None).

    work, stall, slowdown, saves: what lies before it.

    due_in: work until the next save is due (not above 0: it is due and waits); triggers: saves that have come due.
    """

    start: Number
    work: Number
    stall: Number
    slowdown: Number
    saves: int
    rate: Number | None
    due_in: Number
    triggers: int


@dataclass(frozen=True, slots=True)
class Save(Generic[Number]):
    """A save to `tiers` whose stall lasts from `begin` to `end` and that holds `work`.

    stall, slowdown, count: what lies before its end; the save itself is counted.
    """

    begin: Number
    end: Number
    work: Number
    stall: Number
    slowdown: Number
    count: int
    tiers: tuple[int, ...]


@dataclass(slots=True)
class Schedule(Generic[Number]):
    """Pieces and saves in order of time; those from `loop_piece` and `loop_save` on repeat for ever, up to `end`."""

    pieces: list[Piece[Number]] = field(default_factory=list)
    saves: list[Save[Number]] = field(default_factory=list)
    loop_piece: int = 0
    loop_save: int = 0
    end: Piece[Number] | None = None


def nominal_schedule(interval: float, tiers: Sequence[TierPlan], overrun: Overrun) -> Schedule[Any]:
    """The schedule after a restart at the nominal rate, in exact arithmetic, so that its multiples round only once.

    Schedules that repeat only after more than LONGEST_PERIOD saves (some of overrun=skip) are worked out in floats.
    Raises ValueError as `schedule_from` does.
    """
    entry = Entry(interval, 0, (0.0,) * len(tiers))
    exact = _Stepper(Fraction, interval, tiers, overrun, 1.0, entry).run(max(LONGEST_PERIOD, 2 * period(tiers)) + 1)
    return schedule_from(interval, tiers, overrun, 1.0, entry) if exact is None else exact


def schedule_from(
    interval: float, tiers: Sequence[TierPlan], overrun: Overrun, rate: float, entry: Entry
) -> Schedule[float]:
    """The schedule of a leg that starts in the state `entry` and works at `rate`.

    Some schedules of overrun=skip only come ever nearer to a repetition: they are closed at the nearest state. Raises
    ValueError when that is not near, so that what would repeat is not the schedule.
    """
    stepper = _Stepper(float, interval, tiers, overrun, max(rate, STANDSTILL), entry)
    found = stepper.run(_MOST_TRIGGERS if overrun == "skip" else max(LONGEST_PERIOD, 2 * period(tiers)) + 1)
    return stepper.nearest() if found is None else found


class _Stepper(Generic[Number]):
    """Steps from save to save. `open[i]`: when the save that tier i writes will be durable."""

    def __init__(
        self,
        number: type[Number],
        interval: float,
        tiers: Sequence[TierPlan],
        overrun: Overrun,
        rate: float,
        entry: Entry,
    ) -> None:
        self._number: type[Number] = number
        self._interval: Number = number(interval)
        self._rounding: Number = self._interval * number(_SAME)  # a tie is a tie also after rounding
        self._every = [tier.every for tier in tiers]
        self._stall: list[Number] = [number(tier.stall) for tier in tiers]
        self._persist: list[Number] = [number(tier.persist) for tier in tiers]
        self._kept_rate: list[Number] = [number(1) - number(tier.slowdown) for tier in tiers]
        self._period = period(tiers)
        self._overrun = overrun
        self._rate: Number = number(rate)
        self._zero: Number = number(0)
        self._t: Number = self._zero
        self._work: Number = self._zero
        self._stalled: Number = self._zero
        self._slowed: Number = self._zero
        self._due: Number = number(entry.due_in)
        self._open: list[Number] = [number(left) for left in entry.open]
        self._triggers = entry.triggers
        self._plan: Schedule[Number] = Schedule()
        self._states: list[tuple[tuple[Number, ...], tuple[int, int]]] = []

    def run(self, most: int) -> Schedule[Number] | None:
        """Step until a state comes back; None if none of the first `most` does."""
        seen: dict[tuple[int, ...], tuple[int, int]] = {}
        for _ in range(most):
            state = self._state()
            place = (len(self._plan.pieces), len(self._plan.saves))
            key = tuple(round(x / self._interval / _SAME) for x in state)
            if key in seen:
                return self._closed(*seen[key])
            seen[key] = place
            self._states.append((state, place))
            self._work_until(self._due, None)
            self._save_due()
        return None

    def nearest(self) -> Schedule[Number]:
        """The schedule closed at the state nearest to the last one. See `schedule_from`."""
        last = self._states.pop()[0]
        alike = ((_distance(state, last), place) for state, place in self._states if state[0] == last[0])
        distance, place = min(alike, default=(self._interval, (0, 0)))
        if not distance <= self._interval * self._number(_NEAR):
            raise ValueError(
                f"checkpoint.tiers: with overrun: skip these saves do not repeat within {len(self._states)} intervals "
                f"of {float(self._interval):g} s: choose times until durable that are multiples of the interval, or "
                "another overrun"
            )
        return self._closed(*place)

    def _closed(self, loop_piece: int, loop_save: int) -> Schedule[Number]:
        plan = self._plan
        plan.loop_piece, plan.loop_save = loop_piece, loop_save
        plan.end = self._piece(None)
        return plan

    def _state(self) -> tuple[Number, ...]:
        state: list[Number] = [self._interval * (self._triggers % self._period), self._due - self._work]
        state.extend(max(end - self._t, self._zero) for end in self._open)
        return tuple(state)

    def _piece(self, rate: Number | None) -> Piece[Number]:
        due_in = self._due - self._work
        saves = len(self._plan.saves)
        return Piece(self._t, self._work, self._stalled, self._slowed, saves, rate, due_in, self._triggers)

    def _work_until(self, work: Number, end: Number | None) -> None:
        """Work on until `work` is done or, if it is given, the time `end` is reached."""
        while self._t != end and (end is not None or self._work < work):
            rate = self._rate * prod(
                kept for kept, until in zip(self._kept_rate, self._open, strict=True) if until > self._t
            )
            self._plan.pieces.append(self._piece(rate))
            stop = min((until for until in self._open if until > self._t), default=end)
            if end is None and rate > 0:
                done = self._t + (work - self._work) / rate
                if stop is None or done <= stop:
                    self._advance(done, work)
                    return
            assert stop is not None  # a rate of 0 comes from an open save
            self._advance(stop, self._work + rate * (stop - self._t))

    def _advance(self, until: Number, work: Number) -> None:
        self._slowed += until - self._t - (work - self._work)
        self._t, self._work = until, work

    def _stand_until(self, end: Number) -> None:
        if end > self._t:
            self._plan.pieces.append(self._piece(None))
            self._stalled += end - self._t
            self._t = end

    def _save_due(self) -> None:
        turn = self._triggers + 1
        wanted = [i for i, every in enumerate(self._every) if turn % every == 0]
        busy = [i for i in wanted if self._open[i] > self._t + self._rounding]
        if busy:
            free = max(self._open[i] for i in busy)
            if self._overrun == "rearm":
                self._work_until(self._due, free)  # the save stays due meanwhile
                self._due = self._work + self._interval
                return
            if self._overrun == "block":
                self._stand_until(free)
            else:
                wanted = [i for i in wanted if i not in busy]
        self._triggers = turn
        if wanted:
            self._save(wanted)
        self._due = self._work + self._interval

    def _save(self, wanted: list[int]) -> None:
        begin = self._t
        self._stand_until(begin + max(self._stall[i] for i in wanted))
        count = len(self._plan.saves) + 1
        self._plan.saves.append(Save(begin, self._t, self._work, self._stalled, self._slowed, count, tuple(wanted)))
        for i in wanted:
            self._open[i] = self._t + self._persist[i]


def _distance(one: tuple[Number, ...], other: tuple[Number, ...]) -> Number:
    return max(abs(a - b) for a, b in zip(one, other, strict=True))
