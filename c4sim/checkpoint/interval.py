"""The interval rules: from `young`, `daly` or `exact` to seconds of work between saves."""

import math

from c4sim.scenario.checkpoint import IntervalRule


def interval_seconds(interval: float | IntervalRule, cost: float, mtbf: float) -> float:
    """Work between saves, s.

    interval: seconds, or the rule that they follow; cost: what a save costs, s (its stall, and what it slows the job
    down by while it is written); mtbf: of the job on its operating clock, s. The exact optimum also holds for
    asynchronous saves that end before the next one is due: the time until durable changes what a failure costs, not
    where the optimum lies.

    Raises ValueError when a rule has no answer: no failures, or a save that costs nothing.
    """
    if isinstance(interval, float):
        return interval
    if not math.isfinite(mtbf):
        raise ValueError(
            f"checkpoint.interval: '{interval}' needs a job that fails: give the interval, or a fault "
            "class its mtbf or rate"
        )
    if not cost > 0.0:
        raise ValueError(
            f"checkpoint.interval: '{interval}' needs a save that costs something (free saves: interval 0)"
        )
    # The closed forms load SciPy, which a fixed interval does not need.
    from c4sim.theory import intervals

    rules = {"young": intervals.young_interval, "daly": intervals.daly_interval, "exact": intervals.exact_interval}
    return rules[interval](cost, mtbf)
