"""Renewals of a fresh fleet: how often parts with age-dependent lives fail in a first window."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from c4sim.theory._checks import at_least, positive

FloatArray = NDArray[np.float64]


def weibull_cdf(shape: float, mean: float) -> Callable[[FloatArray], FloatArray]:
    """Distribution function of a Weibull law given by shape and mean."""
    positive(shape=shape, mean=mean)
    scale = mean / math.gamma(1 + 1 / shape)

    def cdf(age: FloatArray) -> FloatArray:
        return -np.expm1(-((age / scale) ** shape))

    return cdf


def renewal_function(
    cdf: Callable[[FloatArray], FloatArray], horizon: float, steps: int = 2_000
) -> tuple[FloatArray, FloatArray]:
    """Expected renewals m(t) of one new part, replaced by a new one at each failure.

    Solves ``m(t) = F(t) + int_0^t m(t - x) dF(x)`` on ``steps + 1`` equal points of [0, horizon]
    by the midpoint rule for Stieltjes integrals, which needs no density and so holds for shapes
    below 1.  The part must age by the clock that ``horizon`` is measured in.

    Returns times and m, both of shape (steps + 1,).

    Source: Smith, Journal of the Royal Statistical Society B 20 (1958) 243 (equation); Xie,
    Communications in Statistics - Simulation 18 (1989) 281 (method).
    """
    positive(horizon=horizon)
    at_least(1, steps=steps)
    times = np.linspace(0.0, horizon, steps + 1)
    width = horizon / steps
    at_points = cdf(times)
    at_middles = cdf(times[:-1] + width / 2)
    renewals = np.zeros(steps + 1)
    gains = np.zeros(steps)
    for i in range(1, steps + 1):
        later = gains[: i - 1] @ at_middles[i - 1 : 0 : -1]
        known = at_points[i] + later - at_middles[0] * renewals[i - 1]
        renewals[i] = known / (1 - at_middles[0])
        gains[i - 1] = renewals[i] - renewals[i - 1]
    return times, renewals


def expected_renewals(cdf: Callable[[FloatArray], FloatArray], horizon: float, steps: int = 2_000) -> float:
    """Expected failures of one slot in [0, horizon], fresh at 0 and replaced by new at failure."""
    return float(renewal_function(cdf, horizon, steps)[1][-1])


def mean_first_failure(shape: float, mean: float, parts: int) -> float:
    """Mean time to the first failure among fresh Weibull parts: ``mean * n^(-1 / shape)``.

    The least of n Weibull lives is Weibull of the same shape with its scale divided by
    ``n^(1 / shape)``.
    """
    positive(shape=shape, mean=mean)
    at_least(1, parts=parts)
    return mean * math.exp(-math.log(parts) / shape)
