"""A job that stops: who is stuck, who waits for it, and what the telemetry shows from then on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from c4sim.synthetic import noise
from c4sim.synthetic.barriers import FORWARD, MICRO, Timing
from c4sim.synthetic.counters import TP_OPS, Counters
from c4sim.synthetic.draft import FIRST, Draft
from c4sim.synthetic.faults import Site
from c4sim.synthetic.layout import Layout
from c4sim.synthetic.truth import EntityType, Fault

Array = NDArray[Any]
#: The names of the stops, beside those of the slow parts.
STOPS = ("comm_hang", "noncomm_hang")
#: Share of the pipelined jobs' communication hangs that are in the pipeline.
IN_PIPELINE = 0.3


@dataclass
class Stop:
    """What the row of the stop leaves open, (E,) each; filled by the functions below.

    Attributes:
        row: the first row that does not complete.
        moved: share of its bytes that an edge delivered in that row.
        since: when, in seconds since the start of that row, the receiver of a message that
            never completes became ready; NaN where nobody waits.
    """

    row: int
    moved: Array
    since: Array


def plan(kind: str, site: Site) -> tuple[Fault, int | None]:
    """Choose the culprit; returns its record and the stuck edge, if it is one."""
    draft = site.draft
    rows = np.arange(max(draft.onset, FIRST), draft.steps)
    row = int(rows[draft.trains[rows]][0])
    edge = None
    workers: tuple[int, ...] = site.take(site.worker())
    if kind == "comm_hang":
        edge = _stuck_edge(site)
        workers = (int(draft.layout.src[edge]), int(draft.layout.dst[edge]))
    others = tuple(worker for worker in range(draft.layout.n) if worker not in workers)
    bad = tuple(range(row, draft.steps))
    entity: EntityType = "worker" if edge is None else "edge"
    fault = Fault(kind, entity, workers, workers, 0.0, row, bad, others, "stop")
    return fault, edge


def _stuck_edge(site: Site) -> int:
    layout = site.draft.layout
    share = IN_PIPELINE if layout.pp > 1 else 0.0
    pipeline = layout.dp == 1 or noise.chance(site.draft.rng, share)
    return site.stuck("forward" if pipeline else "dp")


def stop(
    draft: Draft,
    fault: Fault,
    edge: int | None,
    timing: Timing,
    input_s: Array,
    ring: bool,
    counters: Counters,
) -> Stop:
    """Work out the row of the stop and hold the counters (in place) where they then stay."""
    layout, row = draft.layout, fault.first_step
    edges = layout.src.size
    state = Stop(row, np.ones(edges), np.full(edges, np.nan))
    counters.started[row - 1] = counters.done[row - 1]
    for array in (counters.started, counters.done):
        array[row:] = counters.done[row - 1]
    if edge is not None and edge < layout.edges["dp"].stop:
        _exchange_stuck(layout, edge, timing, ring, counters, state)
    else:
        blocked = fault.workers[-1]
        _replica_stuck(layout, blocked, edge, timing, input_s, ring, state)
        _count_stuck_replica(layout, blocked, row, counters)
    return state


def _exchange_stuck(layout: Layout, edge: int, timing: Timing, ring: bool, counters: Counters, state: Stop) -> None:
    """A message of the gradient exchange does not arrive: a ring stops, direct peers go on."""
    row, part = state.row, layout.edges["dp"]
    group = layout.dp_group[layout.dst[edge]]
    in_group = np.zeros(layout.src.size, dtype=bool)
    in_group[part] = layout.dp_group[layout.dst[part]] == group
    stuck = in_group if ring else np.arange(layout.src.size) == edge
    state.moved[stuck] = 1 / layout.dp
    state.moved[edge] = 0
    state.since[stuck] = timing.arrival_s[row, layout.dst[stuck]]
    open_member = layout.dp_group == group if ring else np.arange(layout.n) == layout.dst[edge]
    for name in counters.part:
        started, done = counters.family(name)
        whole = TP_OPS if name == "tp" else 1
        if name == "all":
            started[row:, ~open_member] += whole
        else:
            started[row:] += whole
            done[row:] += whole * (1 if name == "tp" else ~open_member)


def _replica_stuck(
    layout: Layout,
    blocked: int,
    edge: int | None,
    timing: Timing,
    input_s: Array,
    ring: bool,
    state: Stop,
) -> None:
    """A worker computes for ever, or waits for a pipeline message: its replica stops around it."""
    row, stage = state.row, layout.stage[blocked]
    src, dst = layout.src, layout.dst
    inside = layout.replica[dst] == layout.replica[blocked]
    where = layout.stage[dst]
    ready = input_s[row, dst]

    part = _only(layout, "forward") & inside
    state.moved[part & (where == stage)] = 1 / MICRO
    state.moved[part & (where > stage)] = 0
    _open(state, part & (where > stage), ready)
    if edge is not None:
        state.moved[edge] = 0
        _open(state, np.arange(src.size) == edge, ready)

    part = _only(layout, "backward") & inside
    state.moved[part] = 0
    after_forward = timing.forward_s[row, where, layout.replica[dst]]
    _open(state, part & (where < stage), after_forward)

    part = _only(layout, "tp") & inside
    state.moved[part & (where < stage)] = FORWARD
    state.moved[part & (where > stage)] = 0
    here = part & (where == stage)
    state.moved[here] = np.where(src[here] == blocked, 0, 0.01)
    _open(state, here & (dst != blocked), ready)

    _waiting_replicas(layout, blocked, timing, ring, state)


def _waiting_replicas(layout: Layout, blocked: int, timing: Timing, ring: bool, state: Stop) -> None:
    """The other replicas reach the gradient exchange and wait there for the blocked one."""
    dp = _only(layout, "dp")
    replica = layout.replica[blocked]
    silent, absent = layout.replica[layout.src] == replica, layout.replica[layout.dst] == replica
    if ring:
        state.moved[dp] = 1 / layout.dp
    state.moved[dp & (silent | absent)] = 0
    open_edges = dp & ~absent & (silent | ring)
    _open(state, open_edges, timing.arrival_s[state.row, layout.dst])


def _count_stuck_replica(layout: Layout, blocked: int, row: int, counters: Counters) -> None:
    inside = layout.replica == layout.replica[blocked]
    started, _ = counters.family("dp")
    started[row:, ~inside] += 1
    if "tp" not in counters.part:
        return
    started, done = counters.family("tp")
    before = inside & (layout.stage < layout.stage[blocked])
    ops = TP_OPS * ~inside + MICRO * before
    peers = inside & (layout.stage == layout.stage[blocked]) & (np.arange(layout.n) != blocked)
    done[row:] += ops
    started[row:] += ops + peers


def stopped_rows(state: Stop, interval_s: float, bytes_: Array, wait: Array) -> None:
    """Write the rows of the stop into (T, E) ``bytes_`` and ``wait``, polled every interval_s."""
    row = state.row
    bytes_[row] *= state.moved
    bytes_[row + 1 :] = 0
    closed = state.moved == 1
    wait[row, ~closed] = 0
    wait[row + 1 :] = 0
    waits = np.isfinite(state.since)
    elapsed = interval_s * np.arange(1, len(wait) - row + 1)
    wait[row:, waits] = np.maximum(elapsed[:, None] - state.since[waits], 0)


def _only(layout: Layout, name: str) -> Array:
    mask = np.zeros(layout.src.size, dtype=bool)
    mask[layout.edges[name]] = True
    return mask


def _open(state: Stop, mask: Array, since: Array) -> None:
    state.since[mask] = since[mask]
