"""Noise as measured on clusters: autocorrelated, heavy in the tail, with a fixed spread."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
#: Degrees of freedom of the innovations: variance finite, fourth moment just finite.
TAIL = 5.0


def autocorrelated(rng: np.random.Generator, steps: int, columns: int, sigma: float, rho: float) -> Floats:
    """(steps, columns) multiplicative noise exp(x), x a stationary AR(1).

    x[t] = rho x[t-1] + sqrt(1 - rho^2) sigma z[t], z Student's t with ``TAIL`` degrees of freedom
    scaled to variance 1, so that x has standard deviation ``sigma`` at every step.
    """
    z = rng.standard_t(TAIL, size=(steps, columns)) * (sigma / np.sqrt(TAIL / (TAIL - 2)))
    z[1:] *= np.sqrt(1 - rho**2)
    for t in range(1, steps):
        z[t] += rho * z[t - 1]
    return np.asarray(np.exp(z, out=z))


def spread(rng: np.random.Generator, columns: int, sigma: float) -> Floats:
    """(columns,) fixed factors of a worker or link, lognormal with log standard deviation sigma."""
    return np.exp(sigma * rng.standard_normal(columns))


def spikes(rng: np.random.Generator, shape: tuple[int, int], probability: float, scale: float) -> Floats:
    """Rare single-cell factors 1 + Pareto(3) x scale, elsewhere 1."""
    factors = np.ones(shape)
    count = rng.binomial(factors.size, probability)
    where = rng.integers(0, factors.size, size=count)
    factors.ravel()[where] = 1 + scale * (1 + rng.pareto(3.0, size=count))
    return factors


def log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    """One draw whose logarithm is uniform between those of ``low`` and ``high``."""
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def chance(rng: np.random.Generator, probability: float) -> bool:
    """True with the given probability."""
    return bool(rng.random() < probability)


def pick(rng: np.random.Generator, options: Any) -> int:
    """One of a non-empty list of integers."""
    return int(options[rng.integers(len(options))])
