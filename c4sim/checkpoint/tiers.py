"""The places that checkpoints go to: what a save costs in each, and which faults destroy what lies there."""

from collections import Counter
from collections.abc import Sequence
from math import lcm
from typing import Literal, NamedTuple

from c4sim.checkpoint.sizes import transfer_seconds
from c4sim.scenario.checkpoint import Checkpoint, Tier

LostWith = Literal["job", "node", "neighbours", "rack", "nothing"]


class TierPlan(NamedTuple):
    """One tier with every time known, s. It takes each `every`-th save.

    stall: the job stands still; persist: from the stall's end until durable; slowdown: relative rate loss meanwhile;
    load: time to load from it; lost_with: the smallest fault that destroys what lies there.
    """

    name: str
    every: int
    stall: float
    persist: float
    slowdown: float
    load: float
    lost_with: LostWith


def tier_plans(checkpoint: Checkpoint, nodes: int, gpus_per_node: int) -> tuple[TierPlan, ...]:
    """The tiers of a scenario's checkpoints, in its order; one tier that nothing destroys if it names none.

    Raises ValueError that names the first key without a value.
    """
    if checkpoint.tiers is None:
        return (_only_tier(checkpoint),)
    return tuple(
        _tier_plan(tier, f"checkpoint.tiers[{index}]", checkpoint, nodes, gpus_per_node)
        for index, tier in enumerate(checkpoint.tiers)
    )


def _given(value: float | None, path: str) -> float:
    if value is None:
        raise ValueError(f"{path}: must be given (0 is an answer, silence is not)")
    return value


def _only_tier(checkpoint: Checkpoint) -> TierPlan:
    if checkpoint.mode == "blocking":
        write = _given(checkpoint.write, "checkpoint.write")
        return TierPlan("checkpoint", 1, write, 0.0, 0.0, checkpoint.load, "nothing")
    stall, persist, slowdown = (
        _given(getattr(checkpoint, key), f"checkpoint.{key}") for key in ("stall", "persist", "slowdown")
    )
    return TierPlan("checkpoint", 1, stall, persist, slowdown, checkpoint.load, "nothing")


def _tier_plan(tier: Tier, path: str, checkpoint: Checkpoint, nodes: int, gpus_per_node: int) -> TierPlan:
    transfer = None
    if tier.bytes_per_gpu is not None:
        transfer = transfer_seconds(tier.bytes_per_gpu, nodes, gpus_per_node, tier.bandwidth, tier.node_bandwidth)
    load = next(time for time in (tier.load, transfer, checkpoint.load) if time is not None)
    if checkpoint.mode == "blocking":
        stall = _given(transfer if tier.stall is None else tier.stall, f"{path}.stall")
        return TierPlan(tier.name, tier.every, stall, 0.0, 0.0, load, tier.lost_with)
    stall = _given(tier.stall, f"{path}.stall")
    persist = _given(transfer if tier.persist is None else tier.persist, f"{path}.persist")
    slowdown = 0.0 if persist == 0.0 and tier.slowdown is None else _given(tier.slowdown, f"{path}.slowdown")
    return TierPlan(tier.name, tier.every, stall, persist, slowdown, load, tier.lost_with)


def period(tiers: Sequence[TierPlan]) -> int:
    """Number of saves after which the tiers' turns repeat."""
    return lcm(*(tier.every for tier in tiers))


def mean_cost(tiers: Sequence[TierPlan]) -> float:
    """What one save costs on average, s of the nominal rate: its stall (the longest of its tiers') and its
    slowdown."""
    turns = period(tiers)
    stalls = sum(max((t.stall for t in tiers if turn % t.every == 0), default=0.0) for turn in range(1, turns + 1))
    return stalls / turns + sum(t.slowdown * t.persist / t.every for t in tiers)


def destroys(lost_with: LostWith, slots: tuple[int, ...], nodes: int, nodes_per_rack: int) -> bool:
    """Whether losing the memory of the nodes in `slots` destroys a tier.

    job: any fault does. node: one node is enough. neighbours: node i keeps the copy of node i - 1 in a ring of
    `nodes`, so that two neighbours must go together (two random losses do with probability 2 / (nodes - 1)). rack:
    all of a rack's places in the job.
    """
    if lost_with in ("nothing", "job"):
        return lost_with == "job"
    if lost_with == "node":
        return bool(slots)
    lost = set(slots)
    if lost_with == "neighbours":
        return any((slot + 1) % nodes in lost for slot in lost)
    hit = Counter(slot // nodes_per_rack for slot in lost)
    return any(count == min(nodes_per_rack, nodes - rack * nodes_per_rack) for rack, count in hit.items())
