"""Transfer times: a slow sender, a slow receiver, a slow or flapping path.

The model is additive in log delay: row (sender) + column (receiver) + cell (edge), on the edge list.
Senders are judged by the median of their outgoing edges in each row, receivers by that of their
incoming ones; what one of them explains is taken from its edges before the edges are judged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from c4sim.detector import budget, flapping
from c4sim.detector.budget import Budget, Thresholds, thresholds
from c4sim.detector.grouping import Groups
from c4sim.detector.ratios import Ratios, log_ratios
from c4sim.detector.series import Limits, Shifts, shifts
from c4sim.detector.telemetry import Telemetry

Array = NDArray[Any]
#: Edges at one end that make the end the culprit instead of its edges.
END_EDGES = 3
#: Share of an end's edges ("most") that must be slow.
_MOST = 0.5


@dataclass(frozen=True)
class Past:
    """Levels that senders, receivers and edges had before the window (log ratios)."""

    sender: Array
    receiver: Array
    edge: Array


@dataclass(frozen=True)
class LinkFinding:
    """One slow sender, receiver or path, by column numbers; see ``Shifts`` for the numbers."""

    kind: str
    index: int
    effect: float
    score: float
    first: int
    edges: tuple[int, ...]


def link_ratios(telemetry: Telemetry) -> Ratios:
    """Log ratios (T, E) of delays to those of the same class of link, bytes taken into account.

    The class is: inside a host or between two, where hosts are given; else the levels decide.
    """
    delay, sent = telemetry.delay_s, telemetry.bytes
    assert delay is not None
    if sent is not None:
        delay = np.where(sent > 0, delay, np.nan)
    return log_ratios(delay, _link_class(telemetry), sent)


def _link_class(telemetry: Telemetry) -> Array | None:
    if telemetry.host is None:
        return None
    crosses = telemetry.host[telemetry.edge_src] != telemetry.host[telemetry.edge_dst]
    return np.unique(crosses, return_inverse=True)[1]


def judge(
    telemetry: Telemetry, ratios: Ratios, step_s: float, allowed: Budget, past: Past | None = None
) -> list[LinkFinding]:
    """Every slow sender, receiver and path of the window, strongest explanation first."""
    n = telemetry.n_workers
    src, dst = telemetry.edge_src, telemetry.edge_dst
    assert src is not None
    assert dst is not None
    needed = thresholds(2 * n + len(src), len(ratios.y), step_s, allowed)
    edge = _test(ratios.y, ratios.peers, needed, past.edge if past else None)
    bursts = flapping.bursts(ratios.y, needed.change)
    slow = edge.found | bursts.found
    ends = [
        _ends("slow_sender", ratios.y, src, n, slow, needed, past.sender if past else None),
        _ends("slow_receiver", ratios.y, dst, n, slow, needed, past.receiver if past else None),
    ]
    found, explained = _take_ends(ends, np.zeros(len(src), dtype=bool))
    for k in np.flatnonzero(slow & ~explained).tolist():
        if edge.found[k]:
            numbers = float(edge.effect[k]), float(edge.score[k]), int(edge.first[k])
        else:
            numbers = float(bursts.effect[k]), float(bursts.score[k]), int(bursts.first[k])
        found.append(LinkFinding("slow_path", k, *numbers, (k,)))
    return found


@dataclass(frozen=True)
class _End:
    kind: str
    keys: Array
    degree: Array
    share: Array
    shifts: Shifts


def end_medians(y: Array, keys: Array, n: int) -> Array:
    """(T, n) median log ratio of the edges at each end, NaN for ends with fewer than three."""
    table = Groups.of(keys, n)
    middle = table.median(y)
    middle[:, table.sizes() < END_EDGES] = np.nan
    return middle


def _ends(kind: str, y: Array, keys: Array, n: int, slow: Array, needed: Thresholds, past: Array | None) -> _End:
    table = Groups.of(keys, n)
    degree = table.sizes()
    share = table.total(slow.astype(float)) / np.maximum(degree, 1)
    middle = end_medians(y, keys, n)
    return _End(kind, keys, degree, share, _test(middle, np.zeros(n, dtype=np.int64), needed, past))


def _test(y: Array, peers: Array, needed: Thresholds, past: Array | None) -> Shifts:
    limits = Limits(needed, budget.MIN_LINK_LEVEL, budget.MIN_LINK_CHANGE)
    return shifts(y, peers, limits, past)


def _take_ends(ends: list[_End], explained: Array) -> tuple[list[LinkFinding], Array]:
    """Accept slow ends, the strongest first; an end whose edges are mostly explained is a victim."""
    candidates = [(float(end.shifts.score[w]), end, int(w)) for end in ends for w in np.flatnonzero(end.shifts.found)]
    found = []
    for score, end, worker in sorted(candidates, key=lambda item: -item[0]):
        edges = np.flatnonzero(end.keys == worker)
        if np.mean(explained[edges]) > _MOST:
            continue
        explained[edges] = True
        effect, first = float(end.shifts.effect[worker]), int(end.shifts.first[worker])
        found.append(LinkFinding(end.kind, worker, effect, score, first, tuple(edges.tolist())))
    return found, explained
