"""What of a job reaches the telemetry: rounding errors, losses, fields that a job does not have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from c4sim.detector.telemetry import Telemetry
from c4sim.synthetic import hangs, noise
from c4sim.synthetic.barriers import Timing
from c4sim.synthetic.counters import Counters, count
from c4sim.synthetic.draft import Draft
from c4sim.synthetic.faults import Target
from c4sim.synthetic.truth import Fault

Array = NDArray[Any]
#: Tokens of a worker's mean load.
TOKENS = 8192
#: In half of the jobs this share of the reported loads is off by up to LOAD_ERROR.
WRONG_LOADS, LOAD_ERROR = 0.05, 0.2
LINK_KINDS = {"slow_sender", "slow_receiver", "slow_path"}
PER_WORKER = ("compute_s", "wall_s", "input_s", "arrival_s", "load")
PER_EDGE = ("delay_s", "wait_s", "bytes")


@dataclass(frozen=True)
class Measured:
    """The job as it ran: arrays by target, its timing, and how it exchanges gradients."""

    actual: dict[Target, Array]
    timing: Timing
    ring: bool


def observe(draft: Draft, measured: Measured, stop: tuple[Fault, int | None] | None, kinds: set[str]) -> Telemetry:
    """Telemetry of the job; ``kinds`` are its faults other than a stop."""
    fields = _everything(draft, measured)
    counters = _counters(draft)
    if stop is not None:
        _halt(draft, measured, stop, fields, counters)
    _lose(draft, fields)
    if stop is not None or kinds & LINK_KINDS or noise.chance(draft.rng, 0.85):
        fields |= {"edge_src": draft.layout.src, "edge_dst": draft.layout.dst}
    else:
        fields = {name: value for name, value in fields.items() if name not in PER_EDGE}
    if stop is not None or "op" in draft.gives:
        fields |= _operations(draft, counters)
    return Telemetry(**fields)


def _everything(draft: Draft, measured: Measured) -> dict[str, Array]:
    rng, layout, timing = draft.rng, draft.layout, measured.timing
    actual, shape = measured.actual, draft.load.shape
    jitter = 1 + 5e-4 * rng.standard_normal(shape)
    began = np.concatenate([[0.0], np.cumsum(timing.step_s)[:-1]])
    nothing = draft.bytes == 0
    fields = {
        "compute_s": actual["work"],
        "delay_s": np.where(nothing, np.nan, actual["transfer"]),
        "wait_s": np.where(nothing, np.nan, timing.wait_s),
        "bytes": draft.bytes.copy(),
        "step_time_s": timing.step_s.copy(),
    }
    if layout.per_host > 1:
        fields["host"] = layout.host
    optional = {
        "wall_s": timing.step_s[:, None] * jitter,
        "input_s": actual["input"],
        "arrival_s": began[:, None] + timing.arrival_s + actual["clock"],
        "load": _reported_load(draft),
        "role": layout.stage,
    }
    given = draft.gives | {"wall_s"} | ({"input_s"} if noise.chance(rng, 0.5) else set())
    fields |= {name: value.copy() for name, value in optional.items() if name in given}
    if draft.phase is not None and "phase" in draft.gives:
        fields["phase"] = draft.phase
    return fields


def _reported_load(draft: Draft) -> Array:
    load = TOKENS * draft.load
    if noise.chance(draft.rng, 0.5):
        wrong = draft.rng.random(load.shape) < WRONG_LOADS
        load[wrong] *= 1 + draft.rng.uniform(-LOAD_ERROR, LOAD_ERROR, size=int(wrong.sum()))
    return np.round(load)


def _counters(draft: Draft) -> Counters:
    rng = draft.rng
    sampled = (rng.random(draft.steps) < 0.1) & np.append(draft.trains[1:], True)
    flying = sampled[:, None] & (rng.random(draft.load.shape) < 0.5)
    return count(draft.layout, draft.trains, flying)


def _halt(
    draft: Draft,
    measured: Measured,
    stop: tuple[Fault, int | None],
    fields: dict[str, Array],
    counters: Counters,
) -> None:
    """From the row of the stop on: nothing completes, open waits grow, numbers stay."""
    fault, edge = stop
    timing = measured.timing
    input_s = measured.actual["input"]
    state = hangs.stop(draft, fault, edge, timing, input_s, measured.ring, counters)
    interval = 1.2 * float(np.median(timing.step_s))
    hangs.stopped_rows(state, interval, fields["bytes"], fields["wait_s"])
    for name in (*PER_WORKER, "delay_s", "step_time_s"):
        if name in fields and name != "load":
            fields[name][fault.first_step :] = np.nan


def _lose(draft: Draft, fields: dict[str, Array]) -> None:
    for names, dark in ((PER_WORKER, draft.dark_worker), (PER_EDGE, draft.dark_edge)):
        for name in names:
            if name in fields and name != "load":
                fields[name][dark] = np.nan


def _operations(draft: Draft, counters: Counters) -> dict[str, Array]:
    """In half of the jobs the data-parallel group of each worker only, else all memberships."""
    for array in (counters.started, counters.done):
        array[draft.dark_worker[:, counters.worker]] = np.nan
    if noise.chance(draft.rng, 0.5):
        started, done = counters.family("dp")
        return {"group": draft.layout.dp_group, "op_started": started, "op_done": done}
    return {
        "member_worker": counters.worker,
        "member_group": counters.group,
        "op_started": counters.started,
        "op_done": counters.done,
    }
