"""Who waits because of a culprit: never blamed, but listed with the verdict that explains them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from c4sim.detector.grouping import Groups
from c4sim.detector.telemetry import Telemetry

Array = NDArray[Any]
#: A victim waits longer by this share of the worst added wait ...
_SHARE = 0.1
#: ... and by this share of a step.
_OF_STEP = 0.01


def added_wait(telemetry: Telemetry, first: int, step_s: float) -> Array:
    """(N,) seconds by which each worker waits longer per row than it did, or than its like.

    The change since row ``first`` where there are rows before it, else the difference to the least
    waiting edge of the same pair of roles (to the least waiting worker without edges).
    """
    waits = _own_waits(telemetry)
    if waits is None:
        return np.zeros(telemetry.n_workers)
    values, owner, kind = waits
    since = values[first:]
    with np.errstate(invalid="ignore"):
        now = _mean(since)
        before = _mean(values[:first]) if first >= 2 else _least_of_kind(now, kind)[kind]
    added = np.zeros(telemetry.n_workers)
    np.maximum.at(added, owner, np.nan_to_num(now - before))
    return np.where(added > _OF_STEP * step_s, added, 0.0)


def of(added: Array, culprits: Array) -> Array:
    """Columns of the victims among workers with an added wait, the culprits left out."""
    harmed = added > _SHARE * added.max(initial=0.0)
    harmed[culprits] = False
    return np.flatnonzero(harmed)


def _own_waits(telemetry: Telemetry) -> tuple[Array, Array, Array] | None:
    """(T, K) waits, (K,) the worker that waits, (K,) which are comparable."""
    if telemetry.wait_s is not None and telemetry.edge_dst is not None and telemetry.edge_src is not None:
        role = np.zeros(telemetry.n_workers, dtype=np.int64)
        if telemetry.role is not None:
            role = np.unique(telemetry.role, return_inverse=True)[1]
        pair = role[telemetry.edge_src] * (int(role.max()) + 1) + role[telemetry.edge_dst]
        return telemetry.wait_s, telemetry.edge_dst, np.unique(pair, return_inverse=True)[1]
    if telemetry.wall_s is not None and telemetry.compute_s is not None:
        n = telemetry.n_workers
        own = telemetry.compute_s if telemetry.input_s is None else telemetry.compute_s + telemetry.input_s
        return telemetry.wall_s - own, np.arange(n), np.zeros(n, dtype=np.int64)
    return None


def _mean(values: Array) -> Array:
    """Column means without NaN; the median would hide waits in a part of the rows."""
    valid = np.isfinite(values)
    return np.asarray(np.where(valid, values, 0.0).sum(axis=0) / np.maximum(valid.sum(axis=0), 1))


def _least_of_kind(now: Array, kind: Array) -> Array:
    table = Groups.of(kind, int(kind.max()) + 1)
    least = np.full(table.count, np.inf)
    for ids, members in table.blocks:
        least[ids] = now[members].min(axis=1)
    return least
