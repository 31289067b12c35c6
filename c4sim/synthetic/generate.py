"""Scenario and seed -> telemetry and truth."""

from __future__ import annotations

import dataclasses
import difflib
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from c4sim.detector.telemetry import Telemetry
from c4sim.synthetic import hangs, noise
from c4sim.synthetic.barriers import Timing, propagate
from c4sim.synthetic.conditions import CONDITIONS
from c4sim.synthetic.draft import Draft, start, transfer_time, work_time
from c4sim.synthetic.faults import FAULTS, Injection, Site, Target, apply, offset_clock
from c4sim.synthetic.layout import Layout
from c4sim.synthetic.report import Measured, observe
from c4sim.synthetic.truth import Fault, Truth

Array = NDArray[Any]
#: dp, pp, tp, workers a host.
SHAPES = (
    (8, 1, 1, 2),
    (32, 1, 1, 4),
    (64, 1, 1, 8),
    (128, 1, 1, 8),
    (16, 1, 4, 8),
    (8, 4, 1, 4),
    (16, 2, 2, 8),
    (8, 2, 4, 8),
    (8, 4, 4, 8),
    (16, 4, 4, 8),
)
#: Conditions and faults that need other shapes.
SHAPES_OF: dict[str, tuple[tuple[int, int, int, int], ...]] = {
    "small_roles": ((2, 8, 1, 1), (2, 6, 1, 1), (1, 8, 2, 1)),
    "one_rack": ((64, 1, 1, 8), (128, 1, 1, 8), (16, 2, 4, 8), (32, 2, 2, 8)),
}
#: One job in so many is of 1,024 workers.
LARGE_EVERY, LARGE = 100, (64, 4, 4, 8)
#: A fault that makes a worker wait longer by this share of the longest added wait has a victim.
VICTIM_SHARE = 0.1
DEFAULT_STEPS = 192

SCENARIOS: tuple[str, ...] = tuple(
    condition if fault == "none" else f"{condition}+{fault}"
    for condition in CONDITIONS
    for fault in ("none", *FAULTS, *hangs.STOPS)
    if (condition, fault) != ("small_roles", "one_rack")
)


def generate(
    scenario: str, seed: int, *, layout: Layout | None = None, steps: int = DEFAULT_STEPS
) -> tuple[Telemetry, Truth]:
    """One synthetic job.

    Args:
        scenario: one of ``SCENARIOS``.
        seed: whole number >= 0; with the scenario (and layout, steps) it fixes every value.
        layout: where workers stand; drawn when not given.
        steps: number of rows, at least 64; faults not there from the start begin before
            ``steps - 95``.

    Returns:
        The telemetry as a job would report it, and what was wrong with it.

    Raises:
        ValueError: naming an unknown scenario, or too few steps.
    """
    if scenario not in SCENARIOS:
        near = difflib.get_close_matches(scenario, SCENARIOS, 1, 0)
        raise ValueError(f"scenario: unknown (got {scenario!r}); nearest is {near[0]!r}")
    if not steps >= 64:
        raise ValueError(f"steps: must be at least 64 (got {steps})")
    condition, _, fault = scenario.partition("+")
    rng = np.random.default_rng([seed, zlib.crc32(scenario.encode())])
    draft = start(layout or _layout(condition, fault, rng), steps, rng)
    CONDITIONS[condition](draft)
    return _run(draft, scenario, seed, condition, fault)


def _layout(condition: str, fault: str, rng: np.random.Generator) -> Layout:
    shapes = SHAPES_OF.get(condition) or SHAPES_OF.get(fault) or SHAPES
    if condition == "last_stage":
        shapes = tuple(shape for shape in shapes if shape[1] > 1)
    shape = shapes[rng.integers(len(shapes))]
    general = condition not in SHAPES_OF and fault not in SHAPES_OF
    if general and rng.integers(LARGE_EVERY) == 0:
        shape = LARGE
    return Layout(*shape)


def _run(draft: Draft, scenario: str, seed: int, condition: str, fault: str) -> tuple[Telemetry, Truth]:
    layout, rng, site = draft.layout, draft.rng, Site(draft)
    injections = FAULTS[fault](site) if fault in FAULTS else []
    if condition == "clock_skew":
        injections += offset_clock(site)
    stop = hangs.plan(fault, site) if fault in hangs.STOPS else None
    ring = noise.chance(rng, 0.5)
    base: dict[Target, Array] = {
        "work": work_time(draft),
        "transfer": transfer_time(draft),
        "input": draft.input_s,
        "clock": np.broadcast_to(draft.clock_s, draft.load.shape),
    }
    actual = apply(injections, base)
    timing = _timing(layout, actual, ring)
    faults = _with_victims(layout, injections, base, actual, timing, ring)
    measured = Measured(actual, timing, ring)
    telemetry = observe(draft, measured, stop, {f.kind for f in faults})
    if stop is not None:
        faults = _hang_first(faults, stop[0])
    truth = Truth(
        scenario=scenario,
        seed=seed,
        faults=tuple(faults),
        expected=frozenset(draft.expected),
        apart=draft.apart,
        host=tuple(layout.host.tolist()),
        step_s=float(np.median(timing.step_s)),
    )
    return telemetry, truth


def _timing(layout: Layout, arrays: dict[Target, Array], ring: bool) -> Timing:
    return propagate(layout, arrays["work"], arrays["input"], arrays["transfer"], ring)


def _hang_first(faults: list[Fault], stop: Fault) -> list[Fault]:
    """The stop, and of the other faults what showed before it."""
    seen = [dataclasses.replace(f, bad_steps=tuple(t for t in f.bad_steps if t < stop.first_step)) for f in faults]
    return [stop, *(f for f in seen if f.bad_steps)]


def _with_victims(
    layout: Layout,
    injections: list[Injection],
    base: dict[Target, Array],
    actual: dict[Target, Array],
    timing: Timing,
    ring: bool,
) -> list[Fault]:
    """Each fault with those who wait longer than they would without it."""
    waiting = timing.step_s[:, None] - actual["work"] - actual["input"]
    found = []
    for skipped in injections:
        rest = apply([i for i in injections if i is not skipped], base)
        without = _timing(layout, rest, ring)
        otherwise = without.step_s[:, None] - rest["work"] - rest["input"]
        rows = list(skipped.fault.bad_steps)
        added = (waiting - otherwise)[rows].mean(axis=0) if rows else np.zeros(layout.n)
        added[list(skipped.fault.workers)] = 0
        harmed = added > max(VICTIM_SHARE * added.max(), 1e-3 * float(without.step_s.mean()))
        victims = tuple(np.flatnonzero(harmed).tolist())
        found.append(dataclasses.replace(skipped.fault, victims=victims))
    return found
