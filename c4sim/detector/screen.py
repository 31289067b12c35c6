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
from c4sim.detector.robust import median, median_along
from c4sim.detector.variogram import noise_variance

Array = NDArray[Any]

#: Shifts that are tested, in standard deviations.
SHIFTS = np.array([0.75, 1.5, 4.0], dtype=np.float32)
#: Rows over which the own level follows; ramps of a few hundred rows leave it behind.
_FOLLOW = 512.0
#: Rows in the running mean of the amounts of work.
_AMOUNT_ROWS = 8.0
#: No expectation, in seconds, is below this.
_LEAST = np.float32(1e-9)
#: A kind of series is its own reference from this many members.
_OWN_REFERENCE = 5


@dataclass
class Screen:
    """State of one family; every array is (K,) unless said, float32.

    Attributes:
        order: series sorted by kind, None where they are. starts: where each kind begins in that order.
        kinds: number of the kind of each series. lines: (3, K) coefficients of the
            amount of work (see ``affine.Lines``), or None.
        level, scale: own level (ratio to the peers) and its long-run standard deviation.
        sums: (3, K) cumulative sums. flaps: sum of the flapping test, or None. gain: its two steps.
        around: running mean of the amounts. buffers: (2, K) scratch, so that a row allocates nothing.
    """

    order: Array | None
    starts: Array
    kinds: Array
    lines: Array | None
    level: Array
    scale: Array
    gain: tuple[float, float] | None
    around: Array
    sums: Array = field(default_factory=lambda: np.zeros(0))
    flaps: Array = field(default_factory=lambda: np.zeros(0))
    buffers: Array = field(default_factory=lambda: np.zeros((2, 0)))

    @classmethod
    def learn(cls, seconds: Array, amount: Array | None, kinds: Array, flapping_links: bool = False) -> Screen:
        """From the first rows (T, K), NaN is no data, with the amounts of work and kinds (K,)."""
        order = None if np.all(kinds[:-1] <= kinds[1:]) else np.argsort(kinds, kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(kinds))]).astype(np.int64)
        lines, ratio = None, seconds
        around = np.zeros(seconds.shape[1])
        if amount is not None:
            fitted, mean = affine.fit(seconds, amount, kinds), affine.moving_mean(amount)
            ratio, around = seconds / fitted.at(amount, mean, kinds), mean[-1]
            lines = np.ascontiguousarray(fitted.coefficients[kinds].T, dtype=np.float32)
        count = seconds.shape[1]
        blank = np.ones(count, dtype=np.float32)
        screen = cls(order, starts, kinds, lines, blank, blank, None, around.astype(np.float32))
        first = median_along(ratio)
        typical = median(first)
        screen.level = np.where(first > 0, first, typical).astype(np.float32)
        relative = (ratio / screen.level).astype(np.float32)
        for row in relative:
            screen._relate(row)
        middle = median_along(relative)
        screen.level *= np.where(middle > 0, middle, 1).astype(np.float32)
        logs = np.log(np.where(relative > 0, relative, np.nan))
        variance, inflation = noise_variance(logs)
        screen.scale = np.sqrt(variance * inflation).astype(np.float32)
        screen.sums = np.zeros((len(SHIFTS), count), dtype=np.float32)
        screen.buffers = np.empty((2, count), dtype=np.float32)
        if flapping_links:
            bad, _ = flapping.bad_rows(logs)
            p0, p1 = flapping.healthy_chance(bad, np.isfinite(logs)), flapping.DUTIES[0]
            screen.gain = float(np.log(p1 / p0)), float(np.log((1 - p1) / (1 - p0)))
            screen.flaps = np.zeros(count, dtype=np.float32)
        return screen

    def update(self, seconds: Array, amount: Array | None) -> float:
        """Take one row (K,); returns the largest sum of all series in nats."""
        z, spare = self.buffers
        if self.lines is not None and amount is not None:
            seconds = seconds / self._expected(np.asarray(amount, dtype=np.float32))
        np.divide(seconds, self.level, out=z, casting="same_kind")
        self._relate(z)
        z -= np.float32(1)
        if np.isnan(z.sum()):
            np.nan_to_num(z, copy=False, nan=0.0)
        self._flap(z)
        z /= self.scale
        np.clip(z, np.float32(-budget.CLIP), np.float32(budget.CLIP), out=z)
        np.multiply(z, self.scale, out=spare)
        spare *= self.level
        spare *= np.float32(1 / _FOLLOW)
        self.level += spare
        for shift, total in zip(SHIFTS, self.sums, strict=True):
            np.subtract(z, shift / 2, out=spare)
            spare *= shift
            total += spare
            np.maximum(total, 0, out=total)
        largest = float(self.sums.max())
        return max(largest, float(self.flaps.max())) if self.gain else largest

    def _expected(self, amount: Array) -> Array:
        """(K,) what the line of each series gives for its amount and its running mean amount."""
        assert self.lines is not None
        known = np.isfinite(amount)
        amount = amount if known.all() else np.where(known, amount, self.around)
        self.around += (amount - self.around) * np.float32(1 / _AMOUNT_ROWS)
        c0, c1, c2 = self.lines
        return np.asarray(np.maximum(c0 + c1 * amount + c2 * self.around, _LEAST))

    def candidates(self, threshold: float) -> Array:
        """(K,) series whose sum exceeds ``threshold`` nats."""
        above = (self.sums > threshold).any(axis=0)
        return np.asarray(above | (self.flaps > threshold) if self.gain else above)

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

    def _relate(self, ratio: Array) -> None:
        """Divide each ratio by what is common in this row to its kind (to all where the kind is small)."""
        sorted_already = self.order is None
        by_kind = ratio if sorted_already else ratio[self.order]
        everybody = None
        for low, high in zip(self.starts[:-1].tolist(), self.starts[1:].tolist(), strict=True):
            if high - low < _OWN_REFERENCE:
                everybody = _middle(ratio) if everybody is None else everybody
                by_kind[low:high] /= everybody
            else:
                by_kind[low:high] /= _middle(by_kind[low:high])
        if not sorted_already:
            ratio[self.order] = by_kind


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
