"""A stopped job: who never came, whose connection does not move, who only waits.

Numbers of operations are compared inside one group only, and only in a job that has stopped: none of
them moves over at least two samples and no step completes. Who is behind in *started* and waits for
nobody is the culprit (noncomm_hang); who is behind but waits itself, in an operation or for a message,
is a victim, and its culprit sits in another group. When all who wait did start, a connection does not
move: the edge without bytes on which the wait began first (comm_hang). Who is behind in *completed*
is named as well: an operation that completed elsewhere cannot wait for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from c4sim.detector.grouping import codes
from c4sim.detector.telemetry import Telemetry

Array = NDArray[Any]
#: Samples without any progress before a job counts as stopped.
STOPPED_ROWS = 2
#: Waits that began within this share of a step of each other began together.
_TOGETHER = 0.03


@dataclass(frozen=True)
class Hang:
    """Who hangs; ``edge`` is a column of the edge list, or -1 where ``worker`` is named."""

    kind: str
    worker: int
    edge: int
    reason: str


@dataclass(frozen=True)
class Stop:
    """A stopped job.

    Attributes:
        first: first row without progress. rows: number of such rows.
        hangs: the culprits; empty when nobody can be named.
        waiting: (N,) workers that wait in an operation or for a message.
        seconds: longest open wait, or the rows in steps; None where neither is known.
    """

    first: int
    rows: int
    hangs: tuple[Hang, ...]
    waiting: Array
    seconds: float | None


@dataclass(frozen=True)
class _Numbers:
    """Numbers of the stopped rows: member's worker and group code, largest seen, NaN if none."""

    worker: Array
    group: Array
    groups: int
    started: Array
    done: Array


def judge(telemetry: Telemetry, step_s: float | None) -> Stop | None:
    """The stop at the end of the telemetry and its culprits; None when the job runs.

    ``step_s``: seconds between rows, None where nothing tells.
    """
    first = stopped_since(telemetry)
    if first is None:
        return None
    rows = telemetry.n_steps - first
    numbers = _numbers(telemetry, first)
    waits = _open_waits(telemetry, first)
    waiting = _waiting_workers(telemetry, numbers, waits)
    if not waiting.any():
        return None
    seconds = max(float(waits.max(initial=0.0)), rows * (step_s or 0.0)) or None
    edges = _stuck_edges(telemetry, first, waits, step_s or 0.0)
    culprits = _never_came(telemetry, first, numbers, waiting)
    culprits += _behind_in_done(telemetry, numbers, edges, {hang.worker for hang in culprits})
    if not culprits and edges:
        culprits = _silent_sender(telemetry, edges, numbers, waiting) or [_stuck(telemetry, edges[0])]
    return Stop(first, rows, tuple(culprits), waiting, seconds)


def stopped_since(telemetry: Telemetry) -> int | None:
    """First row of the stop: no step completes and no number moves until the end.

    Rows of a save or an evaluation do not count towards it: no collective need move in them.
    """
    started, done, step = telemetry.op_started, telemetry.op_done, telemetry.step_time_s
    if started is None and done is None and telemetry.wait_s is None:
        return None
    first = 0
    if step is not None:
        finite = np.flatnonzero(np.isfinite(step))
        first = int(finite[-1]) + 1 if finite.size else 0
    for array in (started, done):
        if array is not None:
            first = max(first, _constant_since(array))
    if step is None and started is None and done is None:
        return None
    training = telemetry.n_steps - first
    if telemetry.phase is not None:
        training = int((telemetry.phase[first:] == "train").sum())
    return first if training >= STOPPED_ROWS else None


def _constant_since(numbers: Array) -> int:
    """First row of the run at the end in which no number grows (NaN: no news)."""
    last = np.fmax.reduce(numbers, axis=0)
    with np.errstate(invalid="ignore"):
        grows_later = (numbers < last).any(axis=1)
    rows = np.flatnonzero(grows_later)
    return int(rows[-1]) + 1 if rows.size else 0


def _numbers(telemetry: Telemetry, first: int) -> _Numbers | None:
    """What each member last reported since the stop; fields that are missing stand in for each other."""
    started, done = telemetry.op_started, telemetry.op_done
    if started is None and done is None:
        return None
    started = done if started is None else started
    done = started if done is None else done
    assert started is not None
    assert done is not None
    if telemetry.member_worker is not None:
        worker, labels = telemetry.member_worker, telemetry.member_group
    else:
        worker = np.arange(telemetry.n_workers)
        labels = np.zeros_like(worker) if telemetry.group is None else telemetry.group
    assert labels is not None
    group, count = codes(labels)
    latest = [np.fmax.reduce(array[first:], axis=0) for array in (started, done)]
    return _Numbers(worker, group, count, *latest)


def _open_waits(telemetry: Telemetry, first: int) -> Array:
    """(E,) seconds that each edge's receiver has waited at the end; 0 for what is not open.

    A wait that did not report in the last rows went on: it has grown by what the other open waits grew by.
    """
    wait = telemetry.wait_s
    if wait is None:
        return np.zeros(telemetry.n_edges)
    rows = wait[first:]
    steps, seen = len(rows), np.isfinite(rows)
    latest = steps - 1 - seen[::-1].argmax(axis=0)
    last = np.where(seen.any(axis=0), np.nan_to_num(rows).max(axis=0), 0.0)
    still = (last > np.nan_to_num(rows[0])) | (steps == 1)
    if steps > 1 and still.any():
        growth = np.diff(rows[:, still], axis=0)
        pace = np.median(growth[np.isfinite(growth)]) if np.isfinite(growth).any() else 0.0
        last = last + pace * (steps - 1 - latest)
    return np.where(still & (last > 0.0), last, 0.0)


def _waiting_workers(telemetry: Telemetry, numbers: _Numbers | None, waits: Array) -> Array:
    waiting = np.zeros(telemetry.n_workers, dtype=bool)
    if numbers is not None:
        with np.errstate(invalid="ignore"):
            waiting[numbers.worker[numbers.started > numbers.done]] = True
    if telemetry.edge_dst is not None:
        waiting[telemetry.edge_dst[waits > 0]] = True
    return waiting


def _group_lead(numbers: _Numbers, values: Array) -> Array:
    """(M,) by how much the furthest member of the group is ahead; NaN without data."""
    lead = np.full(numbers.groups, -np.inf)
    np.fmax.at(lead, numbers.group, values)
    return np.asarray(lead[numbers.group] - values)


def _never_came(telemetry: Telemetry, first: int, numbers: _Numbers | None, waiting: Array) -> list[Hang]:
    """Behind in started and waiting for nobody."""
    if numbers is None:
        return []
    with np.errstate(invalid="ignore"):
        members = (_group_lead(numbers, numbers.started) > 0) & ~waiting[numbers.worker]
    workers = np.unique(numbers.worker[members])
    seen = ~_blind(telemetry, first)[workers]
    chosen = workers[seen] if seen.any() else workers
    reason = "never started the operation that its group waits in, and waits for nobody itself"
    return [Hang("noncomm_hang", worker, -1, reason) for worker in chosen.tolist()]


def _blind(telemetry: Telemetry, first: int) -> Array:
    """(N,) workers with an incoming edge that reports no wait: they may wait unseen."""
    blind = np.zeros(telemetry.n_workers, dtype=bool)
    if telemetry.wait_s is not None and telemetry.edge_dst is not None:
        silent = np.isnan(telemetry.wait_s[first:]).all(axis=0)
        blind[telemetry.edge_dst[silent]] = True
    return blind


def _behind_in_done(telemetry: Telemetry, numbers: _Numbers | None, edges: list[int], known: set[int]) -> list[Hang]:
    """Members that did not complete what others of the group completed; their stuck edge if there is one."""
    if numbers is None:
        return []
    with np.errstate(invalid="ignore"):
        late = np.flatnonzero(_group_lead(numbers, numbers.done) > 0)
    found = []
    for worker in sorted(set(numbers.worker[late].tolist()) - known):
        incoming = [edge for edge in edges if telemetry.edge_dst is not None and telemetry.edge_dst[edge] == worker]
        if incoming:
            found.append(_stuck(telemetry, incoming[0]))
        else:
            reason = "did not complete an operation that others of its group completed"
            found.append(Hang("comm_hang", worker, -1, reason))
    return found


def _stuck_edges(telemetry: Telemetry, first: int, waits: Array, step_s: float) -> list[int]:
    """Edges on which nothing moved although their sender waits for nothing older, longest wait first.

    Bytes of the first stopped row count: later nothing moves anywhere. A sender that waits itself, but
    on an edge that has moved, is a member of the same ring; one that waits for nobody comes first. Edges
    known to have moved nothing come before those that did not report; of these none is named if they have
    several senders.
    """
    src, dst = telemetry.edge_src, telemetry.edge_dst
    if src is None or dst is None:
        return []
    still, known = waits > 0, np.zeros(len(waits), dtype=bool)
    if telemetry.bytes is not None:
        still &= ~(telemetry.bytes[first] > 0)
        known = still & (telemetry.bytes[first] == 0)
    margin = _TOGETHER * step_s

    def sender_waits(on: Array) -> Array:
        return _longest_incoming(telemetry, np.where(on, waits, 0.0))[src]

    # A wait of the sender that began together with this one, on an edge that did not report, is the same ring's.
    roots = known & (sender_waits(known) < waits - margin) & (sender_waits(still & ~known) <= waits + margin)
    if not roots.any():
        roots = still & (sender_waits(still) < waits - margin)
    strict = roots & (_longest_incoming(telemetry, waits)[src] < waits - margin)
    chosen = np.flatnonzero(strict if strict.any() else roots)
    if telemetry.bytes is not None and not known[chosen].any() and len(set(src[chosen].tolist())) > 1:
        return []
    return sorted(chosen.tolist(), key=lambda edge: -waits[edge])


def _longest_incoming(telemetry: Telemetry, waits: Array) -> Array:
    """(N,) longest wait on an edge to each worker."""
    longest = np.zeros(telemetry.n_workers)
    assert telemetry.edge_dst is not None
    np.maximum.at(longest, telemetry.edge_dst, waits)
    return longest


def _silent_sender(telemetry: Telemetry, edges: list[int], numbers: _Numbers | None, waiting: Array) -> list[Hang]:
    """A sender that waits for nobody, feeds none of several receivers, and that no number vouches for."""
    assert telemetry.edge_src is not None
    sender = int(telemetry.edge_src[edges[0]])
    vouched = False
    if numbers is not None:
        shared = np.bincount(numbers.group[np.isfinite(numbers.started)], minlength=numbers.groups) > 1
        vouched = bool((shared[numbers.group] & (numbers.worker == sender)).any())
    several = np.count_nonzero(telemetry.edge_src[edges] == sender) > 1
    if waiting[sender] or vouched or not several:
        return []
    return [Hang("noncomm_hang", sender, -1, "sends to none of those that wait for it, and waits for nobody itself")]


def _stuck(telemetry: Telemetry, edge: int) -> Hang:
    assert telemetry.edge_dst is not None
    reason = "its receiver waits and no byte moves, while both ends started the operation"
    return Hang("comm_hang", int(telemetry.edge_dst[edge]), edge, reason)
