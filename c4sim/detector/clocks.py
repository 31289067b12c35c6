"""Arrival times by the workers' own clocks: an offset clock, never a straggler.

A worker can really arrive early or late, and then somebody waits. An offset is reported only where the
clocks contradict the waits: a message complete before its sender was ready, or more lateness than a
step has room for. Durations are taken on one clock each, so an offset never makes a straggler.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from c4sim.detector import budget
from c4sim.detector.budget import Thresholds
from c4sim.detector.grouping import Groups
from c4sim.detector.robust import median_along, quantile_along
from c4sim.detector.roles import with_majority
from c4sim.detector.series import Limits, Shifts, shifts
from c4sim.detector.telemetry import Telemetry

Array = NDArray[Any]
#: An offset below this share of a step cannot be told from a late or early worker.
MIN_OFFSET = 0.1
#: Where neither roles nor groups are given, stages arrive at different times of a step, but within one,
#: and their distance can change by a part of it.
UNKNOWN_ROLES, UNKNOWN_CHANGE = 1.0, 0.5
#: Unequal parts of a wait for input that all share.
_UNEQUAL = 0.3
#: Waits bound what is real up to this factor (transfer times are in the waits as well).
_MARGIN = 1.5


def lateness(arrival_s: Array, role: Array) -> tuple[Array, Array]:
    """(T, N) seconds after the peers, by two references: the role's median in the row, and the job's.

    The second takes the usual lateness of a role from the distance to the job's median arrival. A role
    half of whose clocks are off has no majority, and a job that slows down spreads its roles: who is
    off is off by both.
    """
    kinds, inverse = np.unique(role, return_inverse=True)
    table = Groups.of(inverse, len(kinds))
    late = arrival_s - median_along(arrival_s, axis=1)[:, None]
    by_role = table.median(late)
    usual = median_along(by_role)
    return late - by_role[:, inverse], late - usual[inverse]


def judge(
    late: tuple[Array, Array], role: Array, step_s: float, thresholds: Thresholds, least: tuple[float, float]
) -> tuple[Shifts, Array]:
    """Test clocks, both signs, in units of the step; an offset must show by both references.

    Args:
        late: (T, N) seconds after the peers, by two references.
        role: (N,) numbers of the roles.
        least: smallest offset that counts, against the peers and against the past, in steps.

    Returns:
        The tests of |offset|, and (N,) the offsets in seconds (negative: the clock is behind).
    """
    limits = Limits(thresholds, *least, least[0])
    ahead, behind = (_by_both([sign * y / step_s for y in late], role, limits) for sign in (1, -1))
    use_ahead = ahead.effect >= behind.effect
    offset = np.where(use_ahead, ahead.effect, -behind.effect) * step_s

    def of(name: str) -> Array:
        return np.asarray(np.where(use_ahead, getattr(ahead, name), getattr(behind, name)))

    tests = dataclasses.replace(ahead, found=of("found"), effect=of("effect"), score=of("score"), first=of("first"))
    return tests, offset


def _by_both(pair: list[Array], role: Array, limits: Limits) -> Shifts:
    """The tests by the second reference, where those by the first agree."""
    peers = with_majority(role, np.asarray(np.isfinite(pair[0]).any(axis=0)))
    first, second = (shifts(y, peers, limits) for y in pair)
    found = first.found & second.found
    return dataclasses.replace(second, found=found, effect=np.where(found, second.effect, 0.0))


def unexplained(late: Array, telemetry: Telemetry, role: Array, step_s: float) -> Array:
    """(T, N) what of the lateness, by clocks, cannot be real; 0 where it can.

    A message is never complete before its sender is ready. So on an edge inside a role, where both ends
    arrive at the same collective, lateness(sender) - lateness(receiver) is really at most what the receiver
    waits beyond the transfer; what the clocks show beyond that is a lower bound of the clock of the sender
    less that of the receiver. It holds for direct messages and for rings, whatever the load. Without
    such edges, waits at the job's barrier (wall time less own work) or else the length of the step bound
    what is real: everybody leaves a synchronous step together.

    Args:
        late: (T, N) seconds after the peers. role: (N,) numbers of the roles. step_s: length of a step.
    """
    clock, host = np.arange(late.shape[1]), telemetry.host
    if host is not None:
        clock = np.unique(host, return_inverse=True)[1]
        late = Groups.of(clock, int(clock.max()) + 1).median(late)[:, clock]
    ahead, behind = _beyond_waits(telemetry, role, clock)
    surely = np.where(late > 0, np.minimum(late, ahead), np.maximum(late, -behind))
    possible = _possible(telemetry, step_s)
    coarse = np.where(np.abs(late) > possible, late, np.where(np.isfinite(late), 0.0, np.nan))
    bounded = np.isfinite(ahead) | np.isfinite(behind)
    return np.asarray(np.where(bounded.any(axis=0), surely, coarse))


def _beyond_waits(telemetry: Telemetry, role: Array, clock: Array) -> tuple[Array, Array]:
    """(T, N) seconds by which a worker's clock is at least ahead, and behind, by its messages; NaN unknown.

    The best bound for each pair of clocks, then the median pair (of two the lower), as the other clock may
    be the one that is off.
    """
    src, dst, wait = telemetry.edge_src, telemetry.edge_dst, telemetry.wait_s
    unknown = np.full((telemetry.n_steps, telemetry.n_workers), np.nan)
    if src is None or dst is None or wait is None:
        return unknown, unknown
    across = np.flatnonzero((role[src] == role[dst]) & (clock[src] != clock[dst]))
    if not across.size:
        return unknown, unknown
    arrival, spent = telemetry.arrival_s, telemetry.delay_s
    assert arrival is not None
    real = wait[:, across] - (0.0 if spent is None else np.nan_to_num(spent[:, across]))
    src, dst, count = src[across], dst[across], int(clock.max()) + 1
    excess = arrival[:, src] - arrival[:, dst] - np.maximum(real, 0.0)
    pairs, pair = np.unique(clock[src] * count + clock[dst], return_inverse=True)
    best = np.full((len(excess), len(pairs)), np.nan)
    np.fmax.at(best, (np.arange(len(excess))[:, None], pair[None]), excess)
    best = np.maximum(best, 0.0)
    ahead, behind = (_lower_median(best, end, count)[:, clock] for end in (pairs // count, pairs % count))
    return ahead, behind


def _lower_median(values: Array, keys: Array, count: int) -> Array:
    """(T, count) lower median of the columns of each key in each row, ignoring NaN; NaN if empty."""
    out = np.full((len(values), count), np.nan)
    for ids, members in Groups.of(keys, count).blocks:
        stacked = values[:, members].reshape(-1, members.shape[1]).T
        out[:, ids] = quantile_along(stacked, 0.5).reshape(len(values), len(ids))
    return out


def _possible(telemetry: Telemetry, step_s: float) -> Array:
    """(T, 1) seconds by which anybody can really be late where no message tells."""
    if telemetry.wall_s is not None and telemetry.compute_s is not None:
        own = np.nan_to_num(telemetry.wall_s - telemetry.compute_s)
        return np.asarray(_MARGIN * np.maximum(own.max(axis=1), 0.0)[:, None])
    if telemetry.step_time_s is not None:
        return np.asarray(np.where(np.isfinite(telemetry.step_time_s), telemetry.step_time_s, step_s)[:, None])
    return np.full((telemetry.n_steps, 1), step_s)


def input_excess(input_s: Array, step_s: float) -> Array:
    """(T, N) input wait beyond the median worker's in that row, as a share of a step.

    When storage stalls, all wait long and unequally: differences within 30 % of the common wait of the
    row count as none.
    """
    common = median_along(input_s, axis=1)[:, None]
    excess = input_s - common
    return np.asarray(np.sign(excess) * np.maximum(np.abs(excess) - _UNEQUAL * common, 0.0) / step_s)


def input_limits(thresholds: Thresholds, input_s: Array, step_s: float) -> Limits:
    """A stall is worth a verdict from 5 % of a step, and from twice the typical wait."""
    least = max(budget.MIN_INPUT, float(np.nanmedian(input_s)) / step_s)
    return Limits(thresholds, least, least, least)
