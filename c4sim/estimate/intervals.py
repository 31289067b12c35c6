"""Means and quantiles with their intervals, the interval of one replication, and how many to run."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import bdtr, ndtri, stdtrit

from c4sim.estimate._data import level, sample
from c4sim.estimate.moments import Moments


@dataclass(frozen=True)
class Estimate:
    """A number with its confidence interval, in the unit of the data.

    ``low`` and ``high`` are ``None`` where there is no interval.
    """

    value: float
    low: float | None
    high: float | None
    n: int

    @property
    def half_width(self) -> float | None:
        """Half the length of the interval; ``None`` without one."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2

    def covers(self, truth: float) -> bool:
        """Whether the interval exists and holds ``truth``."""
        return self.low is not None and self.high is not None and self.low <= truth <= self.high


def mean_interval(values: ArrayLike | Moments, confidence: float = 0.95) -> Estimate:
    """Mean with Student's t interval, ``m +- t s / sqrt(n)``.

    No interval with one replication; half width exactly 0 when all are equal.
    Raises ``ValueError`` without data or with values that are not finite.
    """
    moments = values if isinstance(values, Moments) else Moments.of(sample(values))
    if moments.n == 0:
        raise ValueError("at least 1 replication is needed (got 0)")
    return _t_interval(moments, 1 / moments.n, confidence)


def prediction_interval(values: ArrayLike | Moments, confidence: float = 0.95) -> Estimate:
    """Mean with the interval that one further replication falls into, ``m +- t s sqrt(1 + 1 / n)``.

    Exact for normal data; :func:`quantile_interval` shows the spread of skewed data.

    Source: Hahn and Meeker, Statistical Intervals (1991), section 4.7.
    """
    moments = values if isinstance(values, Moments) else Moments.of(sample(values))
    if moments.n == 0:
        raise ValueError("at least 1 replication is needed (got 0)")
    return _t_interval(moments, 1 + 1 / moments.n, confidence)


def quantile_interval(values: ArrayLike, q: float, confidence: float = 0.95) -> Estimate:
    """Sample quantile (linear interpolation) with a distribution-free interval of order statistics.

    The number of values below the true quantile is binomial (n, q).  The interval takes the
    largest rank l and the smallest u with ``P(B < l) <= a / 2`` and ``P(B >= u) <= a / 2``; it is
    ``None`` when n is too small for such ranks to exist.

    Source: David and Nagaraja, Order Statistics (2003), section 7.1.
    """
    data = np.sort(sample(values))
    if not 0 < q < 1:
        raise ValueError(f"q must lie between 0 and 1 (got {q!r})")
    n, tail = data.size, (1 - level(confidence)) / 2
    below = bdtr(np.arange(n), n, q)  # P(B <= k)
    low = int(np.searchsorted(below, tail, side="right"))  # ranks from 1; 0: there is none
    high = int(np.searchsorted(below, 1 - tail, side="left")) + 1
    value = float(np.quantile(data, q))
    if low < 1 or high > n:
        return Estimate(value, None, None, n)
    return Estimate(value, float(data[low - 1]), float(data[high - 1]), n)


def replications_for_half_width(variance: float, half_width: float, confidence: float = 0.95) -> int:
    """Fewest replications whose t interval has at most the wanted half width (at least 2).

    Takes ``variance`` as known; run a few tens first and repeat with what they show.

    Raises ``ValueError`` unless the half width is finite and above zero.
    """
    if not 0 < half_width < math.inf:
        raise ValueError(f"half_width must be finite and above zero (got {half_width!r})")
    tail = (1 + level(confidence)) / 2
    n = max(2, math.ceil(variance * (float(ndtri(tail)) / half_width) ** 2))  # too few: t > normal
    while n < variance * (float(stdtrit(n - 1, tail)) / half_width) ** 2:
        n += 1
    return n


def _t_interval(moments: Moments, factor: float, confidence: float) -> Estimate:
    tail = (1 + level(confidence)) / 2
    variance = moments.variance
    if variance is None:
        return Estimate(moments.mean, None, None, moments.n)
    half = float(stdtrit(moments.n - 1, tail)) * math.sqrt(variance * factor)
    return Estimate(moments.mean, moments.mean - half, moments.mean + half, moments.n)
