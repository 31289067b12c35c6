"""Exact intervals of counts: Poisson means, MTBF from failures and exposure, shares of trials."""

from __future__ import annotations

import math

from scipy.special import betaincinv, gammaincinv

from c4sim.estimate._data import level
from c4sim.estimate.intervals import Estimate


def poisson_interval(count: int, confidence: float = 0.95) -> Estimate:
    """A Poisson count with the exact interval of its mean; the lower end is 0 for no event.

    Source: Garwood, Biometrika 28 (1936) 437: ends where P(K >= count) and P(K <= count) are half
    of ``1 - confidence``, as quantiles of gamma laws of shape count and count + 1.
    """
    if count < 0:
        raise ValueError(f"a count must not be negative (got {count!r})")
    tail = (1 - level(confidence)) / 2
    low = float(gammaincinv(count, tail)) if count else 0.0
    return Estimate(float(count), low, float(gammaincinv(count + 1, 1 - tail)), count)


def mtbf_interval(exposure: float, failures: int, confidence: float = 0.95) -> Estimate:
    """MTBF = exposure / failures with its exact interval, failures counted over a fixed exposure.

    With no failure there is no estimate but a one-sided bound: ``value`` and ``high`` are infinite
    and ``low`` is ``exposure / -log(1 - confidence)``.

    Source: Garwood (1936); zero failures: Hanley and Lippman-Hand, JAMA 249 (1983) 1743.
    """
    if not 0 < exposure < math.inf:
        raise ValueError(f"exposure must be finite and above zero (got {exposure!r})")
    if failures == 0:
        return Estimate(math.inf, exposure / -math.log1p(-level(confidence)), math.inf, 0)
    counts = poisson_interval(failures, confidence)
    assert counts.low is not None
    assert counts.high is not None
    return Estimate(exposure / failures, exposure / counts.high, exposure / counts.low, failures)


def share_interval(successes: int, trials: int, confidence: float = 0.95) -> Estimate:
    """Share of successes with the exact (conservative) interval of their probability.

    Source: Clopper and Pearson, Biometrika 26 (1934) 404.
    """
    if not 0 <= successes <= trials or trials < 1:
        raise ValueError(f"successes must lie between 0 and trials (got {successes}, {trials})")
    tail, misses = (1 - level(confidence)) / 2, trials - successes
    low = float(betaincinv(successes, misses + 1, tail)) if successes else 0.0
    high = float(betaincinv(successes + 1, misses, 1 - tail)) if misses else 1.0
    return Estimate(successes / trials, low, high, trials)
