"""The hardware: cluster, job, spare pools, repair shop."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from c4sim.scenario.values import (
    Count,
    CountOrUnlimited,
    Delay,
    Model,
    Number,
    PositiveCount,
    PositiveDuration,
    Probability,
)

# More than any cluster has by far; what is simulated takes memory in proportion.
MOST_NODES = 10_000_000
Nodes = Annotated[PositiveCount, Field(le=MOST_NODES)]
Parts = Annotated[PositiveCount, Field(le=1_000)]


class Lemons(Model):
    """A share of the nodes fails `multiplier` times as often in every class of scope gpu, node or link."""

    share: Probability
    multiplier: Annotated[Number, Field(ge=1.0)]


class Cluster(Model):
    """nodes: null means job nodes + spares.

    Racks hold consecutive nodes behind one leaf switch; power domains hold consecutive racks.
    """

    nodes: Nodes | None = None
    nodes_per_rack: PositiveCount = 16
    racks_per_power_domain: PositiveCount = 8
    lemons: Lemons | None = None


class Job(Model):
    """nodes: the world size in nodes; max_nodes: nodes the job may hold, hot spares included (null: what it has)."""

    nodes: Nodes = 128
    max_nodes: Nodes | None = None
    gpus_per_node: Parts = 8
    links_per_node: Parts = 8


class Spares(Model):
    """Pools of `pool_nodes` job nodes with `per_pool` spares each, or `total` spares in one shared pool.

    state: shelf spares never fail; hot ones do, by a stream of their own.
    borrowing: an empty pool may take the spare of the nearest pool that has one.
    provisioning: time until a chosen spare is ready; spares are made ready in parallel.
    """

    per_pool: CountOrUnlimited | None = 8
    total: CountOrUnlimited | None = None
    pool_nodes: PositiveCount = 128
    state: Literal["shelf", "hot"] = "shelf"
    borrowing: bool = False
    provisioning: Delay = "0s"  # type: ignore[assignment]


class RepairStage(Model):
    """One stage of the shop.

    success: probability that the node is mended; silent_failure: probability that it is handed back still broken. The
    rest, 1 - success - silent_failure, is seen not to be mended, and `escalation` says what follows.
    """

    duration: Delay
    crews: CountOrUnlimited = "unlimited"
    success: Probability = 1.0
    silent_failure: Probability = 0.0

    @model_validator(mode="after")
    def _shares(self) -> Self:
        if self.success + self.silent_failure > 1.0:
            got = f"{self.success} + {self.silent_failure}"
            raise ValueError(f"success + silent_failure must be at most 1 (got {got})")
        return self


class Retirement(Model):
    """A node that was blamed `faults` times within `window` is retired for good.

    The window is half open: a blame exactly one window old has left it. replacement: time until a new node stands on
    the shelf of its pool (null: never).
    """

    faults: PositiveCount
    window: PositiveDuration
    replacement: Delay | None = None


class Repair(Model):
    """duration: analysis and repair of a node, which the job does not wait for.

    stages: replace it: an automatic stage, then a manual one, each with its crews.
    escalation: what follows a stage that did not mend it: the next stage (`next_stage`; the last one repeats), the
    same stage again (`repeat`) or retirement (`retire`).
    """

    duration: Delay = "0s"  # type: ignore[assignment]
    crews: CountOrUnlimited = "unlimited"
    stages: tuple[RepairStage, ...] | None = None
    escalation: Literal["next_stage", "repeat", "retire"] = "next_stage"
    retirement: Retirement | None = None

    @model_validator(mode="after")
    def _ends(self) -> Self:
        repeated = {"next_stage": (self.stages or ())[-1:], "repeat": self.stages or (), "retire": ()}[self.escalation]
        if any(stage.success + stage.silent_failure == 0.0 for stage in repeated):
            raise ValueError("a stage that is repeated must have success + silent_failure > 0, or no node leaves it")
        if self.stages == ():
            raise ValueError("stages must name at least one stage (leave it out for a shop of one stage)")
        return self


class Maintenance(Model):
    """Planned work on the cluster: every `every` for `duration`; with `notice` the job saves before it stops."""

    every: PositiveDuration
    duration: Delay
    notice: bool = True


__all__ = ["Cluster", "Count", "Job", "Lemons", "Maintenance", "Repair", "RepairStage", "Retirement", "Spares"]
