"""A link that is bad in a part of the steps: which median and mean both miss.

A row of an edge is bad when its delay is far above the edge's own quiet level. With p0 the chance of a
bad row on a healthy edge, estimated from all edges, the statistic is the best run of

    sum over rows of  ln(p1 / p0) if bad, else ln((1 - p1) / (1 - p0)),

Page's cumulative sum of a Bernoulli variable, for several p1; it is in nats like the other tests.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from c4sim.detector import budget
from c4sim.detector.robust import median, quantile_along
from c4sim.detector.variogram import noise_variance

Array = NDArray[Any]
#: Duty cycles that a flapping link is tested for.
DUTIES = (0.1, 0.25, 0.5)
#: The quiet level: a quantile that a duty of up to 50 % does not reach.
_QUIET = 0.3
#: A series' own noise is believed up to this many times the median variance: flaps look like noise.
_NOISIER = 4.0
#: Share of edges whose bad rows are left out of p0: faults must not hide themselves.
_TRIM = 0.05
#: A run is broken up in this many separate bursts, or has as many bad rows as ten.
_MANY = 10


@dataclass(frozen=True)
class Bursts:
    """(K,) whether a series flaps, log factor of its bad rows, score, first bad row."""

    found: Array
    effect: Array
    score: Array
    first: Array


def bad_rows(y: Array) -> tuple[Array, Array]:
    """(T, K) which rows are bad, and (T, K) log factor above the series' own quiet level."""
    variance, _ = noise_variance(y)
    variance = np.minimum(variance, _NOISIER * median(variance))
    excess = y - quantile_along(y, _QUIET)
    with np.errstate(invalid="ignore"):
        return excess > np.maximum(np.log(budget.FLAP_FACTOR), budget.FLAP_SIGMA * np.sqrt(variance)), excess


def healthy_chance(bad: Array, valid: Array) -> float:
    """Chance of a bad row on a healthy series: the pooled rate without the worst series."""
    rate = np.sort(bad.sum(axis=0) / np.maximum(valid.sum(axis=0), 1))
    kept = rate[: max(1, int(np.floor(len(rate) * (1 - _TRIM))) - 1)]
    return float(np.clip(kept.mean(), budget.FLAP_FLOOR, DUTIES[0] / 2))


def bursts(y: Array, threshold: float) -> Bursts:
    """Series of (T, K) log ratios ``y`` with more bad rows than chance makes; nats ``threshold``."""
    bad, excess = bad_rows(y)
    valid = np.isfinite(y)
    p0 = healthy_chance(bad, valid)
    nats = np.zeros(y.shape[1])
    for p1 in DUTIES:
        gain = np.where(valid, np.where(bad, np.log(p1 / p0), np.log((1 - p1) / (1 - p0))), 0.0)
        nats = np.maximum(nats, _best_run(gain))
    starts = (bad & ~np.vstack([np.zeros((1, y.shape[1]), bool), bad[:-1]])).sum(axis=0)
    number = bad.sum(axis=0)
    several = ((starts >= 2) & (number >= budget.FLAP_STEPS)) | (number >= _MANY)
    found = (nats > threshold) & several
    effect = np.zeros(y.shape[1])
    for k in np.flatnonzero(found):
        effect[k] = np.median(excess[bad[:, k], k])
    return Bursts(found, effect, nats / threshold, bad.argmax(axis=0))


def _best_run(gain: Array) -> Array:
    """(K,) largest sum over consecutive rows of each column."""
    total = np.zeros(gain.shape[1])
    best = np.zeros(gain.shape[1])
    for row in gain:
        total = np.maximum(total + row, 0.0)
        np.maximum(best, total, out=best)
    return best
