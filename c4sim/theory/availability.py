"""Alternating renewal: up times and down times in turn, and how far a finite month is from the limit.

Holds for the operating clock: the up time is used up only while the job operates.
"""

from __future__ import annotations

import math

from scipy.special import hyp2f1

from c4sim.theory._checks import at_least, not_negative, positive


def availability(mean_up: float, mean_down: float) -> float:
    """Long-run share of time up, ``M / (M + R)``, for any laws of up and down times.

    Source: Barlow and Proschan, Mathematical Theory of Reliability (1965), chapter 3, theorem 2.7;
    Ross, Stochastic Processes, theorem 3.4.4.
    """
    positive(mean_up=mean_up)
    not_negative(mean_down=mean_down)
    return mean_up / (mean_up + mean_down)


def mean_availability(mean_up: float, mean_down: float, horizon: float) -> float:
    """Expected share of [0, horizon] up, exponential up and down times, up at time 0.

    ``mu / (lam + mu) + lam / (lam + mu)^2 (1 - exp(-(lam + mu) T)) / T``.

    Source: Barlow and Proschan (1965), chapter 3, section 2.
    """
    positive(mean_up=mean_up, mean_down=mean_down, horizon=horizon)
    lam, mu = 1 / mean_up, 1 / mean_down
    total = lam + mu
    return mu / total - lam / total**2 * math.expm1(-total * horizon) / horizon


def downtime_deficit(mean_up: float, mean_down: float, down_cv: float, horizon: float) -> float:
    """By how much a window that starts up falls short of the long-run share of downtime.

    ``M p^2 (1 + cv^2) / (2 T)`` with p = R / (M + R), exponential up times: the constant term of
    the renewal function's expansion, exact but for terms that vanish exponentially in T.

    Source: Cox, Renewal Theory (1962), section 4.2, applied to cycles of up and down.
    """
    positive(mean_up=mean_up, horizon=horizon)
    not_negative(mean_down=mean_down, down_cv=down_cv)
    down_share = 1 - availability(mean_up, mean_down)
    return mean_up * down_share**2 * (1 + down_cv**2) / (2 * horizon)


def downtime_share_sd(mtbf: float, cycle: float, mean_down: float, down_variance: float, horizon: float) -> float:
    """Standard deviation of the share of one window lost to rollback and to down time.

    Per failure the job operates X (exponential, mean M), throws away L = X mod ``cycle`` and is
    down Y.  The variance of the lost share is ``Var(Z) / (E[X + Y] T)`` with
    ``Z = L + Y - p (X + Y)``, and as L does not depend on the number of kept cycles
    ``Var(Z) = (1 - p)^2 Var(Y) + (1 - 2 p) Var(L) + p^2 M^2``.

    Source: central limit theorem of renewal reward (Ross, Stochastic Processes, 3.6; Cox 1962, 8.2).
    """
    from c4sim.theory.segments import lost_work_variance, mean_lost_work

    positive(horizon=horizon)
    not_negative(mean_down=mean_down, down_variance=down_variance)
    period = mtbf + mean_down
    p = (mean_lost_work(cycle, mtbf) + mean_down) / period
    spread = (1 - p) ** 2 * down_variance + (1 - 2 * p) * lost_work_variance(cycle, mtbf) + (p * mtbf) ** 2
    return math.sqrt(spread / (period * horizon))


def mean_of_ratios(mean_up: float, mean_down: float, cycles: int) -> float:
    """Expected share of time up over ``cycles`` exponential up and down times: the biased average.

    The share is ``r B / (1 + (r - 1) B)`` with r = M / R and B beta distributed (n, n), of mean
    ``(r / 2) 2F1(1, n + 1; 2 n + 1; 1 - r)``.  The ratio of sums tends to ``M / (M + R)``.
    """
    positive(mean_up=mean_up, mean_down=mean_down)
    at_least(1, cycles=cycles)
    ratio = mean_up / mean_down
    return float(ratio / 2 * hyp2f1(1, cycles + 1, 2 * cycles + 1, 1 - ratio))
