"""Durations -> log ratios to the peers: load, role and whatever is common to all taken out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from c4sim.detector import affine, roles
from c4sim.detector.grouping import Groups
from c4sim.detector.robust import median_along

Array = NDArray[Any]
#: A role's own median is the reference of a row from this many members; below, the whole job's is.
_OWN_REFERENCE = 5


@dataclass(frozen=True)
class Ratios:
    """Log ratios of K series to their peers.

    Attributes:
        y: (T, K) log(duration / expected) without the factor common to the row.
        role: (K,) role numbers, given or inferred.
        peers: (K,) role, or -1 where the role has no majority.
        common: (T,) log factor common to all series, about its median.
        normalised: whether a load took part.
        inferred: whether the roles come from the levels themselves.
    """

    y: Array
    role: Array
    peers: Array
    common: Array
    normalised: bool
    inferred: bool


def log_ratios(duration: Array, role: Array | None, load: Array | None, owners: tuple[Array, ...] = ()) -> Ratios:
    """Compare durations (T, K) with those of peers.

    Args:
        duration: seconds; NaN and 0 are no data.
        role: (K,) numbers of series that do the same work, or None: inferred from the levels.
        load: (T, K) work given, or None.
        owners: (K,) each, who could make series slow together; see ``roles.infer``.
    """
    seconds = np.where(duration > 0, duration, np.nan).astype(np.float64)
    kinds = np.zeros(seconds.shape[1], dtype=np.int64) if role is None else role
    y = np.log(seconds)
    if load is not None:
        y = _without_load(seconds, load, kinds)
    if role is None:
        kinds = roles.infer(median_along(y - _row_factor(y)), owners)
        if load is not None and kinds.max() > 0:
            y = _without_load(seconds, load, kinds)
    common = _row_factor(y)[:, 0]
    known = np.asarray(np.isfinite(y).any(axis=0))
    return Ratios(
        y=y - _reference(y, kinds, common, own=role is not None),
        role=kinds,
        peers=roles.with_majority(kinds, known),
        common=common,
        normalised=load is not None,
        inferred=role is None,
    )


def _without_load(seconds: Array, load: Array, kinds: Array) -> Array:
    """Log of duration over what the load explains; fitted twice, the second time without common factors."""
    first = np.log(seconds / affine.expected(seconds, load, kinds))
    level = seconds / np.exp(_row_factor(first))
    return np.asarray(np.log(seconds / affine.expected(level, load, kinds)))


def _row_factor(y: Array) -> Array:
    """(T, 1) median over the series of what a row is above the series' own median."""
    return median_along(y - median_along(y), axis=1)[:, None]


def _reference(y: Array, role: Array, common: Array, own: bool) -> Array:
    """(T, K) level of the peers in each row: the whole job's, or that of the role if it is large.

    ``own=False`` for inferred roles: series that became slow together may look like a role, and their
    common change is then not to be taken out.
    """
    table = Groups.of(role, int(role.max()) + 1)
    levels = table.median(median_along(y)[None])[0]
    rows = common[:, None] + levels
    if own:
        large = table.sizes() >= _OWN_REFERENCE
        medians = table.median(y)
        rows[:, large] = np.where(np.isfinite(medians[:, large]), medians[:, large], rows[:, large])
    return np.asarray(rows[:, role])
