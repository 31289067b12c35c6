"""From a scenario to its sources of faults, each on its clock."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from c4sim.distributions import Law
from c4sim.faults.activity import LEVEL, Activity
from c4sim.faults.carried import CarriedSource
from c4sim.faults.clocks import ActivityClock, CalendarClock, FaultClock, PacedCalendarClock, PacedClock
from c4sim.faults.group import AgedSource, Group
from c4sim.faults.lemons import LemonUnits
from c4sim.faults.lives import Lives, place_law
from c4sim.faults.marks import Marks
from c4sim.faults.pace import CalendarPace, TimeChange, Unchanged
from c4sim.faults.places import Topology
from c4sim.faults.poisson import PoissonSource
from c4sim.faults.rates import event_rate, hits_per_event
from c4sim.faults.renewal import RenewalSource
from c4sim.faults.scripted import ScriptedSource
from c4sim.faults.windows import GammaWindows
from c4sim.scenario import Scenario
from c4sim.scenario.checks import total_spares
from c4sim.scenario.faults import FaultClass
from c4sim.streams import Streams


@dataclass(slots=True)
class Builder:
    """Adds the classes of one scenario one by one.

    groups, aged: what came of it. rate: events per second of all classes together while every clock ticks.
    """

    scenario: Scenario
    streams: Streams
    slot_of: Callable[[int], int | None]
    topology: Topology
    groups: dict[object, Group] = field(default_factory=dict)
    aged: list[tuple[Group, AgedSource]] = field(default_factory=list)
    rate: float = 0.0
    _lemons: LemonUnits | None = None

    def build(self) -> list[Group]:
        """Groups in the order in which events of the same time go: by clock (calendar, restart, operating), then by
        class.
        """
        for index, (name, fault) in enumerate(self.scenario.faults.items()):
            rate = event_rate(fault, self.topology)
            if rate > 0.0:
                self._add_class(index, name, fault, rate)
        if self.scenario.fault_list:
            self._add_script()
        for group in self.groups.values():
            group.select()
        return sorted(self.groups.values(), key=lambda group: group.clock.level)

    @property
    def _classes(self) -> int:
        return len(self.scenario.faults)

    def _add_class(self, index: int, name: str, fault: FaultClass, rate: float) -> None:
        self.rate += rate
        group = self._group(index, fault, rate)
        marks = Marks(self.streams, self.topology, index, name, fault, index)
        if fault.law == "exponential":
            expected = rate * (self.scenario.horizon or 0.0)
            group.sources.append(PoissonSource(rate, self.topology.count(fault.scope), marks, expected))
        else:
            self._add_aged(group, self._aged_source(fault, rate, marks))
        lemons = self.scenario.cluster.lemons
        if lemons is not None and lemons.multiplier > 1.0 and self.topology.per_node(fault.scope):
            self._add_aged(group, self._excess(index, name, fault, rate, lemons.multiplier))

    def _add_aged(self, group: Group, source: AgedSource) -> None:
        group.sources.append(source)
        self.aged.append((group, source))

    def _aged_source(self, fault: FaultClass, rate: float, marks: Marks) -> AgedSource:
        places, inside = self.topology.count(fault.scope), self.topology.per_node(fault.scope)
        law = place_law(fault, places / rate)
        if fault.renewal == "carried" and inside:
            lives = self._lives(fault, law, marks.stream, inside * self._units())
            return CarriedSource(lives, self.topology.nodes, inside, marks, self.slot_of)
        return RenewalSource(self._lives(fault, law, marks.stream, places), places, inside, marks)

    def _excess(self, index: int, name: str, fault: FaultClass, rate: float, multiplier: float) -> CarriedSource:
        """What a lemon fails more than another node: (multiplier - 1) times the rate, alone, by lives of its own."""
        if self._lemons is None:
            self._lemons = LemonUnits(self.streams, self._lemon_share(), self._units())
        stream = self._classes + index
        alone = fault.model_copy(update={"compound": None})
        hits = rate * hits_per_event(fault, self.topology)
        self.rate += hits * self._lemon_share() * (multiplier - 1.0)
        mean = self.topology.count(fault.scope) / hits / (multiplier - 1.0)
        inside = self.topology.per_node(fault.scope)
        return CarriedSource(
            self._lives(fault, place_law(fault, mean), stream, inside * self._units()),
            self.topology.nodes,
            inside,
            Marks(self.streams, self.topology, index, name, alone, stream),
            self.slot_of,
            self._lemons.__contains__,
        )

    def _lemon_share(self) -> float:
        return self.scenario.cluster.lemons.share if self.scenario.cluster.lemons is not None else 0.0

    def _lives(self, fault: FaultClass, law: Law, stream: int, elements: int) -> Lives:
        return Lives(self.streams, stream, law, elements, fault.start, fault.ages or ())

    def _units(self) -> int:
        """Units there at time 0; of unlimited spares only those that sit in the job count."""
        return self.topology.nodes + (total_spares(self.scenario) or 0)

    def _add_script(self) -> None:
        lines = self.scenario.fault_list or ()
        source = ScriptedSource(self.streams, self.topology, lines, self.scenario.faults, 2 * self._classes)
        self.groups.setdefault(Activity.STOPPED, Group(CalendarClock())).sources.append(source)

    def _group(self, index: int, fault: FaultClass, rate: float) -> Group:
        key: object = LEVEL[fault.clock]
        if fault.clustering is not None:
            key = (key, fault.temperature, fault.reinforcement, index)
        elif fault.temperature is not None or fault.reinforcement is not None:
            key = (key, fault.temperature, fault.reinforcement)
        group = self.groups.get(key)
        if group is None:
            group = self.groups[key] = Group(_clock(self.scenario, self.streams, index, fault, rate))
        return group


def _clock(scenario: Scenario, streams: Streams, index: int, fault: FaultClass, rate: float) -> FaultClock:
    level = LEVEL[fault.clock]
    moves = fault.temperature is not None or fault.reinforcement is not None
    if not moves and fault.clustering is None:
        return ActivityClock(level) if level else CalendarClock()
    calendar = CalendarPace(fault.temperature, fault.reinforcement) if moves else Unchanged()
    own: TimeChange = Unchanged()
    if fault.clustering is not None:
        last = math.inf if scenario.horizon is None else calendar.forward(scenario.horizon)
        own = GammaWindows(streams, index, rate, fault.clustering.window, fault.clustering.dispersion, last)
    return PacedClock(level, calendar, own) if level else PacedCalendarClock(calendar, own)
