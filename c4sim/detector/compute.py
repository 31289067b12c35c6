"""Own work: who computes slowly, and when nobody can be named."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from c4sim.detector import budget
from c4sim.detector.budget import Thresholds
from c4sim.detector.ratios import Ratios
from c4sim.detector.robust import NORMAL_MAD, median, median_along
from c4sim.detector.series import Limits, Shifts, shifts

Array = NDArray[Any]
#: A row has an outlier when its slowest worker is this factor above its peers, and the row before
#: named another one.
_OUTLIER = np.log(1.2)
#: Share of rows with an outlier from which the job suffers from it.
_OFTEN = 0.5
#: Job-wide: log factor of the median worker against its own past.
_JOB_WIDE = np.log(1.15)
#: Workers that became faster for every one that became slower, from which load must have moved.
_BALANCED = 0.5


@dataclass(frozen=True)
class ComputeFindings:
    """Slow workers, or the reason why none can be named.

    Attributes:
        shifts: tests of the workers.
        varying: why the load must vary without being given; "" when it does not.
        rotating: share of rows in which some worker, another each time, is slow; 0 if few.
    """

    shifts: Shifts
    varying: str
    rotating: float


def judge(ratios: Ratios, thresholds: Thresholds, past: Array | None = None) -> ComputeFindings:
    """Test the workers' own work; ``past`` (N,) is each worker's known former level."""
    crowd = budget.CROWD if ratios.inferred else 1.0
    limits = Limits(thresholds, budget.MIN_LEVEL, budget.MIN_CHANGE, budget.MIN_HISTORY, crowd=crowd)
    found = shifts(ratios.y, ratios.peers, limits, past)
    cells = _cell_spread(ratios.y)
    varying = "" if ratios.normalised else _varying(found, cells)
    return ComputeFindings(found, varying, _rotating(ratios.y, found, cells))


def _cell_spread(y: Array) -> float:
    """Robust standard deviation of the cells about their series' medians: few slow cells do not move it."""
    return NORMAL_MAD * median(np.abs(y - median_along(y)))


def _varying(found: Shifts, cells: float) -> str:
    """Why an unreported load must be behind the differences, as half a sentence."""
    if cells > budget.VARYING_CELLS:
        return f"the typical worker's own work scatters by {cells:.0%} from step to step"
    if found.spread > budget.VARYING_LEVELS:
        return f"workers of one role differ by {found.spread:.0%}"
    rose, fell = int(found.found.sum()), int(found.dropped.sum())
    if fell >= 2 and fell >= _BALANCED * rose:
        return f"{rose} workers became slower and {fell} faster"
    return ""


def _rotating(y: Array, found: Shifts, cells: float) -> float:
    """Share of rows with a clear outlier that is not the one of the row before."""
    rest = np.where(found.found, np.nan, y - median_along(y))
    rest = np.where(np.isfinite(rest), rest, -np.inf)
    worst = rest.argmax(axis=1)
    high = rest[np.arange(len(y)), worst]
    moved = np.concatenate([[True], worst[1:] != worst[:-1]])
    share = float(np.mean((high > max(_OUTLIER, budget.FLAP_SIGMA * cells)) & moved))
    return share if share >= _OFTEN and len(y) >= 2 * budget.MIN_ROWS else 0.0


def job_wide(common: Array, thresholds: Thresholds) -> tuple[float, float, int] | None:
    """(log factor, score, first row) of a lasting rise of what is common to all, or None."""
    if np.isfinite(common).sum() < 2 * budget.MIN_ROWS:
        return None
    limits = Limits(thresholds, np.inf, _JOB_WIDE, _JOB_WIDE)
    found = shifts(common[:, None], np.array([-1]), limits)
    if not found.found[0]:
        return None
    return float(found.effect[0]), float(found.score[0]), int(found.first[0])


def step_seconds(*candidates: Array | None) -> float | None:
    """Length of a step: the median of the first field that is given and has data; None without any."""
    for field in candidates:
        if field is not None and np.isfinite(field).any():
            value = median(field)
            if value > 0:
                return value
    return None
