"""Sequence numbers of collective operations, as a communication library counts them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from c4sim.synthetic.barriers import MICRO
from c4sim.synthetic.layout import Layout

Array = NDArray[Any]
#: Tensor-parallel operations of one step: one for each micro-batch and direction.
TP_OPS = 2 * MICRO


@dataclass
class Counters:
    """Operations started and completed by each member of each group at the end of each row.

    Attributes:
        worker, group: (M,) the memberships, all of one family after the other.
        part: family (dp, tp, all) -> its part of the memberships.
        started, done: (T, M).
    """

    worker: Array
    group: Array
    part: dict[str, slice]
    started: Array
    done: Array

    def family(self, name: str) -> tuple[Array, Array]:
        """Views of (started, done) of one family, (T, N) in the order of the workers."""
        part = self.part[name]
        return self.started[:, part], self.done[:, part]


def count(layout: Layout, trains: Array, flying: Array) -> Counters:
    """Counters of a job that runs.

    Args:
        layout: where workers stand.
        trains: (T,) whether the row has a gradient exchange (evaluation has not).
        flying: (T, N) whether the worker has an operation in flight when it is sampled.
    """
    tp_group = layout.stage * layout.dp + layout.replica
    families = {"dp": (layout.dp_group, 1, 0)}
    if layout.tp > 1:
        families["tp"] = (tp_group, TP_OPS, MICRO)
    families["all"] = (np.zeros(layout.n, dtype=np.int64), 1, 0)
    groups: list[Array] = []
    done: list[Array] = []
    part: dict[str, slice] = {}
    for index, (name, (members, per_train, per_eval)) in enumerate(families.items()):
        level = np.cumsum(np.where(trains, per_train, per_eval))
        part[name] = slice(index * layout.n, (index + 1) * layout.n)
        groups.append(members + (groups[-1].max() + 1 if groups else 0))
        done.append(np.broadcast_to(level[:, None], (len(trains), layout.n)))
    complete = np.concatenate(done, axis=1).astype(float)
    started = complete.copy()
    started[:, part["dp"]] += flying
    worker = np.tile(np.arange(layout.n), len(families))
    return Counters(worker, np.concatenate(groups), part, started, complete)
