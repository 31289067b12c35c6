"""Medians of groups of columns: the edges of a sender, of a receiver, the workers of a role."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from c4sim.detector.robust import sorted_median

Array = NDArray[Any]


#: Values gathered and sorted at once: 256 kB of float32 stay in the cache and bound the memory.
_CELLS = 65_536


@dataclass(frozen=True)
class Groups:
    """Members of each group, groups of one size side by side; built once for a topology.

    Attributes:
        count: number of groups G.
        blocks: (ids (g,), members (g, size)) for each size that occurs, int32.
        ordered: whether the columns already come group after group.
    """

    count: int
    blocks: tuple[tuple[Array, Array], ...]
    ordered: bool

    @classmethod
    def of(cls, keys: Array, count: int) -> Groups:
        """Group columns by ``keys`` (K,) in 0..count-1; cost O(K log K), memory 8 bytes a column."""
        order = np.argsort(keys, kind="stable").astype(np.int32)
        sizes = np.bincount(keys, minlength=count)
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        blocks = []
        for size in np.unique(sizes[sizes > 0]).tolist():
            ids = np.flatnonzero(sizes == size)
            members = order[starts[ids][:, None] + np.arange(size)]
            blocks.append((ids.astype(np.int32), members))
        return cls(count, tuple(blocks), bool(np.all(keys[:-1] <= keys[1:])))

    def sizes(self) -> Array:
        """(G,) members of each group."""
        out = np.zeros(self.count, dtype=np.int64)
        for ids, members in self.blocks:
            out[ids] = members.shape[1]
        return out

    def median(self, x: Array) -> Array:
        """(..., G) median of each group's columns of ``x`` (..., K), ignoring NaN; NaN if empty."""
        out = np.full((*x.shape[:-1], self.count), np.nan, x.dtype)
        rows = max(1, x.size // max(x.shape[-1], 1))
        for ids, members in self.blocks:
            step = max(1, _CELLS // (members.shape[1] * rows))
            for start in range(0, len(ids), step):
                values = _gather(x, members[start : start + step], self.ordered)
                values.sort(axis=-1)
                out[..., ids[start : start + step]] = sorted_median(values)
        return out

    def total(self, x: Array) -> Array:
        """(..., G) sum of each group's columns of ``x`` (..., K); 0 if empty."""
        out = np.zeros((*x.shape[:-1], self.count))
        for ids, members in self.blocks:
            out[..., ids] = x[..., members].sum(axis=-1)
        return out


def _gather(x: Array, members: Array, ordered: bool) -> Array:
    """A copy (..., g, size) of the members' columns; neighbouring columns are read in one piece."""
    first, last = int(members[0, 0]), int(members[-1, -1])
    if ordered and last - first + 1 == members.size:
        return x[..., first : last + 1].reshape(*x.shape[:-1], *members.shape).copy()
    return np.asarray(x[..., members])


def codes(labels: Array) -> tuple[Array, int]:
    """Labels -> numbers 0..R-1 in sorted order, and R."""
    values, inverse = np.unique(labels, return_inverse=True)
    return inverse.reshape(labels.shape), len(values)
