"""Count, mean and variance that can be merged: chunks of replications need not stay in memory."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from c4sim.estimate._data import sample


@dataclass(frozen=True)
class Moments:
    """Number of values, their mean, and the sum of squared deviations from it.

    Merging is exact up to rounding.  Merge chunks in a fixed order (by replication) to get the same
    bits from any number of workers.
    """

    n: int = 0
    mean: float = 0.0
    squares: float = 0.0

    @classmethod
    def of(cls, values: ArrayLike) -> Moments:
        """Moments of the values; data all equal give their value and exactly zero squares.

        Deviations are taken from the first value, which keeps the digits that a large common
        offset would cost (Chan, Golub and LeVeque, American Statistician 37 (1983) 242).
        """
        data = sample(values, least=0)
        if data.size == 0:
            return cls()
        shifted = data - data[0]
        shift = float(shifted.mean())
        return cls(data.size, float(data[0]) + shift, float(np.square(shifted - shift).sum()))

    def merge(self, other: Moments) -> Moments:
        """Moments of both sets of values together.

        Source: Chan, Golub and LeVeque (1983), equation 2.1; Welford (1962) for one value.
        """
        if self.n == 0 or other.n == 0:
            return other if self.n == 0 else self
        n = self.n + other.n
        gap = other.mean - self.mean
        mean = self.mean + gap * other.n / n
        return Moments(n, mean, self.squares + other.squares + gap * gap * self.n * other.n / n)

    @property
    def variance(self) -> float | None:
        """Unbiased variance; ``None`` with fewer than two values."""
        return self.squares / (self.n - 1) if self.n > 1 else None

    @property
    def standard_error(self) -> float | None:
        """Standard error of the mean; ``None`` with fewer than two values."""
        variance = self.variance
        return None if variance is None else math.sqrt(variance / self.n)
