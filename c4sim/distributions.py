"""Laws of durations: quantiles, residual lives, equilibrium lives; all by inversion.

Inversion of one uniform per draw couples laws monotonically: with common random numbers a longer mean gives a longer
draw, incident by incident.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from c4sim.scenario.faults import FaultClass
from c4sim.scenario.values import LawSpec
from c4sim.streams import Floats


class Law(Protocol):
    """A law of a positive duration in seconds. Arrays in, arrays of the same shape out."""

    @property
    def mean(self) -> float:
        """Mean, s."""

    def quantile(self, u: Floats) -> Floats:
        """The duration that a share u of all durations does not exceed."""

    def cdf(self, x: Floats) -> Floats:
        """P(duration <= x)."""


@dataclass(frozen=True)
class Fixed:
    """Always `mean`."""

    mean: float

    def quantile(self, u: Floats) -> Floats:
        """See Law."""
        return np.full(np.shape(u), self.mean)

    def cdf(self, x: Floats) -> Floats:
        """See Law."""
        return np.asarray(np.asarray(x) >= self.mean, dtype=np.float64)


@dataclass(frozen=True)
class Exponential:
    """P(> x) = exp(-x / mean)."""

    mean: float

    def quantile(self, u: Floats) -> Floats:
        """See Law."""
        return -self.mean * np.log1p(-np.asarray(u))

    def cdf(self, x: Floats) -> Floats:
        """See Law."""
        return np.asarray(-np.expm1(-np.maximum(x, 0.0) / self.mean))


@dataclass(frozen=True)
class Weibull:
    """P(> x) = exp(-(x / scale)^shape), scale = mean / Gamma(1 + 1 / shape)."""

    mean: float
    shape: float

    @property
    def scale(self) -> float:
        """Scale, s."""
        return self.mean / math.gamma(1.0 + 1.0 / self.shape)

    def quantile(self, u: Floats) -> Floats:
        """See Law."""
        return np.asarray(self.scale * (-np.log1p(-np.asarray(u))) ** (1.0 / self.shape))

    def cdf(self, x: Floats) -> Floats:
        """See Law."""
        return np.asarray(-np.expm1(-((np.maximum(x, 0.0) / self.scale) ** self.shape)))


@dataclass(frozen=True)
class Lognormal:
    """ln X normal with variance s^2 = ln(1 + cv^2) and mean ln(mean) - s^2 / 2."""

    mean: float
    cv: float

    @property
    def sigma(self) -> float:
        """Standard deviation of ln X."""
        return math.sqrt(math.log1p(self.cv**2))

    def quantile(self, u: Floats) -> Floats:
        """See Law."""
        from scipy.special import ndtri

        sigma = self.sigma
        return np.asarray(np.exp(math.log(self.mean) - 0.5 * sigma**2 + sigma * ndtri(u))) if self.mean else 0.0 * u

    def cdf(self, x: Floats) -> Floats:
        """See Law."""
        from scipy.special import ndtr

        sigma = self.sigma
        with np.errstate(divide="ignore"):
            z = (np.log(np.maximum(x, 0.0)) - math.log(self.mean) + 0.5 * sigma**2) / sigma
        return np.asarray(ndtr(z))


@dataclass(frozen=True)
class Gamma:
    """Gamma of shape k and scale mean / k."""

    mean: float
    shape: float

    def quantile(self, u: Floats) -> Floats:
        """See Law."""
        from scipy.special import gammaincinv

        return np.asarray(gammaincinv(self.shape, u) * (self.mean / self.shape))

    def cdf(self, x: Floats) -> Floats:
        """See Law."""
        from scipy.special import gammainc

        return np.asarray(gammainc(self.shape, np.maximum(x, 0.0) * (self.shape / self.mean)))


@dataclass(frozen=True)
class Uniform:
    """Uniform on mean (1 -+ cv sqrt 3)."""

    mean: float
    cv: float

    def quantile(self, u: Floats) -> Floats:
        """See Law."""
        return self.mean * (1.0 + math.sqrt(3.0) * self.cv * (2.0 * np.asarray(u) - 1.0))

    def cdf(self, x: Floats) -> Floats:
        """See Law."""
        half = math.sqrt(3.0) * self.cv
        return np.asarray(np.clip((np.asarray(x) / self.mean - 1.0 + half) / (2.0 * half), 0.0, 1.0))


@dataclass(frozen=True)
class Empirical:
    """Each of the given values with the same probability; `values` ascending."""

    values: tuple[float, ...]

    @property
    def mean(self) -> float:
        """See Law."""
        return math.fsum(self.values) / len(self.values)

    def quantile(self, u: Floats) -> Floats:
        """See Law."""
        n = len(self.values)
        index = np.minimum((np.asarray(u) * n).astype(np.int64), n - 1)
        return np.asarray(self.values, dtype=np.float64)[index]

    def cdf(self, x: Floats) -> Floats:
        """See Law."""
        return np.searchsorted(np.asarray(self.values), x, side="right") / len(self.values)


def residual_life(law: Law, u: Floats, age: Floats) -> Floats:
    """Remaining life, s, of units of the given ages, s: the quantile u of X - age given X > age.

    Where the whole law lies below the age (an empirical or fixed law outlived) the remaining life is 0.
    """
    if isinstance(law, Exponential):
        return law.quantile(u)
    age = np.asarray(age, dtype=np.float64)
    if isinstance(law, Weibull):  # exact in the tail, where 1 - cdf cancels
        hazard = (age / law.scale) ** law.shape
        return np.asarray(np.maximum(law.scale * (hazard - np.log1p(-u)) ** (1.0 / law.shape) - age, 0.0))
    below = law.cdf(age)
    rest = below + (1.0 - below) * np.asarray(u)
    return np.asarray(np.maximum(law.quantile(np.minimum(rest, 1.0 - 2.0**-53)) - age, 0.0))


def equilibrium_life(law: Law, u: Floats, v: Floats) -> Floats:
    """Time to the next renewal, s, of a renewal process that has run for ever: U times a length-biased life.

    The length-biased life is found by inverting its distribution E[X; X <= x] / E[X] on a grid of 4,097 quantiles,
    exactly for exponential and empirical laws (Cox 1962, Renewal Theory, section 5.3). u, v: independent uniforms,
    same shape.
    """
    if isinstance(law, Exponential):
        return law.quantile(u)
    if isinstance(law, Fixed):
        return law.mean * np.asarray(u)
    if isinstance(law, Empirical):
        values = np.asarray(law.values)
        return values[np.searchsorted(np.cumsum(values) / values.sum(), v)] * u
    grid = _length_biased_grid(law)
    return np.interp(v, grid[0], grid[1]) * u


def _length_biased_grid(law: Law) -> tuple[Floats, Floats]:
    # A grid even in the uniform, refined towards 1 where the long lives carry most of the length bias.
    tail = 1.0 - np.exp(np.linspace(0.0, -34.0, 4097))
    levels = np.unique(np.concatenate([np.linspace(0.0, 1.0, 4097)[1:-1], tail[1:-1]]))
    lives = law.quantile(levels)
    mass = np.diff(levels) * 0.5 * (lives[1:] + lives[:-1])
    share = np.concatenate([[0.0], np.cumsum(mass)])
    return share / share[-1], lives


def law_of(spec: LawSpec) -> Law:
    """The law that a delay of the scenario names. A mean of 0 is a fixed 0 whatever the law."""
    if spec.law == "empirical":
        return Empirical(tuple(sorted(spec.values or ())))
    mean = spec.mean or 0.0
    if spec.law == "fixed" or mean == 0.0:
        return Fixed(mean)
    return _parametric(spec.law, mean, spec.shape, spec.cv)


def life_law(fault: FaultClass, mean_s: float) -> Law:
    """The law of the life of one unit of a fault class whose mean life is `mean_s` seconds of its clock."""
    if fault.law == "empirical":
        return Empirical(tuple(sorted(fault.values or ())))
    return _parametric(fault.law, mean_s, fault.shape, fault.cv)


def _parametric(name: str, mean: float, shape: float | None, cv: float | None) -> Law:
    if name == "exponential":
        return Exponential(mean)
    if name == "weibull":
        return Weibull(mean, shape if shape is not None else weibull_shape(_given(cv)))
    if name == "gamma":
        return Gamma(mean, shape if shape is not None else _given(cv) ** -2)
    if name == "lognormal":
        return Lognormal(mean, _given(cv))
    if name == "uniform":
        return Uniform(mean, _given(cv))
    raise ValueError(f"law: no law is called '{name}'")


def _given(cv: float | None) -> float:
    if cv is None or not cv > 0.0:
        raise ValueError(f"cv: must be > 0 (got {cv!r})")
    return cv


def weibull_shape(cv: float) -> float:
    """The Weibull shape k whose coefficient of variation is cv: Gamma(1 + 2/k) / Gamma(1 + 1/k)^2 = 1 + cv^2, by
    bisection in ln k.
    """
    low, high = math.log(0.05), math.log(500.0)

    def excess(log_shape: float) -> float:
        k = math.exp(log_shape)
        return math.lgamma(1.0 + 2.0 / k) - 2.0 * math.lgamma(1.0 + 1.0 / k) - math.log1p(cv**2)

    if excess(low) < 0.0 or excess(high) > 0.0:
        raise ValueError(
            f"cv: a Weibull law of shape 0.05 to 500 cannot have this coefficient of variation (got {cv!r})"
        )
    for _ in range(200):
        middle = 0.5 * (low + high)
        if excess(middle) > 0.0:
            low = middle
        else:
            high = middle
    return math.exp(0.5 * (low + high))
