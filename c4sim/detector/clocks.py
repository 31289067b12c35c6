"""Arrival times by the workers' own clocks: an offset clock, never a straggler.

A worker can really arrive early or late, and then somebody waits: a late worker's receivers for it, an
early one itself. An offset is reported only where those waits do not show, and where no slow worker or
input explains it. Durations are taken on one clock each, so an offset never makes a straggler.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from c4sim.detector import budget
from c4sim.detector.budget import Thresholds
from c4sim.detector.grouping import Groups
from c4sim.detector.robust import median_along
from c4sim.detector.series import Limits, Shifts, shifts
from c4sim.detector.telemetry import Telemetry

Array = NDArray[Any]
#: An offset below this share of a step cannot be told from a late or early worker.
MIN_OFFSET = 0.1
#: Waits bound what is real up to this factor (transfer times are in the waits as well).
_MARGIN = 2.0


def lateness(arrival_s: Array, role: Array) -> Array:
    """(T, N) seconds by which each arrival is after the median arrival of the role in that row."""
    kinds, inverse = np.unique(role, return_inverse=True)
    table = Groups.of(inverse, len(kinds))
    late = arrival_s - median_along(arrival_s, axis=1)[:, None]
    return np.asarray(late - table.median(late)[:, inverse])


def judge(late: Array, real: tuple[Array, Array], step_s: float, thresholds: Thresholds) -> tuple[Shifts, Array]:
    """Test clocks: both signs, in units of the step.

    Args:
        late: (T, N) seconds after the peers.
        real: (N,) seconds late and early that can be real.

    Returns:
        The tests of |offset|, and (N,) the offsets in seconds (negative: the clock is behind).
    """
    limits = Limits(thresholds, MIN_OFFSET, MIN_OFFSET, noise_floor=0.002, spread_floor=0.005)
    y = late / step_s
    peers = np.zeros(y.shape[1], dtype=np.int64)
    ahead, behind = shifts(y, peers, limits), shifts(-y, peers, limits)
    use_ahead = ahead.effect >= behind.effect
    offset = np.where(use_ahead, ahead.effect, -behind.effect) * step_s
    genuine = np.abs(offset) <= _MARGIN * np.where(use_ahead, real[0], real[1])
    found = np.where(use_ahead, ahead.found, behind.found) & ~genuine

    def of(name: str) -> Array:
        return np.where(use_ahead, getattr(ahead, name), getattr(behind, name))

    level = np.asarray(of("level"))
    tests = Shifts(
        found, np.abs(offset) / step_s, of("score"), of("first"), level, ahead.dropped, ahead.noise, ahead.spread
    )
    return tests, offset


def real_bounds(telemetry: Telemetry, role: Array) -> tuple[Array, Array]:
    """(N,) how late and how early each worker can really be, in seconds, by the waits of its role.

    Somebody who is late makes those wait who receive from it: the median wait on its outgoing edges
    inside the role. Somebody early waits itself: its longest wait for a message of the role. Zero
    where no such edge is known.
    """
    late, early = np.zeros(telemetry.n_workers), np.zeros(telemetry.n_workers)
    src, dst, wait = telemetry.edge_src, telemetry.edge_dst, telemetry.wait_s
    if wait is None or src is None or dst is None:
        return late, early
    inside = np.flatnonzero(role[src] == role[dst])
    typical = np.nan_to_num(median_along(wait[:, inside]))
    late = np.nan_to_num(Groups.of(src[inside], len(late)).median(typical[None])[0])
    np.maximum.at(early, dst[inside], typical)
    return late, early


def input_excess(input_s: Array, step_s: float) -> Array:
    """(T, N) input wait beyond the median worker's in that row, as a share of a step."""
    return np.asarray((input_s - median_along(input_s, axis=1)[:, None]) / step_s)


def input_limits(thresholds: Thresholds, input_s: Array, step_s: float) -> Limits:
    """A stall is worth a verdict from 5 % of a step, and from twice the typical wait."""
    least = max(budget.MIN_INPUT, float(np.nanmedian(input_s)) / step_s)
    return Limits(thresholds, least, least, noise_floor=0.002, spread_floor=0.005)
