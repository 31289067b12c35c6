"""Does a series stand above its peers, or above its own past? Many series at once.

The input of every test is y (T, K): log ratios (or seconds over a step) to the peers, so that what is
common to all is gone. Three statistics in nats, all one-sided:

change   max over splits t of n0 n1 / (n0 + n1) (mean after - mean before)^2 / (2 s^2), the likelihood
         ratio of one change point; s^2 is the long-run variance, y freed of its memory of the row before
         and limited (``without_memory``). A ramp is found by it as well.
history  the same with a known past level in place of the rows before.
level    (nu + 1) / 2 ln(1 + z^2 / nu), Student's likelihood ratio of the series' median among those of
         its peers, z in units of their robust spread, nu = series - groups.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from c4sim.detector import budget
from c4sim.detector.budget import Thresholds
from c4sim.detector.grouping import Groups
from c4sim.detector.robust import NORMAL_MAD, median, median_along
from c4sim.detector.variogram import noise_variance

Array = NDArray[Any]
#: A fall counts from this share of the threshold: falls accuse nobody, they say that load has moved.
_FALL_BAR = 0.5
#: Share of the whole effect that a change inside the window must explain to date it.
_MOSTLY = 0.5
#: Columns that are searched for splits at once, which bounds the memory of wide jobs.
_BLOCK = 2048
#: Rows that the level after a change is read from where a past level is known.
RECENT = 16


@dataclass(frozen=True)
class Limits:
    """Smallest effects of one family of series (against peers, within the window, against a known past)
    and its thresholds in nats.

    ``crowd``: share of a group above which high levels are taken for other work, not for faults; below 1
    where the groups were inferred from the levels.
    """

    thresholds: Thresholds
    level: float
    change: float
    history: float
    noise_floor: float = budget.NOISE_FLOOR
    spread_floor: float = budget.SPREAD_FLOOR
    crowd: float = 1.0


@dataclass(frozen=True)
class Shifts:
    """What was found on each of K series.

    Attributes:
        found: whether the series stands out and keeps doing so.
        effect: size in the units of y (0 where not found).
        score: statistic / threshold of the stronger of the tests.
        first: row of the onset.
        level: (K,) median about the peers' centre; NaN without peers.
        dropped: whether the series fell by as much as would be found as a rise.
        noise: standard deviation of one row of the median series.
        spread: robust standard deviation of the levels among peers.
    """

    found: Array
    effect: Array
    score: Array
    first: Array
    level: Array
    dropped: Array
    noise: float
    spread: float


def shifts(y: Array, peers: Array, limits: Limits, past: Array | None = None) -> Shifts:
    """Test every series.

    Args:
        y: (T, K); NaN is no data.
        peers: (K,) group whose members ought to have one level; -1: no majority, own history only.
        limits: thresholds and smallest effects.
        past: (K,) level that each series had before this window, if known.
    """
    variance, inflation = noise_variance(y, limits.noise_floor)
    centre = median_along(y)
    reach = budget.CLIP * np.sqrt(variance * inflation)
    clipped = np.clip(without_memory(y, inflation), centre - reach, centre + reach)
    rise, fall = _change(y, clipped, variance * inflation, limits)
    level, spread, above = _level(y, centre, peers, variance * inflation, limits)
    tests, fallen = [above, rise], fall.found
    if past is not None:
        tests.append(_history(y, past, variance * inflation, limits, 1.0))
        fallen = fallen | _history(y, past, variance * inflation, limits, -1.0).found
    return _combine(tests, level, fallen, float(np.sqrt(median(variance))), spread)


def without_memory(y: Array, inflation: float) -> Array:
    """(T, K) the same levels in rows that do not remember each other: (y[t] - r y[t-1]) / (1 - r).

    ``inflation`` is the long-run variance over that of a row; an AR(1) has (1 + r) / (1 - r). A level
    shift is left as it is, the variance of a row becomes the long-run one, and a disturbance of any size
    that dies away as the noise does is confined to the row in which it came. The last known row stands
    for one without data.
    """
    memory = (inflation - 1) / (inflation + 1)
    last, rows = y[0], np.array(y, dtype=np.float64)
    for t in range(1, len(y)):
        rows[t] = np.where(np.isfinite(last), (y[t] - memory * last) / (1 - memory), y[t])
        last = np.where(np.isfinite(y[t]), y[t], last)
    return rows


@dataclass(frozen=True)
class _Test:
    found: Array
    effect: Array
    score: Array
    first: Array


def _combine(tests: list[_Test], level: Array, dropped: Array, noise: float, spread: float) -> Shifts:
    """The strongest test that fires gives score and effect; a change that explains most of the effect,
    effect and onset.

    ``tests`` are level, change and, where a past is known, history.
    """
    strength = np.stack([np.where(test.found, test.score, 0.0) for test in tests])
    best, columns = strength.argmax(axis=0), np.arange(strength.shape[1])
    effects = np.stack([test.effect for test in tests])
    change = tests[1]
    dated = change.found & (change.effect >= _MOSTLY * effects[best, columns])
    effect = np.where(dated, change.effect, effects[best, columns])
    first = np.where(dated, change.first, np.stack([test.first for test in tests])[best, columns])
    score = strength.max(axis=0)
    found = score > 0
    return Shifts(found, np.where(found, effect, 0.0), score, np.where(found, first, 0), level, dropped, noise, spread)


def _level(y: Array, centre: Array, peers: Array, variance: Array, limits: Limits) -> tuple[Array, float, _Test]:
    """Level of each series among its peers, their spread, and the test."""
    judged = (peers >= 0) & np.isfinite(centre)
    level = np.full(len(centre), np.nan)
    nothing = _Test(
        np.zeros(len(centre), bool), np.zeros(len(centre)), np.zeros(len(centre)), np.zeros(len(centre), int)
    )
    if not judged.any():
        return level, 0.0, nothing
    groups = int(peers[judged].max()) + 1
    table = Groups.of(peers[judged], groups)
    middle = table.median(centre[judged])
    level[judged] = centre[judged] - middle[peers[judged]]
    members = table.sizes()
    freedom = max(int(members.sum()) - int((members > 0).sum()), 1)
    spread = NORMAL_MAD * median(np.abs(level[judged])) * np.sqrt(members.sum() / freedom)
    spread = max(float(spread), limits.spread_floor)
    rows = np.maximum(np.isfinite(y).sum(axis=0), 1)
    z2 = level**2 / (spread**2 + 1.57 * variance / rows)
    nats = np.where(level > 0, (freedom + 1) / 2 * np.log1p(z2 / freedom), 0.0)
    nats = np.nan_to_num(nats)
    floor = np.full(len(centre), np.nan)
    floor[judged] = middle[peers[judged]]
    with np.errstate(invalid="ignore"):
        lasting = np.nansum(y > floor + level / 2, axis=0) >= budget.PERSISTENCE * rows
        normal = np.zeros(len(centre))
        normal[judged] = _share_near(level[judged], peers[judged], table, spread)
        found = (level >= limits.level) & (nats > limits.thresholds.level) & lasting & (normal > 0.5)
        found[judged] &= ~_crowded(found[judged], peers[judged], table, limits.crowd)
    return level, spread, _Test(found, level, nats / limits.thresholds.level, np.zeros(len(centre), int))


def _crowded(found: Array, peers: Array, table: Groups, crowd: float) -> Array:
    """(K,) whether so many of a series' group were found that they must do other work."""
    share = table.total(found.astype(float)) / np.maximum(table.sizes(), 1)
    number = table.total(found.astype(float))
    return np.asarray(((share > crowd) & (number >= budget.MAJORITY))[peers])


def _share_near(level: Array, peers: Array, table: Groups, spread: float) -> Array:
    """(K,) share of a series' group within three spreads of its centre: is there a majority?"""
    near = table.total((np.abs(level) <= 3 * spread).astype(float)) / np.maximum(table.sizes(), 1)
    return np.asarray(near[peers])


def _change(y: Array, clipped: Array, variance: Array, limits: Limits) -> tuple[_Test, _Test]:
    """The best split of each series, upwards and downwards; a block of columns at a time."""
    rows, count = y.shape
    best, split = np.zeros((2, count)), np.zeros((2, count), dtype=int)
    if rows >= 2 * budget.MIN_ROWS:
        for start in range(0, count, _BLOCK):
            part = slice(start, start + _BLOCK)
            root = _split_roots(clipped[:, part], variance[part])
            columns = np.arange(root.shape[1])
            for side, where in enumerate((root.argmax(axis=0), root.argmin(axis=0))):
                extreme = root[where, columns]
                best[side, part] = np.maximum((1 - 2 * side) * extreme, 0.0) ** 2 / 2
                split[side, part] = where + budget.MIN_ROWS
    rise = _confirm(y, best[0], split[0], limits, 1.0)
    return rise, _confirm(y, best[1] / _FALL_BAR, split[1], limits, -1.0)


def _split_roots(clipped: Array, variance: Array) -> Array:
    """(splits, K) signed root of twice the likelihood ratio of each split; 0 where it has too few rows."""
    valid = np.isfinite(clipped)
    number = np.cumsum(valid, axis=0, dtype=np.float64)
    total = np.cumsum(np.where(valid, clipped, 0.0), axis=0, dtype=np.float64)
    inside = slice(budget.MIN_ROWS - 1, len(clipped) - budget.MIN_ROWS)
    n0, s0 = number[inside], total[inside]
    n1, s1 = number[-1] - n0, total[-1] - s0
    usable = (n0 >= budget.MIN_ROWS) & (n1 >= budget.MIN_ROWS)
    with np.errstate(invalid="ignore", divide="ignore"):
        root = (s1 / n1 - s0 / n0) * np.sqrt(n0 * n1 / ((n0 + n1) * variance))
    return np.where(usable, root, 0.0)


def _confirm(y: Array, nats: Array, split: Array, limits: Limits, sign: float) -> _Test:
    """Effect and persistence of the splits that pass; the others stay at zero."""
    found = nats > limits.thresholds.change
    effect = np.zeros(len(nats))
    for k in np.flatnonzero(found):
        before, after = y[: split[k], k], y[split[k] :, k]
        after = after[np.isfinite(after)]
        base = np.nanmedian(before)
        typical = sign * (np.median(after) - base)
        lasting = np.mean(sign * (after - base) > typical / 2) >= budget.PERSISTENCE
        found[k] = lasting and typical >= limits.change
        # A ramp has its effect at the end; a constant shift has the same all along.
        effect[k] = max(typical, sign * (np.median(after[len(after) // 2 :]) - base))
    return _Test(found, effect, nats / limits.thresholds.change, split)


def _history(y: Array, past: Array, variance: Array, limits: Limits, sign: float) -> _Test:
    """The last rows against the level of the past, upwards or (with the lower bar) downwards."""
    recent = y[-RECENT:]
    rows = np.isfinite(recent).sum(axis=0)
    effect = sign * (median_along(recent) - past)
    nats = np.nan_to_num(np.where(effect > 0, rows * effect**2 / (2 * 1.57 * variance), 0.0))
    nats = nats if sign > 0 else nats / _FALL_BAR
    with np.errstate(invalid="ignore"):
        bad = sign * (recent - past) > effect / 2
        lasting = (bad.sum(axis=0) >= budget.PERSISTENCE * rows) & (rows >= budget.MIN_ROWS)
        found = (nats > limits.thresholds.change) & lasting & (effect >= limits.history)
    first = np.full(len(past), max(len(y) - RECENT, 0))
    return _Test(found, np.nan_to_num(effect), nats / limits.thresholds.change, first)
