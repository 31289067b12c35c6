"""Noise of series that may contain a shift: what differences of neighbouring rows say.

gamma(h) = half the mean square of x[t+h] - x[t]. A single shift touches h of its T - h terms, which
limiting the differences makes harmless; the autocovariance is gamma(infinity) - gamma(h). The long-run
variance sigma^2 (1 + 2 sum_h rho_h) is what the variance of a mean of n rows tends to, times n.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from c4sim.detector import budget
from c4sim.detector.robust import NORMAL_MAD, median, median_along

Array = NDArray[Any]

_LAGS = (1, 2, 4, 8)
#: Weight of each lag's correlation in sum over h = 1..8 by the trapezium rule between the lags.
_WEIGHTS = (1.0, 1.5, 3.0, 2.5)
#: Rows that a lag needs beyond its own length for a usable estimate.
_ROWS = 8
#: Inflation when a window is too short to see correlation: an AR(1) with rho = 1/3.
_SHORT_WINDOW = 2.0
#: Differences are limited to this many robust standard deviations.
_LIMIT = 4.0
#: Smallest share of the sill that neighbouring rows are taken to differ by.
_LEAST_SHARE = 0.02
#: A series' own variance is believed down to this share of that of the median series.
_OWN_SHARE = 0.5


def semivariance(y: Array, lag: int) -> Array:
    """(K,) half the mean square difference at ``lag`` rows, large differences limited."""
    step = np.abs(y[lag:] - y[:-lag])
    limit = _LIMIT * NORMAL_MAD * median_along(step)
    np.minimum(step, limit, out=step)
    count = np.maximum(np.isfinite(step).sum(axis=0), 1)
    return np.asarray(np.nansum(step * step, axis=0) / (2 * count))


def noise_variance(y: Array, floor: float = budget.NOISE_FLOOR) -> tuple[Array, float]:
    """Variance of each series and the factor that makes it a long-run variance.

    Args:
        y: (T, K), NaN where there is no data.
        floor: smallest standard deviation that is believed.

    Returns:
        (K,) variance of one row about a constant level, and the inflation >= 1 common to all,
        from the median series. Correlated noise below the floor counts in the share that it has.
    """
    if len(y) < 4:
        return np.full(y.shape[1], floor**2), _SHORT_WINDOW
    lags = [lag for lag in _LAGS if len(y) >= lag + _ROWS] or [1]
    gammas = np.stack([semivariance(y, lag) for lag in lags])
    typical = [median(gamma) for gamma in gammas]
    sill = max(typical)
    if not sill > 0:
        return np.full(y.shape[1], floor**2), 1.0
    variance = gammas[0] * (sill / max(typical[0], _LEAST_SHARE * sill))
    variance = np.maximum(np.nan_to_num(variance), max(_OWN_SHARE * sill, floor**2))
    if len(lags) < len(_LAGS):
        return variance, _SHORT_WINDOW
    inflation = 1 + 2 * sum(
        weight * max(0.0, 1 - gamma / sill) for weight, gamma in zip(_WEIGHTS, typical, strict=True)
    )
    return variance, max(1.0, inflation * min(1.0, sill / floor**2))
