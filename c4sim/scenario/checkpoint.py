"""Checkpoints: how often, at what cost, durable when, lost with what."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, PlainSerializer

from c4sim import units
from c4sim.scenario.values import (
    Bandwidth,
    Bytes,
    Duration,
    Model,
    PositiveCount,
    Probability,
)

IntervalRule = Literal["young", "daly", "exact"]
RULES = ("young", "daly", "exact")


def _interval(value: Any) -> Any:
    if value in RULES:
        return value
    if isinstance(value, str):
        return units.parse_duration(value)
    raise ValueError("a checkpoint interval is text with its unit, or young, daly or exact")


Interval = Annotated[
    float | IntervalRule,
    BeforeValidator(_interval),
    PlainSerializer(lambda v: v if isinstance(v, str) else f"{v!r}s", return_type=str),
]


class Tier(Model):
    """One place that checkpoints go to. Each tier takes every `every`-th save.

    stall: time the job stands still; persist: from the end of the stall until durable; slowdown: relative rate loss
    meanwhile.
    lost_with: the smallest fault that destroys it: a copy in node memory goes with its node, a partner copy with both
    neighbours (or with a whole rack), a remote store never. `bytes_per_gpu` over `bandwidth` (shared by the job's
    nodes) gives times not given.
    """

    name: str
    every: PositiveCount = 1
    stall: Duration | None = None
    persist: Duration | None = None
    slowdown: Probability | None = None
    load: Duration | None = None
    lost_with: Literal["job", "node", "neighbours", "rack", "nothing"] = "nothing"
    bytes_per_gpu: Bytes | None = None
    bandwidth: Bandwidth | None = None
    node_bandwidth: Bandwidth | None = None


class Retention(Model):
    """keep: number of checkpoints kept in each tier. delete: before the new one is written, or after it is durable."""

    keep: PositiveCount
    delete: Literal["before", "after"] = "after"


class Fallback(Model):
    """A corrupt checkpoint is tried `tries` times of `each`, then the one before it."""

    tries: PositiveCount = 3
    each: Duration = "90s"  # type: ignore[assignment]


class Checkpoint(Model):
    """interval: work between saves (not start to start), or the young, daly or exact optimum of it.

    write: stall of a blocking save. async mode takes stall, persist and slowdown instead. load: time to load, part of
    the restart.
    overrun: an asynchronous save still open when the next is due: `block` waits for it, `skip` leaves the new one out,
    `rearm` counts the interval anew from the end of the open one.
    save_failure: probability that a save never becomes durable; corrupt: that it is durable but cannot be loaded.
    """

    interval: Interval = "1h"  # type: ignore[assignment]
    mode: Literal["blocking", "async"] = "blocking"
    write: Duration | None = "0s"  # type: ignore[assignment]
    stall: Duration | None = None
    persist: Duration | None = None
    slowdown: Probability | None = None
    load: Duration = "0s"  # type: ignore[assignment]
    overrun: Literal["block", "skip", "rearm"] = "block"
    tiers: tuple[Tier, ...] | None = None
    retention: Retention | None = None
    save_failure: Probability = 0.0
    corrupt: Probability = 0.0
    fallback: Fallback | None = None


class Evaluation(Model):
    """The job stops training for `duration` after every `every` of work (counted as slowdown)."""

    every: Duration
    duration: Duration
