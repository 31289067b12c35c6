"""What a scenario says about its checkpoint interval: cost of a save, failures, closed forms, what those leave out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from c4sim.checkpoint.tiers import TierPlan, destroys, mean_cost, tier_plans
from c4sim.faults.places import Topology
from c4sim.faults.rates import event_rate
from c4sim.scenario import Problem, Scenario, ScenarioError
from c4sim.scenario.faults import FaultClass
from c4sim.theory import intervals, segments

_STOPPING = ("crash", "hang")
_CLOCKS = ("operating", "restart")


@dataclass(frozen=True)
class TierNeed:
    """One tier: what a save to it costs, s, and how often it is the first that a fault leaves, as MTBF (None: never).

    exact: best work between its saves if the tiers share the work: each lives with its own cost and its own faults, s.
    """

    name: str
    every: int
    cost: float
    mtbf: float | None
    exact: float | None


@dataclass(frozen=True)
class CheckpointModel:
    """Times in s. mtbf: of the job on its operating clock; cost: of a save, its stall and what it slows the job down.

    closed: the closed form of efficiency holds for the scenario, given the time that it stands still per failure.
    notes: why it does not, or what it leaves out.
    """

    mtbf: float
    cost: float
    tiers: tuple[TierPlan, ...]
    needs: tuple[TierNeed, ...]
    closed: bool
    notes: tuple[str, ...]

    @property
    def young(self) -> float:
        """Young's interval."""
        return intervals.young_interval(self.cost, self.mtbf)

    @property
    def daly(self) -> float:
        """Daly's interval."""
        return intervals.daly_interval(self.cost, self.mtbf)

    @property
    def exact(self) -> float:
        """The interval of greatest efficiency."""
        return intervals.exact_interval(self.cost, self.mtbf)

    def efficiency(self, interval: float, down: float) -> float | None:
        """Share of wall time that is kept work, in closed form; None where it does not hold.

        down: mean time that the job stands still per failure, s.
        """
        tier = self.tiers[0]
        if not self.closed:
            return None
        if tier.persist == 0.0:
            return segments.efficiency(interval, tier.stall, self.mtbf, restart=down)
        lag = tier.stall + tier.persist
        if lag > segments.async_cycle(interval, tier.stall, 0.0) + tier.slowdown * tier.persist:
            return None  # the save outlasts the interval
        return segments.async_efficiency(
            interval, self.mtbf, stall=tier.stall, lag=lag, slowdown=tier.slowdown, restart=down
        )


def checkpoint_model(scenario: Scenario) -> CheckpointModel:
    """The model of a scenario. Raises ScenarioError when nothing fails or a save costs nothing: no interval is best."""
    topology = Topology.of(scenario)
    classes = [f for f in scenario.faults.values() if f.effect in _STOPPING and event_rate(f, topology) > 0.0]
    rate = sum(event_rate(fault, topology) for fault in classes)
    tiers = tier_plans(scenario.checkpoint, scenario.job.nodes, scenario.job.gpus_per_node)
    cost = mean_cost(tiers)
    problems = []
    if not rate > 0.0:
        problems.append(
            Problem("faults", "no class that stops the job ever strikes: the longer the interval the better")
        )
    if not cost > 0.0:
        keys = "checkpoint.write" if scenario.checkpoint.tiers is None else "checkpoint.tiers"
        problems.append(Problem(keys, "a save costs nothing: the shorter the interval the better", 0.0))
    if problems:
        raise ScenarioError(problems)
    obstacles = [*_fault_obstacles(classes), *_save_obstacles(scenario, tiers)]
    notes = tuple(f"no closed form of efficiency: {text}" for text in obstacles)
    return CheckpointModel(1.0 / rate, cost, tiers, _needs(scenario, tiers, classes), not obstacles, notes)


def _fault_obstacles(classes: Sequence[FaultClass]) -> Iterator[str]:
    if any(fault.law != "exponential" for fault in classes):
        yield "a fault class is not exponential"
    if any(fault.clock not in _CLOCKS for fault in classes):
        yield "a fault class ticks on the calendar clock"
    if any(f.temperature or f.reinforcement or f.clustering for f in classes):
        yield "a fault class has a rate that moves"


def _save_obstacles(scenario: Scenario, tiers: Sequence[TierPlan]) -> Iterator[str]:
    checkpoint = scenario.checkpoint
    if len(tiers) > 1 or tiers[0].every > 1 or tiers[0].lost_with != "nothing":
        yield "several tiers, or one that faults destroy"
    if checkpoint.save_failure > 0.0 or checkpoint.corrupt > 0.0:
        yield "saves fail or are corrupt"
    if checkpoint.retention is not None and checkpoint.retention.delete == "before":
        yield "a checkpoint is deleted before the next is durable"
    if scenario.evaluation is not None:
        yield "the job stops for evaluations"
    if any(fault.effect not in _STOPPING for fault in scenario.faults.values()) or scenario.fault_list:
        yield "some faults slow the job down, corrupt it, or come from a list"
    if scenario.maintenance is not None or scenario.pauses is not None:
        yield "the job also stops for maintenance or false alarms"


def _needs(scenario: Scenario, tiers: Sequence[TierPlan], classes: Sequence[FaultClass]) -> tuple[TierNeed, ...]:
    topology = Topology.of(scenario)
    rates = [0.0] * len(tiers)
    for fault in classes:
        for share, slots in _hits(fault, topology):
            left = [
                place
                for place, tier in enumerate(tiers)
                if not destroys(tier.lost_with, slots, topology.nodes, topology.nodes_per_rack)
            ]
            if left:
                rates[left[0]] += share * event_rate(fault, topology)
    return tuple(_need(tier, rate) for tier, rate in zip(tiers, rates, strict=True))


def _need(tier: TierPlan, rate: float) -> TierNeed:
    cost = tier.stall + tier.slowdown * tier.persist
    mtbf = 1.0 / rate if rate > 0.0 else None
    exact = intervals.exact_interval(cost, mtbf) if mtbf is not None and cost > 0.0 else None
    return TierNeed(tier.name, tier.every, cost, mtbf, exact)


def _hits(fault: FaultClass, topology: Topology) -> Iterator[tuple[float, tuple[int, ...]]]:
    """Shares of the class's events, and slots like those that they hit."""
    if fault.scope == "job":
        yield 1.0, ()
        return
    share = 0.0 if fault.compound is None else fault.compound.share
    if fault.compound is not None:
        yield share, tuple(range(min(fault.compound.nodes, topology.nodes)))
    inside = topology.per_node(fault.scope) > 0
    yield 1.0 - share, tuple(range(1 if inside else min(topology.per_place(fault.scope), topology.nodes)))
