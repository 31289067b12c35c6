"""Transfer times: a slow sender, a slow receiver, a slow or flapping path.

The model is additive in log delay: row (sender) + column (receiver) + cell (edge), on the edge list.
Senders are judged by the median of their outgoing edges in each row, receivers by that of their
incoming ones; what one of them explains is taken from the list before the rest is judged again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from c4sim.detector import budget, flapping, roles
from c4sim.detector.budget import Budget, Thresholds, thresholds
from c4sim.detector.grouping import Groups
from c4sim.detector.ratios import Ratios, log_ratios
from c4sim.detector.robust import median_along
from c4sim.detector.series import Limits, Shifts, shifts
from c4sim.detector.telemetry import Telemetry

Array = NDArray[Any]
#: Edges at one end that make the end the culprit instead of its edges.
END_EDGES = 3


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

    The class is: inside a host or between two, where hosts are given, and messages of one size where
    sizes cluster; without both the levels decide.
    """
    delay, sent = telemetry.delay_s, telemetry.bytes
    assert delay is not None
    if sent is not None:
        delay = np.where(sent > 0, delay, np.nan)
    assert telemetry.edge_src is not None
    assert telemetry.edge_dst is not None
    return log_ratios(delay, _link_class(telemetry), sent, (telemetry.edge_src, telemetry.edge_dst))


def _link_class(telemetry: Telemetry) -> Array | None:
    if telemetry.host is None and telemetry.bytes is None:
        return None
    kind = np.zeros(telemetry.n_edges, dtype=np.int64)
    if telemetry.host is not None:
        kind += telemetry.host[telemetry.edge_src] != telemetry.host[telemetry.edge_dst]
    if telemetry.bytes is not None:
        with np.errstate(divide="ignore"):
            sizes = np.log(median_along(np.where(telemetry.bytes > 0, telemetry.bytes, np.nan)))
        kind = kind * telemetry.n_edges + roles.infer(sizes)
    return np.unique(kind, return_inverse=True)[1]


def judge(
    telemetry: Telemetry, ratios: Ratios, step_s: float, allowed: Budget, past: Past | None = None
) -> list[LinkFinding]:
    """Every slow sender, receiver and path of the window, strongest explanation first."""
    n = telemetry.n_workers
    src, dst = telemetry.edge_src, telemetry.edge_dst
    assert src is not None
    assert dst is not None
    needed = thresholds(2 * n + len(src), len(ratios.y), step_s, allowed)
    crowd = budget.CROWD if ratios.inferred else 1.0
    edge = _test(ratios.y, ratios.peers, needed, past.edge if past else None, crowd)
    bursts = flapping.bursts(ratios.y, needed.change)
    slow = edge.found | bursts.found
    ends = {"slow_sender": src, "slow_receiver": dst}
    found, explained = _slow_ends(ratios.y, ends, n, needed, past)
    known = np.asarray(np.isfinite(ratios.y).any(axis=0))
    more, also = _ends_of_slow_edges(edge.found & ~explained, known, ends, edge)
    found, explained = found + more, explained | also
    for k in np.flatnonzero(slow & ~explained).tolist():
        if edge.found[k]:
            numbers = float(edge.effect[k]), float(edge.score[k]), int(edge.first[k])
        else:
            numbers = float(bursts.effect[k]), float(bursts.score[k]), int(bursts.first[k])
        found.append(LinkFinding("slow_path", k, *numbers, (k,)))
    return found


def end_medians(y: Array, keys: Array, n: int) -> Array:
    """(T, n) median log ratio of the edges at each end, NaN where fewer than three have data."""
    table = Groups.of(keys, n)
    known = table.total(np.isfinite(y).astype(float))
    return np.where(known >= END_EDGES, table.median(y), np.nan)


def _slow_ends(
    y: Array, ends: dict[str, Array], n: int, needed: Thresholds, past: Past | None
) -> tuple[list[LinkFinding], Array]:
    """Slow senders and receivers, the strongest first, each judged without what was explained before.

    An end whose edges are mostly explained by others has lost its majority and drops out.
    """
    rest, explained = y.copy(), np.zeros(y.shape[1], dtype=bool)
    levels = {"slow_sender": past.sender, "slow_receiver": past.receiver} if past else dict.fromkeys(ends)
    open_ends = {kind: np.ones(n, dtype=bool) for kind in ends}
    found: list[LinkFinding] = []
    while True:
        tests = {
            kind: _test(end_medians(rest, keys, n), np.zeros(n, int), needed, levels[kind])
            for kind, keys in ends.items()
        }
        candidate = _strongest(tests, open_ends)
        if candidate is None:
            return found, explained
        kind, worker = candidate
        open_ends[kind][worker] = False
        edges = np.flatnonzero(ends[kind] == worker)
        if _most_are_slow(rest[:, edges], tests[kind], worker):
            explained[edges], rest[:, edges] = True, np.nan
            found.append(_finding(kind, worker, tests[kind], edges))


def _strongest(tests: dict[str, Shifts], open_ends: dict[str, Array]) -> tuple[str, int] | None:
    """The end with the highest score among those found and not yet decided."""
    scores = {kind: np.where(test.found & open_ends[kind], test.score, 0.0) for kind, test in tests.items()}
    kind = max(scores, key=lambda name: float(scores[name].max(initial=0.0)))
    worker = int(scores[kind].argmax())
    return (kind, worker) if scores[kind][worker] > 0 else None


def _most_are_slow(edges: Array, test: Shifts, worker: int) -> bool:
    """Whether most of an end's edges carry at least half of its effect themselves."""
    first, effect = int(test.first[worker]), float(test.effect[worker])
    rise = median_along(edges[first:]) - (median_along(edges[:first]) if first else 0.0)
    known = np.isfinite(rise)
    return _most(int((rise[known] > effect / 2).sum()), int(known.sum()))


def _most(slow: int, all_edges: int) -> bool:
    """Most of an end's edges, and at least three."""
    return slow >= END_EDGES and slow > all_edges / 2


def _ends_of_slow_edges(
    slow: Array, known: Array, ends: dict[str, Array], edge: Shifts
) -> tuple[list[LinkFinding], Array]:
    """Ends most of whose edges were found slow one by one, with the medians of their findings."""
    found, explained = [], np.zeros(len(slow), dtype=bool)
    for kind, keys in ends.items():
        for worker in np.unique(keys[slow & ~explained]).tolist():
            mine = keys == worker
            edges = np.flatnonzero(mine & slow & ~explained)
            if _most(len(edges), int((mine & known).sum())):
                explained[edges] = True
                effect, score, first = (float(np.median(v[edges])) for v in (edge.effect, edge.score, edge.first))
                found.append(LinkFinding(kind, worker, effect, score, int(first), tuple(edges.tolist())))
    return found, explained


def _finding(kind: str, index: int, test: Shifts, edges: Array) -> LinkFinding:
    numbers = float(test.effect[index]), float(test.score[index]), int(test.first[index])
    return LinkFinding(kind, index, *numbers, tuple(edges.tolist()))


def _test(y: Array, peers: Array, needed: Thresholds, past: Array | None, crowd: float = 1.0) -> Shifts:
    limits = Limits(needed, budget.MIN_LINK_LEVEL, budget.MIN_LINK_CHANGE, budget.MIN_LINK_LEVEL, crowd=crowd)
    return shifts(y, peers, limits, past)
