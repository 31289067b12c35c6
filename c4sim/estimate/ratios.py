"""Ratios of sums over replications, such as total time up over total time.

The mean of the replications' own ratios is biased (three cycles of up 9 and down 1: .873, not .9);
the ratio of sums is consistent.
"""

from __future__ import annotations

import math
from typing import Literal

from numpy.typing import ArrayLike
from scipy.special import stdtrit

from c4sim.estimate._data import FloatArray, level, sample
from c4sim.estimate.intervals import Estimate

Method = Literal["delta", "jackknife", "fieller"]


def ratio_of_sums(
    numerators: ArrayLike,
    denominators: ArrayLike,
    confidence: float = 0.95,
    method: Method = "fieller",
) -> Estimate | None:
    """``sum(numerators) / sum(denominators)`` over replications, with an interval.

    Parameters
    ----------
    numerators, denominators
        Shape (n,): one pair per replication, the replications independent.
    method
        ``fieller``: the ratios r for which ``a - r b`` has a mean not significantly off zero
        (exact for normal pairs, and the best coverage of the three for skewed ones); ``delta``:
        residuals ``a - r b`` over the mean denominator; ``jackknife``: pseudo-values, whose mean,
        free of the bias of order 1/n, replaces the ratio of sums as the value.

    Returns
    -------
    Estimate or None
        ``None`` when the denominators sum to zero.  No interval with one replication, when a
        left-out sum is zero, or when Fieller's set is not an interval.

    Source: Law, Simulation Modeling and Analysis (2015), section 9.5.3; Iglehart, Naval Research
    Logistics Quarterly 22 (1975) 553, compares the three.
    """
    a, b = sample(numerators), sample(denominators)
    if a.size != b.size:
        raise ValueError(f"both need the same replications (got {a.size} and {b.size})")
    total = math.fsum(b)
    if total == 0:
        return None
    ratio = math.fsum(a) / total
    if a.size == 1:
        return Estimate(ratio, None, None, 1)
    t = float(stdtrit(a.size - 1, (1 + level(confidence)) / 2))
    return _METHODS[method](a, b, ratio, t)


def _delta(a: FloatArray, b: FloatArray, ratio: float, t: float) -> Estimate:
    n = a.size
    half = t * math.sqrt(_covariance(a - ratio * b) / n) / abs(float(b.mean()))
    return Estimate(ratio, ratio - half, ratio + half, n)


def _jackknife(a: FloatArray, b: FloatArray, ratio: float, t: float) -> Estimate:
    n = a.size
    left = b.sum() - b
    if not left.all():
        return Estimate(ratio, None, None, n)
    pseudo = n * ratio - (n - 1) * (a.sum() - a) / left
    value = float(pseudo.mean())
    half = t * math.sqrt(_covariance(pseudo) / n)
    return Estimate(value, value - half, value + half, n)


def _fieller(a: FloatArray, b: FloatArray, ratio: float, t: float) -> Estimate:
    """Roots d of ``(d mean_b)^2 = t^2 Var(e - d b) / n``, e = a - ratio b of mean 0 (Fieller 1954)."""
    n = a.size
    residuals, factor = a - ratio * b, t * t / a.size
    square = float(b.mean()) ** 2 - factor * _covariance(b)
    if not square > 0:
        return Estimate(ratio, None, None, n)
    middle = factor * _covariance(residuals, b)
    root = math.sqrt(middle**2 + square * factor * _covariance(residuals))
    return Estimate(ratio, ratio - (middle + root) / square, ratio - (middle - root) / square, n)


def _covariance(x: FloatArray, y: FloatArray | None = None) -> float:
    """Unbiased covariance (variance without ``y``), exactly 0 when either is constant."""
    first = x - x[0]
    first -= first.mean()
    second = first if y is None else y - y[0]
    return float(first @ (second - second.mean())) / (x.size - 1)


_METHODS = {"delta": _delta, "jackknife": _jackknife, "fieller": _fieller}
