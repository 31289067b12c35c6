"""When and where something breaks: all fault classes of a scenario on their clocks."""

from collections.abc import Callable
from typing import Protocol

from c4sim.faults.activity import LEVEL, Activity
from c4sim.faults.clocks import ActivityClock, CalendarClock, FaultClock
from c4sim.faults.event import FaultEvent
from c4sim.faults.marks import Marks
from c4sim.faults.places import Topology
from c4sim.faults.poisson import PoissonSource
from c4sim.faults.rates import event_rate
from c4sim.scenario import Scenario
from c4sim.streams import Streams


class Source(Protocol):
    """`due`: clock value of the next event, inf if none; `number`: number of the event taken last."""

    due: float
    number: int

    def pop(self) -> int | None:
        """Take the next event: the place that it strikes, None if that place is not in the job."""


class Group:
    """Sources on one clock, and which of them comes next; of equal ones the first added."""

    __slots__ = ("clock", "due", "head", "sources")

    def __init__(self, clock: FaultClock) -> None:
        self.clock = clock
        self.sources: list[tuple[Source, Marks]] = []
        self.due = float("inf")

    def select(self) -> None:
        """Find the next event anew."""
        self.due = float("inf")
        for entry in self.sources:
            due = entry[0].due
            if due < self.due:
                self.due = due
                self.head = entry


class FaultProcess:
    def __init__(self, scenario: Scenario, streams: Streams, slot_of: Callable[[int], int | None] | None = None) -> None:
        self._topology = Topology.of(scenario)
        self._empty: set[int] = set()
        groups: dict[Activity, Group] = {}
        for index, (name, fault) in enumerate(scenario.faults.items()):
            rate = event_rate(fault, self._topology)
            if not rate > 0.0:
                continue
            level = LEVEL[fault.clock]
            if level not in groups:
                groups[level] = Group(CalendarClock() if level == 0 else ActivityClock(level))
            source = PoissonSource(streams, index, rate, self._topology.count(fault.scope))
            groups[level].sources.append((source, Marks(streams, self._topology, index, name, fault, index)))
        for group in groups.values():
            group.select()
        self._ticking = [tuple(g for g in groups.values() if g.clock.level <= a) for a in Activity]

    def next_time(self, now: float, activity: Activity) -> float:
        earliest = float("inf")
        for group in self._ticking[activity]:
            time = group.clock.time_of(group.due, now)
            if time < earliest:
                earliest = time
        return earliest

    def run(self, start: float, end: float, activity: Activity) -> None:
        for group in self._ticking[activity]:
            group.clock.run(start, end)

    def take(self, now: float, activity: Activity) -> FaultEvent | None:
        earliest = float("inf")
        for candidate in self._ticking[activity]:
            time = candidate.clock.time_of(candidate.due, now)
            if time < earliest:
                earliest = time
                group = candidate
        group.clock.set(group.due)
        source, marks = group.head
        place = source.pop()
        group.select()
        if place is None:
            return None
        return marks.event(source.number, place, self._empty)

    def swap(self, slot: int, out_unit: int | None, in_unit: int | None, now: float) -> None:
        if in_unit is None:
            self._empty.add(slot)
        else:
            self._empty.discard(slot)
