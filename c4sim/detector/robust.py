"""Exact medians and MADs of many short series at once, NaN as missing.

NumPy sorts short contiguous rows of floats with vector instructions, several times faster than it selects;
so a median is a sort, and a MAD a second one. Blocks that fit the cache are transposed, sorted and
overwritten, so either memory layout costs about the same and the extra memory is a few blocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

#: MAD -> standard deviation of a normal variable: 1 / Phi^-1(3/4).
NORMAL_MAD = 1.482602218505602
#: Series in one block: 2,048 x 64 float32 are 512 kB, inside a core's second-level cache.
_BLOCK = 2048


def median_mad(x: Array, axis: int = 0) -> tuple[Array, Array]:
    """Median and median absolute deviation along ``axis`` of a 2-D array, ignoring NaN.

    Args:
        x: (T, N) with ``axis=0`` or (N, T) with ``axis=1``.

    Returns:
        Two (N,) arrays in the dtype of ``x``; NaN where a series has no value.
    """
    count = x.shape[1 - axis]
    median, mad = np.empty(count, x.dtype), np.empty(count, x.dtype)
    for part, block in _sorted_blocks(x, axis):
        median[part] = sorted_median(block)
        block -= median[part, None]
        np.abs(block, out=block)
        block.sort(axis=1)
        mad[part] = sorted_median(block)
    return median, mad


def median_along(x: Array, axis: int = 0) -> Array:
    """Median along ``axis`` of a 2-D array, ignoring NaN; NaN where there is no value."""
    median = np.empty(x.shape[1 - axis], x.dtype)
    for part, block in _sorted_blocks(x, axis):
        median[part] = sorted_median(block)
    return median


def median(x: Array) -> float:
    """Median of all values that are not NaN; NaN if there is none."""
    return float(sorted_median(np.sort(x, axis=None)[None])[0]) if x.size else float("nan")


def quantile_along(x: Array, share: float) -> Array:
    """(N,) lower ``share`` quantile of each column of (T, N) ``x`` (an order statistic)."""
    out = np.empty(x.shape[1], x.dtype)
    for part, block in _sorted_blocks(x, 0):
        rank = np.floor(share * np.maximum(_valid(block) - 1, 0)).astype(np.intp)
        out[part] = np.take_along_axis(block, rank[:, None], axis=1)[:, 0]
    return out


def sorted_median(block: Array) -> Array:
    """Median of each row of an array sorted along its last axis (NaN last)."""
    if block.shape[-1] == 0:
        return np.full(block.shape[:-1], np.nan, block.dtype)
    if not np.isnan(block[..., -1]).any():
        low, high = (block.shape[-1] - 1) // 2, block.shape[-1] // 2
        return np.asarray((block[..., low] + block[..., high]) / 2)
    valid = _valid(block)
    low = np.maximum(valid - 1, 0) // 2
    high = np.where(valid > 0, valid // 2, 0)
    pair = np.take_along_axis(block, np.stack([low, high], axis=-1), axis=-1)
    return np.asarray(pair.mean(axis=-1))


def _valid(block: Array) -> Array:
    return np.asarray(block.shape[-1] - np.isnan(block).sum(axis=-1))


def _sorted_blocks(x: Array, axis: int) -> Iterator[tuple[slice, Array]]:
    series = x if axis == 1 else x.T
    for start in range(0, len(series), _BLOCK):
        block = np.array(series[start : start + _BLOCK], order="C")
        block.sort(axis=1)
        yield slice(start, start + len(block)), block
