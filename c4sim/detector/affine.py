"""Duration = a + b x (amount of work), estimated from durations that contain faults.

Reported amounts are wrong in part of the cells. Wrong amounts flatten a regression line (attenuation),
so that a worker with a persistently high load would look slow for ever. The remedy is the regression
of a worker's duration on its amount in this row *and* its own mean amount in the rows around it
(Mundlak 1978): residuals are then uncorrelated with persistent differences of load. Errors are relative,
so cells are weighted by 1 / fit^2. Least absolute errors first (they need no start), then Tukey's
biweight, so that faults do not pull.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from c4sim.detector.grouping import Groups
from c4sim.detector.robust import NORMAL_MAD, median

Array = NDArray[Any]

#: Cells used for a fit: the standard error of a coefficient is then far below the noise of a cell.
_CELLS = 40_000
#: Rows on either side in the mean amount of a worker.
_AROUND = 8
#: Reweighting rounds; Tukey's constant for 95 % efficiency.
_ROUNDS, _TUKEY = 10, 4.685
#: Relative variation of the amounts below which no slope can be told.
_FLAT = 0.01
#: A fit is never below this share of the typical duration.
_LEAST = 0.05


@dataclass(frozen=True)
class Lines:
    """duration = c0 + c1 amount + c2 (mean amount around the row), one line for each kind of series.

    Attributes:
        coefficients: (R, 3) in seconds, seconds per amount, seconds per amount.
        least: (R,) seconds; no expectation is below it.
    """

    coefficients: Array
    least: Array

    def at(self, amount: Array, around: Array, kinds: Array) -> Array:
        """Expected durations in the shape of ``amount`` (..., K), for series of these ``kinds`` (K,)."""
        c0, c1, c2 = self.coefficients[kinds].T
        own = np.where(np.isfinite(amount), amount, around)
        return np.asarray(np.fmax(c0 + c1 * own + c2 * around, self.least[kinds]))


def fit(duration: Array, amount: Array, kinds: Array) -> Lines:
    """Lines of durations (T, K) on amounts (T, K), NaN ignored, for each of the ``kinds`` (K,)."""
    around = moving_mean(amount)
    count = int(kinds.max()) + 1
    lines = Lines(np.zeros((count, 3)), np.zeros(count))
    for ids, members in Groups.of(kinds, count).blocks:
        for kind, columns in zip(ids, members, strict=True):
            weights = _fit(duration[:, columns], amount[:, columns], around[:, columns])
            lines.coefficients[kind] = weights
            scale = median(duration[:, columns])
            lines.least[kind] = _LEAST * scale if np.isfinite(scale) else 1.0
    return lines


def expected(duration: Array, amount: Array, kinds: Array) -> Array:
    """(T, K) what each duration ought to be by the line of its kind."""
    return fit(duration, amount, kinds).at(amount, moving_mean(amount), kinds)


def moving_mean(amount: Array) -> Array:
    """Centred mean over 2 x _AROUND + 1 rows, shorter at the ends; the overall mean without data."""
    valid = np.isfinite(amount)
    zero = np.zeros((1, amount.shape[1]))
    total = np.concatenate([zero, np.cumsum(np.where(valid, amount, 0.0), axis=0)])
    number = np.concatenate([zero, np.cumsum(valid, axis=0)])
    rows = np.arange(len(amount))
    low, high = np.maximum(rows - _AROUND, 0), np.minimum(rows + _AROUND + 1, len(amount))
    count = number[high] - number[low]
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = (total[high] - total[low]) / count
    return np.where(count > 0, mean, np.nanmean(amount) if valid.any() else np.nan)


def _fit(duration: Array, amount: Array, around: Array) -> Array:
    """(3,) coefficients; without a slope where the amounts do not vary or are not known."""
    scale, unit = median(duration), median(amount)
    varies = np.nanstd(amount) > _FLAT * abs(unit) if np.isfinite(unit) else False
    if not (np.isfinite(scale) and varies and unit > 0):
        return np.array([scale if np.isfinite(scale) else 1.0, 0.0, 0.0])
    own = np.where(np.isfinite(amount), amount, around) / unit
    design = np.stack([np.ones_like(own), own, around / unit], axis=-1).reshape(-1, 3)
    target = (duration / scale).ravel()
    pick = np.flatnonzero(np.isfinite(target))
    pick = pick[:: max(1, len(pick) // _CELLS)]
    return np.asarray(_solve(design[pick], target[pick]) * scale / np.array([1.0, unit, unit]))


def _solve(design: Array, target: Array) -> Array:
    """Coefficients of target = design @ w by iteratively reweighted least squares of relative errors."""
    solution: Array = np.zeros(design.shape[1])
    weight = 1 / np.maximum(target, _LEAST) ** 2
    for turn in range(_ROUNDS):
        moment = design * weight[:, None]
        normal = moment.T @ design
        normal[np.diag_indices(len(solution))] += 1e-9 * np.trace(normal)
        solution = np.linalg.solve(normal, moment.T @ target)
        fitted = np.maximum(design @ solution, _LEAST)
        error = np.abs(target / fitted - 1)
        if turn < _ROUNDS // 2:
            weight = 1 / (np.maximum(error, 1e-3) * fitted**2)
        else:
            width = _TUKEY * max(NORMAL_MAD * median(error), 1e-3)
            weight = np.clip(1 - (error / width) ** 2, 0, None) ** 2 / fitted**2
    return solution
