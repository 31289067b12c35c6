"""What happens after a fault: detection, isolation, restart."""

from typing import Literal

from c4sim.scenario.values import (
    Delay,
    Duration,
    Model,
    PositiveCount,
    PositiveDuration,
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


class PhaseLimits(Model):
    """Limits in place of a layer's delay while the job does something that takes longer than a step."""

    first_step: Duration | None = None
    save: Duration | None = None
    evaluation: Duration | None = None


class Layer(Model):
    """One layer of detection: sees a share `coverage` of the faults (of those `symptoms`, null: all) `delay` after
    `since`.

    since: the fault, or the moment the previous layer of the chain fired. A layer of coverage 0 fires but ends
    nothing.
    period: a heartbeat's delay counts from the last beat, one every `period` (fault to alarm: delay - period / 2 on
    average); any other layer looks every `period` only (delay + period / 2). limits: of phases with their own limit.
    """

    kind: LayerKind
    delay: Delay
    coverage: Probability = 1.0
    since: Literal["fault", "previous"] = "fault"
    symptoms: tuple[str, ...] | None = None
    period: PositiveDuration | None = None
    limits: PhaseLimits | None = None


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
    """First restart without isolating anything, `attempts` times. A transient fault is gone then, a permanent one
    strikes again.
    """

    attempts: PositiveCount = 1


class Isolation(Model):
    """delay: diagnosis and isolation by people; by_cause replaces it for the classes it names.

    wrong_blame: probability that people take out a healthy node instead.
    strikes_again: operating time after which a fault that is still in the job strikes again.
    """

    delay: Delay = "0s"  # type: ignore[assignment]
    by_cause: dict[str, Delay] | None = None
    automatic: Automatic | None = None
    halving: Halving | None = None
    restart_in_place: InPlace | None = None
    wrong_blame: Probability = 0.0
    strikes_again: Delay = "0s"  # type: ignore[assignment]


class Rendezvous(Model):
    """The nodes' meeting at restart: fails with `failure`, or because a pod's start (`pod_start`, one a node) exceeds
    `limit`.
    """

    failure: Probability = 0.0
    pod_start: Delay | None = None
    limit: Duration | None = None


class Restart(Model):
    """duration + per_node x nodes (+ checkpoint.load); `attempts` failed rendezvous in a row end the run (null:
    never).

    first_step: the first step after a restart takes that long; it counts as work, but a watchdog needs a limit of its
    own for it.
    """

    duration: Delay = "0s"  # type: ignore[assignment]
    per_node: Duration = "0s"  # type: ignore[assignment]
    first_step: Duration = "0s"  # type: ignore[assignment]
    rendezvous: Rendezvous | None = None
    attempts: PositiveCount | None = None


class Pauses(Model):
    """Pauses of a healthy job (storage, data, garbage collection) that a watchdog may take for a hang.

    A pause within the limits is part of the job's ordinary step time and costs nothing here; a longer one is a false
    alarm, which kills the job. rate: per operating time of the job.
    """

    rate: RateText
    law: Literal["fixed", "exponential", "lognormal", "gamma", "weibull"] = "lognormal"
    mean: PositiveDuration
    cv: float | None = None
