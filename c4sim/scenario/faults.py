"""What can break: one fault class is one law, one clock, one place and one effect."""

from typing import Annotated, Literal

from pydantic import Field

from c4sim.scenario.values import (
    Count,
    Delay,
    Duration,
    Model,
    MtbfText,
    Number,
    Positive,
    PositiveCount,
    PositiveDuration,
    Probability,
    RateText,
)

Clock = Literal["operating", "restart", "calendar"]
Scope = Literal["gpu", "node", "link", "switch", "rack", "power", "job"]
Effect = Literal["crash", "hang", "slow", "corruption"]
Celsius = Annotated[Number, Field(gt=-273.15)]


class Compound(Model):
    """A share of the events takes `nodes` neighbouring nodes at once instead of one."""

    share: Probability
    nodes: PositiveCount


class Clustering(Model):
    """Arrivals more clustered than Poisson: gamma-distributed rate drawn anew each `window` of the class's clock.

    `dispersion` is the variance over the mean of the counts in a window (1 is Poisson, less cannot be).
    """

    dispersion: Annotated[Number, Field(ge=1.0)]
    window: PositiveDuration = "1d"  # type: ignore[assignment]


class Temperature(Model):
    """Arrhenius multiplier exp(Ea/k (1/T_ref - 1/T)); `celsius` holds one value per `period`, the last one stays."""

    activation_energy_ev: Positive
    reference_celsius: Celsius
    celsius: Annotated[tuple[Celsius, ...], Field(min_length=1)]
    period: PositiveDuration = "30d"  # type: ignore[assignment]


class Reinforcement(Model):
    """The rate falls exponentially to 1/`factor` of its first value at `over`, and stays there."""

    factor: Positive
    over: PositiveDuration


class FaultClass(Model):
    """One class of faults. mtbf and rate both null: the class never strikes.

    law: of the life of one unit of `scope`; exponential has no age. `shape` (weibull, gamma) or `cv` complete the
    others, the mean is the MTBF; `values` are the lives of an empirical law.
    clock: when the class ages (operating: the job computes or saves; restart: also while it restarts; calendar:
    always).
    scope: what breaks. A job-scoped fault (user code, software) has no node.
    confined: probability that the fault lies in one node, so that taking that node out answers it.
    permanent: probability that the fault stays in the hardware until repaired; a transient one is gone after a
    restart.
    renewal: laws with an age only. as_new: every failure puts a new unit in the slot; carried: units keep their age.
    start: ages at time 0: new, stationary, or the list `ages` (one a unit, in slot order, repeated as needed).
    slow_factor: effect slow: rate of the job while the fault lasts, 0 < f < 1.
    latency: effect corruption: time until it is noticed.
    symptom: what the user sees.
    """

    law: Literal["exponential", "weibull", "lognormal", "gamma", "empirical"] = "exponential"
    mtbf: MtbfText | None = None
    rate: RateText | None = None
    shape: Positive | None = None
    cv: Positive | None = None
    values: Annotated[tuple[PositiveDuration, ...], Field(min_length=1)] | None = None
    clock: Clock = "operating"
    scope: Scope = "gpu"
    effect: Effect = "crash"
    confined: Probability = 1.0
    permanent: Probability = 1.0
    symptom: str = "process exit"
    renewal: Literal["as_new", "carried"] = "as_new"
    start: Literal["new", "stationary", "given"] = "new"
    ages: Annotated[tuple[Duration, ...], Field(min_length=1)] | None = None
    slow_factor: Probability | None = None
    latency: Delay | None = None
    compound: Compound | None = None
    clustering: Clustering | None = None
    temperature: Temperature | None = None
    reinforcement: Reinforcement | None = None


class ScriptedFault(Model):
    """One line of a deterministic fault list: calendar time, node (place in the job), fault class that it acts like."""

    time: Duration
    node: Count
    kind: str
