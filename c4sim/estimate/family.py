"""Many tests at once: corrected levels, and what a tolerance in standard errors costs a family."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from c4sim.estimate._data import FloatArray, level, sample


def bonferroni(alpha: float, tests: int) -> float:
    """Level of each of ``tests`` tests so that the family errs with probability at most alpha."""
    if tests < 1:
        raise ValueError(f"tests must be at least 1 (got {tests!r})")
    return level(alpha) / tests


def holm(p_values: ArrayLike) -> FloatArray:
    """Adjusted p values of shape (n,): reject where they are at most the family's alpha.

    Source: Holm, Scandinavian Journal of Statistics 6 (1979) 65.
    """
    p = sample(p_values, least=0)
    if ((p < 0) | (p > 1)).any():
        raise ValueError("p values must lie between 0 and 1")
    order = np.argsort(p, kind="stable")
    steps = p[order] * np.arange(p.size, 0, -1)
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted


def family_standard_errors(tests: int, alpha: float = 0.01) -> float:
    """Standard errors to allow each of ``tests`` normal estimates: the family alarms at ``alpha``."""
    return float(-ndtri(bonferroni(alpha, tests) / 2))


def false_alarms_at(standard_errors: float, tests: int = 1) -> float:
    """Expected false alarms among ``tests`` normal estimates judged at this many standard errors."""
    return tests * 2 * float(ndtr(-standard_errors))
