"""The best work between saves: Young, Daly, and the exact optimum.

The number is work between saves, not the time from the start of one save to the next (that is
the interval plus the write).  All three hold for blocking saves and exponential failures, for both
the operating and the restart clock, whatever detection and restart cost.
"""

from __future__ import annotations

import math

from scipy.optimize import brentq
from scipy.special import lambertw

from c4sim.theory._checks import not_negative, positive, probability


def young_interval(write: float, mtbf: float) -> float:
    """Young's first-order interval ``sqrt(2 C M)``.

    Source: Young, Communications of the ACM 17 (1974) 530.
    """
    positive(write=write, mtbf=mtbf)
    return math.sqrt(2 * write * mtbf)


def daly_interval(write: float, mtbf: float) -> float:
    """Daly's higher-order interval; M when the write is at least 2 M.

    ``sqrt(2 C M) (1 + sqrt(C / 2M) / 3 + (C / 2M) / 9) - C`` for C < 2 M.

    Source: Daly, Future Generation Computer Systems 22 (2006) 303, equation 37.
    """
    positive(write=write, mtbf=mtbf)
    if write >= 2 * mtbf:
        return mtbf
    ratio = write / (2 * mtbf)
    return math.sqrt(2 * write * mtbf) * (1 + math.sqrt(ratio) / 3 + ratio / 9) - write


def daly_warning(write: float, mtbf: float) -> str | None:
    """What to tell a user when Daly's formula is outside its range, else ``None``."""
    positive(write=write, mtbf=mtbf)
    if write < 2 * mtbf:
        return None
    return (
        f"a write of {write:g} is at least twice the MTBF of {mtbf:g}: "
        "Daly's interval is set to the MTBF; the exact optimum still holds"
    )


def exact_interval(write: float, mtbf: float) -> float:
    """The interval of greatest efficiency: ``tau / M = 1 + W0(-exp(-C / M - 1))``.

    It maximises ``tau / (exp((tau + C) / M) - 1)``.  Near the branch point (C << M) W0 loses half
    its digits, so one Newton step on ``-log(1 - u) - u = C / M`` restores them.

    Source: setting the derivative to zero; Daly (2006), equation 22, gives the equation to solve.
    """
    positive(write=write, mtbf=mtbf)
    c = write / mtbf
    u = 1 + float(lambertw(-math.exp(-c - 1)).real)
    if c < 1e-2:
        u = u if u > 0 else math.sqrt(2 * c)
        for _ in range(3):
            u += (c + math.log1p(-u) + u) * (1 - u) / u
    return mtbf * u


def relative_efficiency(interval: float, write: float, mtbf: float) -> float:
    """Efficiency at ``interval`` over the efficiency at the exact optimum."""
    best = exact_interval(write, mtbf)
    return math.exp(_log_gain(interval, write, mtbf) - _log_gain(best, write, mtbf))


def flat_region(write: float, mtbf: float, within: float = 0.01) -> tuple[float, float]:
    """The intervals whose efficiency is at least ``1 - within`` of the best: (low, high)."""
    probability(within=within)
    best = exact_interval(write, mtbf)
    target = _log_gain(best, write, mtbf) + math.log1p(-within)

    def excess(interval: float) -> float:
        return _log_gain(interval, write, mtbf) - target

    low, high = best, best
    while excess(low) > 0:
        low /= 2
    while excess(high) > 0:
        high *= 2
    return float(brentq(excess, low, best)), float(brentq(excess, best, high))


def _log_gain(interval: float, write: float, mtbf: float) -> float:
    """Log of ``tau / (exp((tau + C) / M) - 1)``, without overflow for long intervals."""
    not_negative(write=write)
    positive(interval=interval, mtbf=mtbf)
    x = (interval + write) / mtbf
    return math.log(interval) - x - math.log(-math.expm1(-x))
