"""The sequential statistic of the streaming form: one family of series, one row at a time, O(K).

For each series Page's cumulative sum (1954) of the log-likelihood ratio of "shifted by d standard
deviations" against "as before",

    S <- max(0, S + d (min(z, c) - d / 2)),       z = (ratio to the peers / own level - 1) / s,

for a few d, so that small lasting shifts and ramps are found as well as large ones; s is a long-run
standard deviation and c limits what one row can add. S is in nats; a series whose S exceeds ln(m / A)
is a candidate, which the batch tests on the kept rows confirm or not. Links have one more sum, for
bad rows of a flapping link. The own level follows slowly, as healthy parts drift.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from c4sim.detector import affine, budget, flapping
from c4sim.detector.affine import Lines
from c4sim.detector.robust import median, median_along
from c4sim.detector.variogram import noise_variance

Array = NDArray[Any]

#: Shifts that are tested, in standard deviations.
SHIFTS = np.array([0.75, 1.5, 4.0], dtype=np.float32)
#: Rows over which the own level follows; ramps of a few hundred rows leave it behind.
_FOLLOW = 512.0
#: Rows in the running mean of the amounts of work.
_AMOUNT_ROWS = 8.0
#: A kind of series is its own reference from this many members.
_OWN_REFERENCE = 5


@dataclass
class Screen:
    """State of one family; every array is (K,) unless said, float32.

    Attributes:
        order, starts: series sorted by kind, and where each kind begins (its own reference).
        kinds: number of the kind of each series. lines: what the amount of work explains, or None.
        level, scale: own level (ratio to the peers) and its long-run standard deviation.
        sums: (3, K) cumulative sums. flaps: sum of the flapping test, or None. gain: its two steps.
        around: running mean of the amounts.
    """

    order: Array
    starts: Array
    kinds: Array
    lines: Lines | None
    level: Array
    scale: Array
    gain: tuple[float, float] | None
    around: Array
    sums: Array = field(default_factory=lambda: np.zeros(0))
    flaps: Array = field(default_factory=lambda: np.zeros(0))

    @classmethod
    def learn(cls, seconds: Array, amount: Array | None, kinds: Array, flapping_links: bool = False) -> Screen:
        """From the first rows (T, K), NaN is no data, with the amounts of work and kinds (K,)."""
        order = np.argsort(kinds, kind="stable").astype(np.int32)
        starts = np.concatenate([[0], np.cumsum(np.bincount(kinds))]).astype(np.int64)
        lines, ratio = None, seconds
        around = np.zeros(seconds.shape[1])
        if amount is not None:
            lines, mean = affine.fit(seconds, amount, kinds), affine.moving_mean(amount)
            ratio, around = seconds / lines.at(amount, mean, kinds), mean[-1]
        count = seconds.shape[1]
        blank = np.ones(count, dtype=np.float32)
        screen = cls(order, starts, kinds, lines, blank, blank, None, around)
        first = median_along(ratio)
        typical = median(first)
        screen.level = np.where(first > 0, first, typical).astype(np.float32)
        relative = np.stack([row / screen._reference(row) for row in (ratio / screen.level).astype(np.float32)])
        middle = median_along(relative)
        screen.level *= np.where(middle > 0, middle, 1).astype(np.float32)
        logs = np.log(np.where(relative > 0, relative, np.nan))
        variance, inflation = noise_variance(logs)
        screen.scale = np.sqrt(variance * inflation).astype(np.float32)
        screen.sums = np.zeros((len(SHIFTS), count), dtype=np.float32)
        if flapping_links:
            bad, _ = flapping.bad_rows(logs)
            p0, p1 = flapping.healthy_chance(bad, np.isfinite(logs)), flapping.DUTIES[0]
            screen.gain = float(np.log(p1 / p0)), float(np.log((1 - p1) / (1 - p0)))
            screen.flaps = np.zeros(count, dtype=np.float32)
        return screen

    def update(self, seconds: Array, amount: Array | None) -> float:
        """Take one row (K,); returns the largest sum of all series in nats."""
        ratio = np.asarray(seconds, dtype=np.float32)
        if self.lines is not None and amount is not None:
            self.around += np.nan_to_num(amount - self.around) / _AMOUNT_ROWS
            ratio = (ratio / self.lines.at(amount, self.around, self.kinds)).astype(np.float32)
        ratio = ratio / self.level
        ratio /= self._reference(ratio)
        z = ratio - np.float32(1)
        if np.isnan(z.sum()):
            np.nan_to_num(z, copy=False, nan=0.0)
        self._flap(z)
        np.clip(z, -budget.CLIP * self.scale, budget.CLIP * self.scale, out=z)
        self.level += z * self.level * np.float32(1 / _FOLLOW)
        z /= self.scale
        for shift, total in zip(SHIFTS, self.sums, strict=True):
            total += shift * (z - shift / 2)
            np.maximum(total, 0, out=total)
        largest = float(self.sums.max())
        return max(largest, float(self.flaps.max())) if self.gain else largest

    def candidates(self, threshold: float) -> Array:
        """(K,) series whose sum exceeds ``threshold`` nats."""
        above = (self.sums > threshold).any(axis=0)
        return above | (self.flaps > threshold) if self.gain else above

    def reset(self, series: Array) -> None:
        """Begin anew for some series (K,) bool: they were reported, or could not be confirmed."""
        self.sums[:, series] = 0
        if self.gain:
            self.flaps[series] = 0

    def _flap(self, z: Array) -> None:
        if self.gain is None:
            return
        bad = z > np.maximum(budget.FLAP_FACTOR - 1, budget.FLAP_SIGMA * self.scale)
        self.flaps += np.where(bad, np.float32(self.gain[0]), np.float32(self.gain[1]))
        np.maximum(self.flaps, 0, out=self.flaps)

    def _reference(self, ratio: Array) -> Array:
        """What is common in this row to a series' kind (to all where the kind is small)."""
        by_kind = ratio[self.order]
        common = np.empty(len(self.starts) - 1, dtype=np.float32)
        everybody = None
        for kind in range(len(common)):
            part = by_kind[self.starts[kind] : self.starts[kind + 1]]
            if len(part) < _OWN_REFERENCE:
                everybody = _middle(ratio) if everybody is None else everybody
                common[kind] = everybody
            else:
                common[kind] = _middle(part)
        return common[0] if len(common) == 1 else common[self.kinds]


def _middle(values: Array) -> np.float32:
    """Median by selection; NaN are left out, 1 where nothing is known."""
    if np.isnan(values.sum()):
        values = values[np.isfinite(values)]
    if not len(values):
        return np.float32(1)
    half = len(values) // 2
    if len(values) % 2:
        return np.float32(np.partition(values, half)[half])
    pair = np.partition(values, (half - 1, half))
    return np.float32((pair[half - 1] + pair[half]) / 2)
