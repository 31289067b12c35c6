"""Arrival times by the workers' own clocks: an offset clock, never a straggler.

A worker can really arrive early or late, and then somebody waits: a late worker's receivers for it, an
early one itself. An offset is reported only where those waits do not show, and where no slow worker or
input explains it. Durations are taken on one clock each, so an offset never makes a straggler.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from c4sim.detector import budget
from c4sim.detector.budget import Thresholds
from c4sim.detector.grouping import Groups
from c4sim.detector.robust import median_along
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


def unexplained(late: Array, telemetry: Telemetry, role: Array) -> Array:
    """(T, N) what of the lateness no wait accounts for; 0 where waits account for it.

    Somebody who is late waits less than its role, or makes those wait who receive from it; somebody early
    waits longer than its role. Workers can be late together and then do not make each other wait, so the
    largest lateness of the role that is accounted for covers everyone below it. Without waits of messages
    the whole own wait of a worker (wall time less own work) bounds what is real.
    """
    rows = np.arange(len(late))[:, None]
    real = np.zeros((2, *late.shape))
    for side, waits in enumerate(_accounts(telemetry, role)):
        signed = np.maximum((1 - 2 * side) * np.nan_to_num(late), 0.0)
        largest = np.zeros((len(late), int(role.max()) + 1))
        np.maximum.at(largest, (rows, role[None]), np.minimum(signed, _MARGIN * waits))
        real[side] = _MARGIN * largest[:, role]
    beyond = np.where(late > 0, late > real[0], -late > real[1])
    return np.where(beyond | np.isnan(late), late, 0.0)


def _accounts(telemetry: Telemetry, role: Array) -> tuple[Array, Array]:
    """(T, N) seconds by which each worker can be late, and early, by the waits."""
    src, dst, wait = telemetry.edge_src, telemetry.edge_dst, telemetry.wait_s
    shape = telemetry.n_steps, telemetry.n_workers
    if wait is not None and src is not None and dst is not None:
        inside = np.flatnonzero(role[src] == role[dst])
        caused, suffered = (_longest(shape, end[inside], wait[:, inside], role) for end in (src, dst))
        return np.maximum(caused, -suffered), suffered
    if telemetry.wall_s is not None and telemetry.compute_s is not None:
        own = np.maximum(np.nan_to_num(telemetry.wall_s - telemetry.compute_s), 0.0)
        return np.broadcast_to(own.max(axis=1, keepdims=True), shape), own
    return np.zeros(shape), np.zeros(shape)


def _longest(shape: tuple[int, int], end: Array, wait: Array, role: Array) -> Array:
    """(T, N) longest wait on the edges at each worker's end, above the median of its role; 0 if unknown."""
    longest = np.full(shape, np.nan)
    np.fmax.at(longest, (np.arange(shape[0])[:, None], end[None]), wait)
    usual = Groups.of(role, int(role.max()) + 1).median(longest)
    return np.asarray(np.nan_to_num(longest - usual[:, role]))


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
