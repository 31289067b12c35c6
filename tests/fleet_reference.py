"""A second, slow and plain fleet to compare with: every question is answered by looking at every unit.

Shares with the fleet only the scenario, the laws and the addresses of the random numbers.
"""

import math
from dataclasses import dataclass

from c4sim.distributions import law_of
from c4sim.scenario import Scenario
from c4sim.scenario.values import LawSpec
from c4sim.streams import Purpose, Streams

HOT = 2**34 - 1


@dataclass
class Unit:
    """state: job, spare, reserved, work, queue, ordered (gone, its replacement under way) or gone."""

    state: str
    pool: int
    slot: int = -1
    since: tuple[float, int] = (0.0, 0)  # order of arrival on the shelf or in the queue
    until: float = math.inf  # end of work, or arrival of the replacement
    broken: bool = False
    stage: int = 0
    attempt: int = 0
    incident: tuple[int, int, int] = (0, 0, 0)
    out: int = -1
    blames: tuple[float, ...] = ()
    bad: bool = False


class SlowFleet:
    """The fleet once more; `log` holds [unit, out, back] of every outage."""

    def __init__(self, scenario: Scenario, streams: Streams, hot_rate: float = 0.0) -> None:
        self.s, self.streams, self.hot_rate = scenario, streams, hot_rate
        n = self.n = scenario.job.nodes
        sp = scenario.spares
        self.pools = 1 if sp.total is not None else -(-n // sp.pool_nodes)
        self.size = sp.total if sp.total is not None else sp.per_pool
        self.units: list[Unit] = []
        for pool in range(self.pools):
            for slot in range(pool * n // self.pools, (pool + 1) * n // self.pools):
                self.units.append(Unit("job", pool, slot))
        self.tick = 0
        if isinstance(self.size, int):
            for pool in range(self.pools):
                self.units += [Unit("spare", pool, since=(0.0, i)) for i in range(self.size)]
            self.tick = self.size
        self.vacant: dict[int, tuple[tuple[int, int, int], int | None, float, int]] = {}
        self.log: list[list[float | None]] = []
        self.now = 0.0
        self.hot_used = 0.0
        self.hot_count = 0

    def draw(self, purpose: Purpose, spec: LawSpec | None, incident: tuple[int, int, int], attempt: int) -> float:
        stream, number, ordinal = incident
        u = self.streams.uniforms(purpose, stream + ordinal * 2**34 + attempt * 2**50, number, 1)
        return float(u[0] if spec is None else law_of(spec).quantile(u)[0])

    def stages(self) -> list[tuple[LawSpec, float, float, float]]:
        r = self.s.repair
        if r.stages is None:
            return [(r.duration, math.inf if r.crews == "unlimited" else r.crews, 1.0, 0.0)]
        return [
            (g.duration, math.inf if g.crews == "unlimited" else g.crews, g.success, g.silent_failure) for g in r.stages
        ]

    def start_work(self) -> None:
        for number, (duration, crews, _, _) in enumerate(self.stages()):
            while True:
                working = [u for u in self.units if u.state == "work" and u.stage == number]
                queue = [u for u in self.units if u.state == "queue" and u.stage == number]
                if not queue or len(working) >= crews:
                    break
                first = min(queue, key=lambda u: u.since)
                first.state = "work"
                first.until = self.now + self.draw(Purpose.REPAIR, duration, first.incident, first.attempt)

    def arrives(self, unit: Unit, state: str) -> None:
        self.tick += 1
        unit.state, unit.since, unit.until = state, (self.now, self.tick), math.inf

    def hot_next(self) -> float:
        standing = sum(u.state == "spare" for u in self.units)
        if self.s.spares.state == "shelf" or not standing or not self.hot_rate:
            return math.inf
        gaps = -sum(math.log1p(-self.streams.uniform(Purpose.HOT_SPARE, HOT, k)) for k in range(self.hot_count + 1))
        return self.now + max(gaps - self.hot_used, 0.0) / (standing * self.hot_rate)

    def next_change(self) -> float:
        return min(self.hot_next(), min((u.until for u in self.units), default=math.inf))

    def go_to(self, time: float) -> None:
        standing = sum(u.state == "spare" for u in self.units)
        self.hot_used += (time - self.now) * standing * self.hot_rate
        self.now = time

    def advance(self, now: float) -> None:
        while (time := self.next_change()) <= now:
            due = [i for i, u in enumerate(self.units) if u.until <= time]
            hot = not due
            self.go_to(time)
            if hot:
                self.hot_fails()
            else:
                self.ends(min(due, key=lambda i: (self.units[i].until, self.units[i].state == "ordered", i)))
        self.go_to(now)

    def hot_fails(self) -> None:
        standing = sorted(
            (i for i, u in enumerate(self.units) if u.state == "spare"),
            key=lambda i: (self.units[i].pool, self.units[i].since),
        )
        u = self.streams.uniform(Purpose.HOT_SPARE, HOT - 1, self.hot_count)
        self.send(standing[int(u * len(standing))], True, HOT, self.hot_count)
        self.hot_count += 1

    def ends(self, index: int) -> None:
        unit = self.units[index]
        if unit.state == "ordered":
            unit.state, unit.until = "gone", math.inf
            self.log[unit.out][2] = self.now
            self.units.append(Unit("spare", unit.pool))
            self.arrives(self.units[-1], "spare")
            return
        _, _, success, silent = self.stages()[unit.stage]
        u = self.draw(Purpose.REPAIR_OUTCOME, None, unit.incident, unit.attempt) if unit.broken else 0.0
        if not unit.broken or success == 1.0 or u < success + silent:
            unit.bad = unit.broken and success < 1.0 and u >= success
            unit.state = "leaving"  # its crew takes the next one first
            self.log[unit.out][2] = self.now
            self.start_work()
            self.arrives(unit, "spare")
            return
        unit.attempt += 1
        unit.state = "leaving"
        self.start_work()
        if self.s.repair.escalation == "retire":
            self.retire(unit)
            return
        if self.s.repair.escalation == "next_stage":
            unit.stage = min(unit.stage + 1, len(self.stages()) - 1)
        self.arrives(unit, "queue")
        self.start_work()

    def retire(self, unit: Unit) -> None:
        unit.state, unit.until = "gone", math.inf
        r = self.s.repair.retirement
        if r is not None and r.replacement is not None:
            unit.state = "ordered"
            unit.until = self.now + self.draw(Purpose.REPAIR, r.replacement, unit.incident, unit.attempt)

    def send(self, index: int, broken: bool, stream: int, number: int) -> None:
        unit = self.units[index]
        ordinal = sum(1 for entry in self.log if entry[3:] == [stream, number])
        unit.incident, unit.attempt, unit.stage, unit.out = (stream, number, ordinal), 0, 0, len(self.log)
        unit.broken, unit.bad, unit.slot = broken or unit.bad, False, -1
        self.log.append([index, self.now, None, stream, number])
        unit.blames += (self.now,)
        r = self.s.repair.retirement
        if r is not None and sum(self.now - t < r.window for t in unit.blames) >= r.faults:
            self.retire(unit)
            return
        self.arrives(unit, "queue")
        self.start_work()

    def take_out(self, slot: int, now: float, *, broken: bool, stream: int, number: int) -> None:
        self.advance(now)
        index = next(i for i, u in enumerate(self.units) if u.state == "job" and u.slot == slot)
        self.send(index, broken, stream, number)
        self.vacant[slot] = (self.units[index].incident, None, math.inf, index)

    def pool_of(self, slot: int) -> int:
        return next(p for p in range(self.pools) if slot < (p + 1) * self.n // self.pools)

    def find_spare(self, pool: int) -> int | None:
        spares = [i for i, u in enumerate(self.units) if u.state == "spare"]
        own = [i for i in spares if self.units[i].pool == pool]
        if own:
            return min(own, key=lambda i: self.units[i].since)
        if self.size == "unlimited":
            self.units.append(Unit("spare", pool))
            return len(self.units) - 1
        if self.s.spares.borrowing and spares:
            return min(spares, key=lambda i: (abs(self.units[i].pool - pool), self.units[i].pool, self.units[i].since))
        return None

    def request(self, now: float) -> float:
        self.advance(now)
        for slot, (incident, spare, _, left) in self.vacant.items():
            found = None if spare is not None else self.find_spare(self.pool_of(slot))
            if found is not None:
                self.units[found].state = "reserved"
                ready = now + self.draw(Purpose.PROVISIONING, self.s.spares.provisioning, incident, 0)
                self.vacant[slot] = (incident, found, ready, left)
        return max([now, *(v[2] for v in self.vacant.values())])

    def seat(self, now: float) -> list[tuple[int, int, int]]:
        self.advance(now)
        moves = []
        for slot, (_, spare, ready, left) in list(self.vacant.items()):
            if spare is not None and ready <= now:
                self.units[spare].state, self.units[spare].slot = "job", slot
                moves.append((slot, left, spare))
                del self.vacant[slot]
        return moves

    def can_ever_fill(self) -> bool:
        wanted = [self.pool_of(slot) for slot, v in self.vacant.items() if v[1] is None]
        crews = [stage[1] for stage in self.stages()]
        had = [
            u.pool
            for u in self.units
            if u.state in ("spare", "work", "ordered") or (u.state == "queue" and crews[u.stage] > 0)
        ]
        if self.size == "unlimited":
            return True
        if self.s.spares.borrowing:
            return len(had) >= len(wanted)
        return all(had.count(pool) >= wanted.count(pool) for pool in range(self.pools))

    def where(self, index: int) -> str:
        state = self.units[index].state
        return {"work": "SHOP", "queue": "SHOP", "ordered": "RETIRED", "gone": "RETIRED"}.get(state, state.upper())
