"""Detection: how long until a stopped job is noticed, and what too short a limit costs."""

from __future__ import annotations

import math
from collections.abc import Sequence

from c4sim.theory._checks import not_negative, positive


def expected_detection(layers: Sequence[tuple[float, float]]) -> float:
    """Mean delay of a chain of layers, each given as (coverage, delay from the fault).

    A layer sees a fault with its coverage, independently of the others, and the earliest that sees
    it counts: ``sum_i d_i c_i prod_(j<i) (1 - c_j)`` in order of delay.  Stages that follow one
    another for every fault add their delays: give their sum as one layer.

    Raises ``ValueError`` unless some layer sees every fault.
    """
    missed, total = 1.0, 0.0
    for delay, coverage in sorted((delay, coverage) for coverage, delay in layers):
        not_negative(delay=delay)
        if not 0 <= coverage <= 1:
            raise ValueError(f"coverage must lie between 0 and 1 (got {coverage!r})")
        total += missed * coverage * delay
        missed *= 1 - coverage
    if missed > 0:
        raise ValueError(f"a share of {missed:.3g} of the faults is never seen; add a last layer of coverage 1")
    return total


def heartbeat_delay(period: float, limit: float) -> float:
    """Mean delay from a fail-stop to the alarm ``limit`` after the last heartbeat: ``T - h / 2``.

    The fault falls uniformly between two heartbeats ``period`` apart; the standard deviation is
    ``h / sqrt(12)``.
    """
    positive(period=period, limit=limit)
    if not limit >= period:
        raise ValueError(f"a limit of {limit!r} below the period of {period!r} alarms without a fault")
    return limit - period / 2


def timeout_cost(
    limit: float,
    hang_rate: float,
    pause_rate: float,
    pause_median: float,
    pause_sigma: float,
    false_alarm_cost: float,
) -> float:
    """Time lost per time with a hang limit T, when healthy pauses are lognormal.

    ``lam_hang T + lam_pause P(pause > T) cost``; a false alarm costs a restart and on average
    half an interval, ``R + tau / 2``.
    """
    not_negative(limit=limit, hang_rate=hang_rate, pause_rate=pause_rate, cost=false_alarm_cost)
    positive(pause_median=pause_median, pause_sigma=pause_sigma)
    z = math.log(limit / pause_median) / pause_sigma if limit > 0 else -math.inf
    longer = math.erfc(z / math.sqrt(2)) / 2
    return hang_rate * limit + pause_rate * longer * false_alarm_cost


def best_timeout(
    hang_rate: float,
    pause_rate: float,
    pause_median: float,
    pause_sigma: float,
    false_alarm_cost: float,
) -> float:
    """The limit of least :func:`timeout_cost`; 0 when killing every pause at once is cheapest.

    Setting the derivative to zero gives a quadratic for u = log(T / median),
    ``u^2 + 2 s^2 u + 2 s^2 log(median s sqrt(2 pi) lam_hang / (lam_pause cost)) = 0``, whose larger
    root is the minimum.
    """
    positive(hang_rate=hang_rate, pause_rate=pause_rate, cost=false_alarm_cost)
    positive(pause_median=pause_median, pause_sigma=pause_sigma)
    variance = pause_sigma**2
    density = hang_rate / (pause_rate * false_alarm_cost)
    constant = math.log(density * pause_median * pause_sigma * math.sqrt(2 * math.pi))
    under_root = variance**2 - 2 * variance * constant
    if under_root <= 0:
        return 0.0
    best = pause_median * math.exp(-variance + math.sqrt(under_root))
    cost = timeout_cost(best, hang_rate, pause_rate, pause_median, pause_sigma, false_alarm_cost)
    return best if cost < pause_rate * false_alarm_cost else 0.0
