"""Who does the same work: the given roles, or levels that several workers share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from c4sim.detector import budget
from c4sim.detector.grouping import Groups
from c4sim.detector.robust import NORMAL_MAD, median

Array = NDArray[Any]
#: Two neighbouring levels this far apart (log) may belong to different work.
_GAP = 0.05
#: ... and more than this many times the usual spread inside a cluster.
_GAP_SPREADS = 4.0


def infer(levels: Array, owners: tuple[Array, ...] = ()) -> Array:
    """(K,) role of each series from its typical log duration, where roles are not given.

    Sorted levels are cut at wide gaps. A piece is a role when it has at least three members and
    1/16 of all; a smaller one belongs to the next role below, as whose slow members it is judged
    (the lowest pieces: to the next above). NaN levels get the largest role. A piece that belongs to
    fewer than three of the ``owners`` (K,) (senders, receivers) is their fault, not a role.
    """
    valid = np.flatnonzero(np.isfinite(levels))
    roles = np.zeros(len(levels), dtype=np.int64)
    if len(valid) < 2 * budget.MAJORITY:
        return roles
    order = valid[np.argsort(levels[valid], kind="stable")]
    gaps = np.diff(levels[order])
    usual = NORMAL_MAD * median(np.abs(levels[valid] - median(levels[valid])))
    width = max(_GAP, min(_GAP_SPREADS * usual, 2 * _GAP))
    piece = np.concatenate([[0], np.cumsum(gaps > width)])
    sizes = np.bincount(piece)
    large = sizes >= max(budget.MAJORITY, budget.CROWD * len(valid))
    for owner in owners:
        large &= [len(np.unique(owner[order[piece == index]])) >= budget.MAJORITY for index in range(len(sizes))]
    if not large.any():
        return roles
    numbered = np.cumsum(large) - 1
    roles[order] = np.maximum(numbered, 0)[piece]
    roles[~np.isfinite(levels)] = np.argmax(np.bincount(roles[order]))
    return roles


def with_majority(roles: Array, known: Array) -> Array:
    """(K,) the role where at least three of its members have data, else -1."""
    count = int(roles.max()) + 1
    members = Groups.of(roles, count).total(known.astype(float))
    return np.where(members[roles] >= budget.MAJORITY, roles, -1)
