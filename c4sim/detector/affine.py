"""Duration = a + b x (amount of work), estimated from durations that contain faults.

Reported amounts are wrong in part of the cells. Wrong amounts flatten a regression line (attenuation),
so that a worker with a persistently high load would look slow for ever. The remedy is the regression
of a worker's duration on its amount in this row *and* its own mean amount in the rows around it
(Mundlak 1978): residuals are then uncorrelated with persistent differences of load. Errors are relative,
so cells are weighted by 1 / fit^2. Least absolute errors first (they need no start), then Tukey's
biweight, so that faults do not pull.
"""

from __future__ import annotations

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


def expected(duration: Array, amount: Array, kinds: Array) -> Array:
    """What each duration ought to be, by a line for each kind of series.

    Args:
        duration, amount: (T, K); NaN is no data.
        kinds: (K,) numbers 0..R-1 of series that share a line.

    Returns:
        (T, K) expected duration in the units of ``duration``, up to a factor for each kind.
    """
    out = np.ones_like(duration, dtype=np.float64)
    around = _moving_mean(amount)
    table = Groups.of(kinds, int(kinds.max()) + 1)
    for _, members in table.blocks:
        for columns in members:
            out[:, columns] = _fit(duration[:, columns], amount[:, columns], around[:, columns])
    return out


def _moving_mean(amount: Array) -> Array:
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
    scale, unit = median(duration), median(amount)
    varies = np.nanstd(amount) > _FLAT * abs(unit) if np.isfinite(unit) else False
    if not (np.isfinite(scale) and varies and unit > 0):
        return np.full(duration.shape, scale if np.isfinite(scale) else 1.0)
    own = np.where(np.isfinite(amount), amount, around) / unit
    design = np.stack([np.ones_like(own), own, around / unit], axis=-1)
    target = duration / scale
    pick = np.flatnonzero(np.isfinite(target).ravel())
    pick = pick[:: max(1, len(pick) // _CELLS)]
    weights = _solve(design.reshape(-1, 3)[pick], target.ravel()[pick])
    return np.asarray(np.maximum(design @ weights, _LEAST) * scale)


def _solve(design: Array, target: Array) -> Array:
    """Coefficients of target = design @ w by iteratively reweighted least squares of relative errors."""
    solution, fit = np.zeros(design.shape[1]), np.maximum(target, _LEAST)
    weight = 1 / fit**2
    for turn in range(_ROUNDS):
        moment = design * weight[:, None]
        normal = moment.T @ design
        normal[np.diag_indices(len(solution))] += 1e-9 * np.trace(normal)
        solution = np.linalg.solve(normal, moment.T @ target)
        fit = np.maximum(design @ solution, _LEAST)
        error = np.abs(target / fit - 1)
        if turn < _ROUNDS // 2:
            weight = 1 / (np.maximum(error, 1e-3) * fit**2)
        else:
            width = _TUKEY * max(NORMAL_MAD * median(error), 1e-3)
            weight = np.clip(1 - (error / width) ** 2, 0, None) ** 2 / fit**2
    return solution
