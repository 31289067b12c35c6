"""Rules that public straggler tools use, re-implemented to compare with.

Each takes (N,) seconds of one reporting interval and says who is slow. They look at one number a
worker and know neither its role nor its load; ``normalised`` gives them both.

- fastest_75: performance relative to the fastest rank below .75 (NVIDIA resiliency extension,
  straggler detection, relative GPU score and its default threshold).
- median_2x: twice the median. median_1_2x: 1.2 times the median.
- three_sigma: mean plus three standard deviations.
- mad_3_5: modified z-score .6745 (x - median) / MAD above 3.5 (Iglewicz and Hoaglin 1993).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from c4sim.detector import Telemetry, Verdict

Array = NDArray[Any]
Rule = Callable[[Array], Array]
#: Steps of one reporting interval: a worker's time is its median over them.
INTERVAL = 16


def fastest_75(seconds: Array) -> Array:
    """Slow where fastest / own < .75."""
    return np.asarray(np.nanmin(seconds) / seconds < 0.75)


def median_2x(seconds: Array) -> Array:
    """Slow where own > 2 x median."""
    return np.asarray(seconds > 2 * np.nanmedian(seconds))


def median_1_2x(seconds: Array) -> Array:
    """Slow where own > 1.2 x median."""
    return np.asarray(seconds > 1.2 * np.nanmedian(seconds))


def three_sigma(seconds: Array) -> Array:
    """Slow where own > mean + 3 standard deviations."""
    return np.asarray(seconds > np.nanmean(seconds) + 3 * np.nanstd(seconds))


def mad_3_5(seconds: Array) -> Array:
    """Slow where .6745 (own - median) > 3.5 MAD."""
    off = seconds - np.nanmedian(seconds)
    return np.asarray(0.6745 * off > 3.5 * np.nanmedian(np.abs(off)))


RULES: dict[str, Rule] = {rule.__name__: rule for rule in (fastest_75, median_2x, median_1_2x, three_sigma, mad_3_5)}


def normalised(telemetry: Telemetry) -> Array:
    """(T, N) own work over what its role and load explain: per role a least-squares line in load.

    Without role all workers are one; without load the line is the role's mean.
    """
    seconds = telemetry.compute_s
    assert seconds is not None
    role = np.zeros(telemetry.n_workers) if telemetry.role is None else telemetry.role
    out = np.empty_like(seconds)
    for label in np.unique(role):
        mine = role == label
        own = seconds[:, mine]
        load = np.zeros(own.shape) if telemetry.load is None else telemetry.load[:, mine]
        out[:, mine] = own / _line(load, own)
    return out


def _line(load: Array, own: Array) -> Array:
    known = np.isfinite(load) & np.isfinite(own)
    centred = load - load[known].mean()
    variance = (centred[known] ** 2).mean()
    mean = own[known].mean()
    slope = (centred[known] * (own[known] - mean)).mean() / variance if variance > 0 else 0.0
    return np.asarray(np.maximum(mean + slope * centred, 0.1 * mean))


def accuse(rule: Rule, seconds: Array) -> list[Verdict]:
    """A slow_compute verdict on every worker that the rule flags in at least one interval."""
    starts = range(0, len(seconds) - INTERVAL + 1, INTERVAL)
    flagged: dict[int, int] = {}
    for start in starts:
        rows = seconds[start : start + INTERVAL]
        known = np.isfinite(rows).any(axis=0)
        middle = np.full(rows.shape[1], np.nan)
        if known.any():
            middle[known] = np.nanmedian(rows[:, known], axis=0)
            with np.errstate(invalid="ignore"):
                for worker in np.flatnonzero(rule(middle)).tolist():
                    flagged.setdefault(worker, start)
    return [Verdict("slow_compute", worker, np.nan, np.nan, first, rule.__name__) for worker, first in flagged.items()]
