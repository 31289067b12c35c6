"""What happens after a fault: detection, isolation, restart."""

from typing import Literal

from c4sim.scenario.values import (
    Delay,
    Duration,
    Model,
    PositiveCount,
    Probability,
    RateText,
)

LayerKind = Literal[
    "process_exit",
    "heartbeat",
    "collective_watchdog",
    "second_monitor",
    "elastic_agent",
    "scheduler",
    "hourly_watchdog",
    "people",
    "c4d",
]


class Layer(Model):
    """One layer of detection: sees a share `coverage` of the faults (of those `symptoms`, null: all) `delay` after `since`.

    since: the fault, or the moment the previous layer of the chain fired. A layer of coverage 0 fires but ends nothing.
    period: heartbeat and hourly watchdog: they look every `period` only. limits: of phases with their own limit.
    """

    kind: LayerKind
    delay: Delay
    coverage: Probability = 1.0
    since: Literal["fault", "previous"] = "fault"
    symptoms: tuple[str, ...] | None = None
    period: Duration | None = None
    limits: dict[str, Duration] | None = None


class Detection(Model):
    """delay: from a hang until it is noticed, if there are no `layers`. A crash ends in an error at once.

    collective_timeout only bounds the checkpoint write: a blocking save longer than it would kill every save.
    """

    delay: Delay = "0s"  # type: ignore[assignment]
    collective_timeout: Duration | None = None
    layers: tuple[Layer, ...] | None = None


class Automatic(Model):
    """Isolation without people (C4D): names the node of a confined fault with probability `names_node`, after `delay`.

    What it does not name falls to people: their delay is `isolation.delay`, counted from detection.
    """

    delay: Delay
    names_node: Probability = 1.0


class Halving(Model):
    """Find the node by testing halves of the job: ceil(log2 nodes) tests of `test` each."""

    test: Delay


class InPlace(Model):
    """First restart without isolating anything, `attempts` times; a permanent fault strikes again after `strikes_again`."""

    attempts: PositiveCount = 1
    strikes_again: Delay = "0s"  # type: ignore[assignment]


class Isolation(Model):
    """delay: diagnosis and isolation by people; by_cause replaces it for the classes it names.

    wrong_blame: probability that people take out a healthy node; the fault is still there and strikes again.
    """

    delay: Delay = "0s"  # type: ignore[assignment]
    by_cause: dict[str, Delay] | None = None
    automatic: Automatic | None = None
    halving: Halving | None = None
    restart_in_place: InPlace | None = None
    wrong_blame: Probability = 0.0


class Rendezvous(Model):
    """The nodes' meeting at restart: fails with `failure`, or because a pod's start (`pod_start`, one a node) exceeds `limit`."""

    failure: Probability = 0.0
    pod_start: Delay | None = None
    limit: Duration | None = None


class Restart(Model):
    """duration + per_node x nodes (+ checkpoint.load); `attempts` failed rendezvous in a row end the run (null: never)."""

    duration: Delay = "0s"  # type: ignore[assignment]
    per_node: Duration = "0s"  # type: ignore[assignment]
    rendezvous: Rendezvous | None = None
    attempts: PositiveCount | None = None


class Pauses(Model):
    """Pauses of a healthy job (storage, data, garbage collection) that a watchdog may take for a hang."""

    rate: RateText
    law: Literal["fixed", "exponential", "lognormal", "gamma", "weibull"] = "lognormal"
    mean: Duration
    cv: float | None = None
