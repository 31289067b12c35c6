"""The batch form: one window of telemetry -> verdicts."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from c4sim.detector import clocks, compute, hangs, links
from c4sim.detector.budget import DEFAULT_STEP_S, Budget, thresholds
from c4sim.detector.compute import ComputeFindings
from c4sim.detector.findings import Scope, plain, worker_verdicts
from c4sim.detector.links import LinkFinding
from c4sim.detector.ratios import Ratios, log_ratios
from c4sim.detector.robust import median, median_along
from c4sim.detector.series import Shifts, shifts
from c4sim.detector.telemetry import MEASURED, Telemetry, axes_of
from c4sim.detector.verdicts import Verdict

Array = NDArray[Any]
#: Fields that are judged one by one.
_JUDGED = ("compute_s", "input_s", "delay_s", "arrival_s")


@dataclass(frozen=True)
class Past:
    """Levels known from before the window: log ratios of own work, link levels, input excess."""

    compute: Array | None = None
    links: links.Past | None = None
    input: Array | None = None


def detect(telemetry: Telemetry, allowed: Budget | None = None, past: Past | None = None) -> list[Verdict]:
    """Judge one window.

    Args:
        telemetry: any fields; more fields allow more kinds of verdict.
        allowed: false alarms tolerated per job and 30 days.
        past: levels from before the window (the streaming form knows them).

    Returns:
        Verdicts, hangs first; an empty list means that what was measured shows nothing.

    Raises:
        TelemetryError: from ``Telemetry`` for input that cannot be judged.
    """
    allowed, past = allowed or Budget(), past or Past()
    known = allowed.step_time_s or compute.step_seconds(telemetry.step_time_s, telemetry.wall_s, telemetry.compute_s)
    step_s = known or DEFAULT_STEP_S
    stop = hangs.judge(telemetry, known)
    verdicts = _hang_verdicts(telemetry, stop, step_s) if stop else []
    rows = judged_rows(telemetry, stop.first if stop else telemetry.n_steps)
    part = take_rows(telemetry, rows)
    verdicts += _no_data(telemetry)
    if part is not None:
        verdicts += _empty_fields(part) + _slow_verdicts(Scope(part, rows, step_s), allowed, past)
    return verdicts


def judged_rows(telemetry: Telemetry, end: int) -> Array:
    """Training rows before ``end``; evaluation rows where no row is marked as training; never saves."""
    rows = np.arange(end)
    if telemetry.phase is None:
        return rows
    train = rows[telemetry.phase[:end] == "train"]
    return np.asarray(train if train.size else rows[telemetry.phase[:end] == "eval"])


def take_rows(telemetry: Telemetry, rows: Array) -> Telemetry | None:
    """The telemetry of some rows; None when nothing was measured in them."""
    fields = telemetry.present()
    changed = {name: fields[name][rows] for name in fields if axes_of(telemetry, name)[0] == "T"}
    measured = [changed[name] for name in MEASURED if name in changed]
    if not len(rows) or all(np.isnan(array).all() for array in measured):
        return None
    return telemetry if len(rows) == telemetry.n_steps else dataclasses.replace(telemetry, **changed)


def _slow_verdicts(scope: Scope, allowed: Budget, past: Past) -> list[Verdict]:
    telemetry = scope.telemetry
    verdicts: list[Verdict] = []
    ratios = None
    if telemetry.compute_s is not None and (telemetry.compute_s > 0).any():
        ratios = compute_ratios(telemetry)
        verdicts += _compute_verdicts(scope, ratios, allowed, past.compute)
    if telemetry.input_s is not None:
        verdicts += _input_verdicts(scope, allowed, past.input)
    if telemetry.delay_s is not None and telemetry.n_edges and np.isfinite(telemetry.delay_s).any():
        verdicts += _link_verdicts(scope, allowed, past.links)
    if telemetry.arrival_s is not None and np.isfinite(telemetry.arrival_s).any():
        verdicts += _clock_verdicts(scope, allowed, verdicts)
    if ratios is None and not any(verdict.accuses for verdict in verdicts):
        verdicts += _without_own_work(scope, allowed)
    return verdicts


def compute_ratios(telemetry: Telemetry) -> Ratios:
    """Log ratios (T, N) of own work to the peers'."""
    assert telemetry.compute_s is not None
    return log_ratios(telemetry.compute_s, role_numbers(telemetry), telemetry.load)


def role_numbers(telemetry: Telemetry) -> Array | None:
    """(N,) numbers of the given roles."""
    return None if telemetry.role is None else np.unique(telemetry.role, return_inverse=True)[1]


def _compute_verdicts(scope: Scope, ratios: Ratios, allowed: Budget, past: Array | None) -> list[Verdict]:
    limits = thresholds(ratios.y.shape[1], len(ratios.y), scope.step_s, allowed)
    findings = compute.judge(ratios, limits, past)
    verdicts = [] if findings.varying else _slow_compute(scope, findings.shifts)
    verdicts += _nobody(scope, findings)
    wide = compute.job_wide(ratios.common, limits)
    if wide is not None:
        verdicts.append(_job_wide(scope, wide, "own work of the median worker"))
    return verdicts


def _slow_compute(scope: Scope, found: Shifts) -> list[Verdict]:
    return worker_verdicts(
        scope,
        "slow_compute",
        found,
        lambda columns: float(np.exp(np.median(found.effect[columns]))),
        lambda name, factor, row: f"{name}: own work takes {factor:.2f} times as long as it should, from row {row} on",
    )


def _nobody(scope: Scope, findings: ComputeFindings) -> list[Verdict]:
    verdicts = []
    if findings.varying:
        evidence = f"load varies and is not given: {findings.varying}; own work names nobody"
        verdicts.append(Verdict("unattributable", None, 1.0, 1.0, scope.row(0), evidence))
    if findings.rotating:
        evidence = f"in {findings.rotating:.0%} of the rows some worker is slow, another one each time"
        verdicts.append(Verdict("rotating", None, findings.rotating, 1.0, scope.row(0), evidence))
    return verdicts


def _job_wide(scope: Scope, wide: tuple[float, float, int], what: str) -> Verdict:
    factor, score, first = float(np.exp(wide[0])), wide[1], scope.row(wide[2])
    evidence = f"{what} takes {factor:.2f} times as long from row {first} on: everybody slowed down"
    return Verdict("job_wide", None, factor, score, first, evidence)


def _input_verdicts(scope: Scope, allowed: Budget, past: Array | None) -> list[Verdict]:
    waits = scope.telemetry.input_s
    assert waits is not None
    if not np.isfinite(waits).any():
        return []
    unit = _input_unit(scope)
    excess = clocks.input_excess(waits, unit)
    needed = thresholds(excess.shape[1], len(excess), scope.step_s, allowed)
    limits = clocks.input_limits(needed, waits, unit)
    found = shifts(excess, np.zeros(excess.shape[1], dtype=np.int64), limits, past)
    return worker_verdicts(
        scope,
        "input_stall",
        found,
        lambda columns: float(np.median(found.effect[columns])) * unit,
        lambda name, seconds, row: f"{name}: waits {seconds:.3g} s longer for input than the others, from row {row} on",
    )


def _input_unit(scope: Scope) -> float:
    """Seconds of a step; where no duration is given, the longest typical wait, which a step contains."""
    telemetry = scope.telemetry
    assert telemetry.input_s is not None
    if any(field is not None for field in (telemetry.step_time_s, telemetry.wall_s, telemetry.compute_s)):
        return scope.step_s
    longest = float(np.fmax.reduce(median_along(telemetry.input_s)))
    return longest if longest > 0 else scope.step_s


def _link_verdicts(scope: Scope, allowed: Budget, past: links.Past | None) -> list[Verdict]:
    ratios = links.link_ratios(scope.telemetry)
    found = links.judge(scope.telemetry, ratios, scope.step_s, allowed, past)
    return [_link_verdict(scope, finding) for finding in found]


def _link_verdict(scope: Scope, finding: LinkFinding) -> Verdict:
    src, dst = scope.telemetry.edge_src, scope.telemetry.edge_dst
    assert src is not None
    assert dst is not None
    factor, row = float(np.exp(finding.effect)), scope.row(finding.first)
    if finding.kind == "slow_path":
        entity: Any = scope.edge(finding.index)
        ends = np.array([src[finding.index], dst[finding.index]])
        what = f"path {entity[0]} -> {entity[1]}: transfers take"
    else:
        entity, ends = scope.label(finding.index), np.array([finding.index])
        side = "outgoing" if finding.kind == "slow_sender" else "incoming"
        what = f"worker {entity}: most of its {len(finding.edges)} {side} transfers take"
    evidence = f"{what} {factor:.2f} times as long as those of its like, from row {row} on"
    harmed = scope.victims(finding.first, ends)
    return Verdict(finding.kind, entity, factor, finding.score, row, evidence, harmed)  # type: ignore[arg-type]


def _clock_verdicts(scope: Scope, allowed: Budget, known: list[Verdict]) -> list[Verdict]:
    telemetry = scope.telemetry
    arrival = telemetry.arrival_s
    assert arrival is not None
    labels = telemetry.role if telemetry.role is not None else telemetry.group
    role = np.zeros(telemetry.n_workers, np.int64) if labels is None else np.unique(labels, return_inverse=True)[1]
    by_role, by_job = clocks.lateness(arrival, role)
    late = clocks.unexplained(by_role, telemetry, role, scope.step_s), by_job
    needed = thresholds(2 * telemetry.n_workers, len(arrival), scope.step_s, allowed)
    real = max((_seconds(verdict, scope.step_s) for verdict in known if verdict.accuses), default=0.0) / scope.step_s
    real = real if telemetry.wait_s is None else 0.0
    lowest = (clocks.MIN_OFFSET,) * 2 if labels is not None else (clocks.UNKNOWN_ROLES, clocks.UNKNOWN_CHANGE)
    least = lowest[0] + real, lowest[1] + real
    found, offset = clocks.judge(late, role, scope.step_s, needed, least)
    return worker_verdicts(
        scope,
        "clock_offset",
        found,
        lambda columns: float(np.median(offset[columns])),
        lambda name, seconds, _: (
            f"{name}: its clock is {abs(seconds):.3g} s {'ahead of' if seconds > 0 else 'behind'} its peers'; "
            "arrival times are shifted while durations are not"
        ),
    )


def _seconds(verdict: Verdict, step_s: float) -> float:
    """What a verdict can delay an arrival by."""
    effect = verdict.effect or 0.0
    return effect if verdict.kind == "input_stall" else max(effect - 1, 0.0) * step_s


def _without_own_work(scope: Scope, allowed: Budget) -> list[Verdict]:
    """Wall and step times contain waiting: they can show a slow job, never a slow worker."""
    telemetry = scope.telemetry
    series = telemetry.step_time_s
    if series is None and telemetry.wall_s is not None:
        series = np.array([median(row) for row in telemetry.wall_s])
    verdicts = []
    if series is not None and np.isfinite(series).any():
        with np.errstate(divide="ignore"):
            logs = np.where(series > 0, np.log(series), np.nan)
        wide = compute.job_wide(logs, thresholds(1, len(series), scope.step_s, allowed))
        verdicts += [] if wide is None else [_job_wide(scope, wide, "a step")]
    alone = "wall" if telemetry.wall_s is not None else "waiting" if telemetry.wait_s is not None else ""
    if alone and telemetry.delay_s is None and not verdicts:
        evidence = f"{alone} times contain waiting for others: without own work (compute_s) they name nobody"
        verdicts.append(Verdict("unattributable", None, 1.0, 1.0, scope.row(0), evidence))
    return verdicts


def _no_data(telemetry: Telemetry) -> list[Verdict]:
    """Workers of which no field holds anything."""
    fields = [telemetry.compute_s, telemetry.wall_s, telemetry.input_s, telemetry.arrival_s]
    given = [field for field in fields if field is not None]
    if not given:
        return []
    seen: Array = np.zeros(telemetry.n_workers, dtype=bool)
    if telemetry.compute_s is not None and (telemetry.compute_s > 0).any():
        seen = np.asarray((telemetry.compute_s > 0).any(axis=0))
    else:
        for field in given:
            seen |= np.isfinite(field).any(axis=0)
    silent = [plain(telemetry.labels[worker]) for worker in np.flatnonzero(~seen)] if seen.any() else []
    return [Verdict("no_data", label, None, 1.0, 0, f"worker {label} sent no data") for label in silent]


def _empty_fields(part: Telemetry) -> list[Verdict]:
    """Fields that were given but hold nothing: what they would show is not known to be absent."""
    fields = part.present()
    empty = [name for name in _JUDGED if name in fields and fields[name].size and not np.isfinite(fields[name]).any()]
    return [Verdict("no_data", None, None, 1.0, 0, f"{name} was given but holds no data") for name in empty]


def _hang_verdicts(telemetry: Telemetry, stop: hangs.Stop, step_s: float) -> list[Verdict]:
    scope = Scope(telemetry, np.arange(telemetry.n_steps), step_s)
    if not stop.hangs:
        evidence = f"nothing has moved for {stop.rows} rows, and all who wait look alike"
        return [Verdict("unattributable", None, stop.seconds, 1.0, stop.first, evidence)]
    culprits = {hang.worker for hang in stop.hangs}
    if telemetry.edge_src is not None:
        culprits |= {int(telemetry.edge_src[hang.edge]) for hang in stop.hangs if hang.edge >= 0}
    waiting = [worker for worker in np.flatnonzero(stop.waiting).tolist() if worker not in culprits]
    harmed = tuple(scope.label(worker) for worker in waiting)
    verdicts = []
    for hang in stop.hangs:
        entity: Any = scope.edge(hang.edge) if hang.edge >= 0 else scope.label(hang.worker)
        evidence = f"{entity}: {hang.reason}; nothing has moved for {stop.rows} rows"
        score = stop.rows / hangs.STOPPED_ROWS
        verdicts.append(
            Verdict(hang.kind, entity, stop.seconds, score, stop.first, evidence, harmed)  # type: ignore[arg-type]
        )
    return verdicts
