"""Two alternatives on common random numbers: differences replication by replication."""

from __future__ import annotations

from numpy.typing import ArrayLike

from c4sim.estimate._data import FloatArray, sample
from c4sim.estimate.intervals import Estimate, mean_interval
from c4sim.estimate.moments import Moments


def paired_difference(base: ArrayLike, other: ArrayLike, confidence: float = 0.95) -> Estimate:
    """Mean of ``other - base`` with its t interval; both of shape (n,), replication by replication.

    Exactly 0 with half width 0 when the change has no effect.

    Source: Law, Simulation Modeling and Analysis (2015), section 10.2.1.
    """
    first, second = _pair(base, other)
    return mean_interval(second - first, confidence)


def variance_ratio(base: ArrayLike, other: ArrayLike) -> float | None:
    """Variance of the paired difference over that of independent runs.

    ``Var(other - base) / (Var(base) + Var(other))``: what common random numbers leave.  ``None``
    with one replication or when both are constant.
    """
    first, second = _pair(base, other)
    parts = [Moments.of(data).variance for data in (second - first, first, second)]
    difference, *independent = (part or 0.0 for part in parts)
    total = sum(independent)
    return difference / total if total > 0 else None


def _pair(base: ArrayLike, other: ArrayLike) -> tuple[FloatArray, FloatArray]:
    first, second = sample(base), sample(other)
    if first.size != second.size:
        raise ValueError(f"both need the same replications (got {first.size} and {second.size})")
    return first, second
