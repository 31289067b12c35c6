"""What a scenario says about spares: nodes, failures per node, stay in the shop, crews; and what that leaves out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from c4sim.distributions import law_of
from c4sim.faults.places import Topology
from c4sim.faults.rates import event_rate, hits_per_event
from c4sim.scenario import Scenario
from c4sim.scenario.cluster import Repair
from c4sim.scenario.faults import FaultClass


@dataclass(frozen=True)
class SparesModel:
    """nodes in the job, each taken out at `rate` (1/s of `clock`) for `stay` s on average; crews (None: unlimited).

    closed: the closed forms of spares hold for the scenario, but for its delays. notes: what they leave out, or why
    they do not hold.
    """

    nodes: int
    rate: float
    stay: float
    crews: int | None
    clock: str | None
    closed: bool
    notes: tuple[str, ...]

    @property
    def load(self) -> float:
        """Offered load of the shop, erlang."""
        return self.nodes * self.rate * self.stay


def spares_model(scenario: Scenario) -> SparesModel:
    """The numbers of a scenario: every confined fault takes out the nodes that it hits."""
    topology = Topology.of(scenario)
    classes = [f for f in scenario.faults.values() if f.scope != "job" and _node_rate(f, topology) > 0.0]
    clocks = {fault.clock for fault in classes}
    clock = None if not clocks else clocks.pop() if len(clocks) == 1 else "mixed"
    obstacles = [*_fault_obstacles(classes, clock), *_fleet_obstacles(scenario)]
    return SparesModel(
        nodes=scenario.job.nodes,
        rate=sum(_node_rate(fault, topology) for fault in classes),
        stay=mean_stay(scenario.repair),
        crews=_crews(scenario.repair),
        clock=clock,
        closed=not obstacles,
        notes=tuple([f"no closed form: {text}" for text in obstacles] or _approximations(scenario, classes)),
    )


def _node_rate(fault: FaultClass, topology: Topology) -> float:
    """Times per second that one node is taken out by a class."""
    inside = topology.per_node(fault.scope) > 0
    nodes_hit = hits_per_event(fault, topology) if inside else topology.per_place(fault.scope)
    return event_rate(fault, topology) * nodes_hit * fault.confined / topology.nodes


def mean_stay(repair: Repair) -> float:
    """Mean time, s, in the shop without waiting for a crew, over all stages and attempts."""
    if repair.stages is None:
        return law_of(repair.duration).mean
    first, last = repair.stages[0], repair.stages[-1]
    if repair.escalation == "retire":
        return law_of(first.duration).mean
    if repair.escalation == "repeat":
        return law_of(first.duration).mean / (first.success + first.silent_failure)
    stay = law_of(last.duration).mean / (last.success + last.silent_failure)
    for stage in reversed(repair.stages[:-1]):
        stay = law_of(stage.duration).mean + (1.0 - stage.success - stage.silent_failure) * stay
    return stay


def _crews(repair: Repair) -> int | None:
    """Crews of the shop, or of its first stage: None for unlimited."""
    crews = repair.crews if repair.stages is None else repair.stages[0].crews
    return None if crews == "unlimited" else crews


def _fault_obstacles(classes: list[FaultClass], clock: str | None) -> Iterator[str]:
    if clock == "mixed":
        yield "the fault classes follow different clocks"
    if any(f.compound is not None and f.compound.nodes > 1 and f.compound.share > 0.0 for f in classes):
        yield "some events take several nodes"
    if any(f.scope not in ("gpu", "node", "link") for f in classes):
        yield "a switch, rack or power fault takes several nodes"
    if any(f.clustering or f.temperature or f.reinforcement for f in classes):
        yield "rates move"
    if any(f.effect in ("slow", "corruption") for f in classes):
        yield "slow nodes and corruption are noticed late"


def _fleet_obstacles(scenario: Scenario) -> Iterator[str]:
    stages = scenario.repair.stages or ()
    if any(stage.crews != "unlimited" for stage in stages):
        yield "repair in stages with limited crews"
    if any(stage.silent_failure > 0.0 for stage in stages):
        yield "nodes come back still broken"
    if scenario.repair.retirement is not None or (stages and scenario.repair.escalation == "retire"):
        yield "nodes are retired"
    if scenario.isolation.wrong_blame > 0.0 or scenario.isolation.restart_in_place is not None:
        yield "a fault may strike again because it was not taken out"
    if scenario.spares.state == "hot":
        yield "hot spares fail"
    if scenario.cluster.lemons is not None:
        yield "lemons"
    if scenario.fault_list:
        yield "faults by a list"


def _approximations(scenario: Scenario, classes: list[FaultClass]) -> Iterator[str]:
    delays = {
        "spares.provisioning": scenario.spares.provisioning,
        "detection.delay": scenario.detection.delay,
        "isolation.delay": scenario.isolation.delay,
        "restart.duration": scenario.restart.duration,
    }
    named = [name for name, spec in delays.items() if law_of(spec).mean > 0.0]
    if named:
        yield f"closed form: leaves out {', '.join(named)}"
    if any(fault.law != "exponential" for fault in classes):
        yield "closed form: takes the failures of all nodes together as Poisson"
    if any(fault.clock == "restart" for fault in classes):
        yield "closed form: takes the restart clock as the operating one"
    limited = scenario.repair.crews != "unlimited"
    if limited and scenario.repair.stages is None and scenario.repair.duration.law != "exponential":
        yield "closed form: takes repair times as exponential"
