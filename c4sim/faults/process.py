"""All fault classes of a scenario: when the next fault comes, and what it is."""

from collections.abc import Callable

from c4sim.faults.activity import Activity
from c4sim.faults.build import Builder
from c4sim.faults.event import FaultEvent
from c4sim.faults.group import NEVER, Group
from c4sim.faults.marks import without
from c4sim.faults.places import Topology
from c4sim.scenario import Scenario
from c4sim.streams import Streams

_SLACK_S = 1e-3  # far above rounding of times, far below any step of the job


class FaultProcess:
    """When and where something breaks, in one replication.

    The caller moves time: `run` lets the clocks tick, `next_time` says when the next event comes if the job goes on
    doing what it does, `take` removes an event that has come, `swap` tells which unit sits where. Set-up costs O(N) for
    classes with age and lemons and nothing that grows with N for the others; an incident O(log N) at most.

    slot_of(unit): the unit's slot, None if it is not in the job; None: as the calls of `swap` tell, unit i in slot i at
    first.

    Events at the same time go by clock (calendar, restart, operating), then in the scenario's order of classes, what
    lemons add after the class itself, lines of the fault list after all calendar classes.
    """

    def __init__(
        self, scenario: Scenario, streams: Streams, slot_of: Callable[[int], int | None] | None = None
    ) -> None:
        builder = Builder(scenario, streams, slot_of or self._seat, Topology.of(scenario))
        groups = builder.build()
        self._ticking = [tuple(g for g in groups if g.clock.level <= activity) for activity in Activity]
        self._groups = groups
        self._aged = builder.aged
        self._rate = builder.rate
        self._nodes = scenario.job.nodes
        self._sitting: dict[int, int | None] = {}  # slots whose unit changed
        self._seats: dict[int, int | None] = {}  # units that changed their slot
        self._empty: set[int] = set()
        self._unsettled = False
        self._next: Group | None = None  # whose event `next_time` has named last, when, and for which activity
        self._next_time = NEVER
        self._next_activity = Activity.STOPPED
        # Which unit sits where matters to ages and lemons, and to clocks that tick while a slot is empty.
        self.follows_units = bool(self._aged) or any(group.clock.level < Activity.OPERATING for group in groups)

    def next_time(self, now: float, activity: Activity) -> float:
        """Time of the next event, s, if the job goes on with `activity` for ever from `now` on; inf if none comes."""
        earliest, following = NEVER, None
        for group in self._ticking[activity]:
            time = group.clock.time_of(group.due, now)
            if time < earliest:
                earliest, following = time, group
        self._next, self._next_time, self._next_activity = following, earliest, activity
        return earliest

    def run(self, start: float, end: float, activity: Activity) -> None:
        """The job did `activity` from `start` to `end`, not past the next event: its clocks ticked."""
        if activity is not self._next_activity:
            self._next = None
        for group in self._ticking[activity]:
            group.clock.run(start, end)
        if self._unsettled and activity == Activity.OPERATING and end > start:
            self._unsettled = False
            for _, source in self._aged:
                source.settle()

    def take(self, now: float, activity: Activity) -> FaultEvent | None:
        """Remove the event that is due at `now`; None if what it would have struck is not in the job.

        The clock of the event is set to the event's own value, so that rounding does not add up. Raises ValueError if
        no event is due.
        """
        group = self._next
        if group is None or activity is not self._next_activity:
            self.next_time(now, activity)
            group = self._next
        if group is None or self._next_time > now + _SLACK_S:
            raise ValueError(f"now: no fault is due at {now!r} s (the next one comes at {self._next_time!r} s)")
        self._next = None
        group.clock.set(group.due)
        source = group.head
        assert source is not None
        event = source.pop()
        group.select()
        if self._aged:
            self._unsettled = True
        return without(event, self._empty) if self._empty and event is not None else event

    def swap(self, slot: int, out_unit: int | None, in_unit: int | None, now: float) -> None:
        """From `now` on unit `in_unit` sits in `slot` instead of `out_unit`; None: the slot is empty.

        The clocks must have run up to `now`. Carried ages freeze and go on; places of classes replaced as new are
        renewed. Raises ValueError if another unit than `out_unit` sits there.
        """
        sitting = self._sitting.get(slot, slot)
        if out_unit is not None and sitting is not None and out_unit != sitting:
            raise ValueError(f"out_unit: unit {sitting} sits in slot {slot} at {now!r} s (got {out_unit})")
        self._sitting[slot] = in_unit
        if sitting is not None:
            self._seats[sitting] = None
        if in_unit is None:
            self._empty.add(slot)
        else:
            self._seats[in_unit] = slot
            self._empty.discard(slot)
        self._next = None
        for group, source in self._aged:
            source.swap(slot, sitting, in_unit, group.clock.value)
            group.select()

    def operating_mtbf_s(self) -> float:
        """Mean time between events of all classes, s of operation (every clock ticks then); inf if nothing ever breaks.

        At the written rates: multipliers that move count as 1, lemons with the share that they have of all nodes, the
        fault list not at all.
        """
        return 1.0 / self._rate if self._rate > 0.0 else NEVER

    def drawn(self, stream: int) -> list[tuple[float, int | None]]:
        """(clock value, place) of every event of a stream taken so far; place None if its unit was not in the job."""
        return [
            event
            for group in self._groups
            for source in group.sources
            if source.marks.stream == stream
            for event in source.drawn
        ]

    def _seat(self, unit: int) -> int | None:
        return self._seats.get(unit, unit if unit < self._nodes else None)
