"""From ledgers to metrics: additive totals of each replication, and metrics as ratios of their sums.

A metric is one total over another (or per replication), so that over many replications it is a ratio of sums: exact
where the denominator varies (fixed work, failures), and the mean of the replications where it does not (a fixed
window).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from c4sim.ledger import DOWNTIME_PHASES, Ledger, Phase
from c4sim.scenario import Scenario
from c4sim.scenario.combinations import FALSE_ALARM

Floats = NDArray[np.float64]

# Phases that a class of faults can be charged with; maintenance and queue have no class.
CAUSED = (*DOWNTIME_PHASES, Phase.SLOWDOWN)
_COUNTS = (
    "wall_s",
    "operating_s",
    "failures",
    "failures_operating",
    "answered",
    "confined",
    "detection_time_s",
    "stopped_faults",
    "planned_stops",
    "saves",
    "node_down_s",
    "finished",
)


@dataclass(frozen=True)
class Metric:
    """A metric is sum(numerator columns) / sum(denominator column), or per replication without a denominator.

    complement: one minus that ratio.
    """

    numerator: tuple[str, ...]
    denominator: str | None
    unit: str
    description: str
    complement: bool = False


def causes(scenario: Scenario) -> tuple[str, ...]:
    """The causes that a run of the scenario can name, in the ledger's order."""
    alarms = (FALSE_ALARM,) if scenario.pauses is not None else ()
    return (*scenario.faults, *alarms)


def columns(scenario: Scenario) -> tuple[str, ...]:
    """Names of the totals of one replication, in the order of `totals`."""
    return _columns(causes(scenario))


@lru_cache(maxsize=64)
def _columns(names: tuple[str, ...]) -> tuple[str, ...]:
    by_cause = tuple(f"{phase.label}_s/{name}" for phase in CAUSED for name in names)
    failures = tuple(f"failures/{name}" for name in names)
    return (*_COUNTS, *(f"{phase.label}_s" for phase in Phase), *by_cause, *failures)


def totals(ledger: Ledger, scenario: Scenario, start: float | None = None, end: float | None = None) -> Floats:
    """Totals of one replication over [start, end), by default from the end of the warm-up to the end of the run.

    Returns shape (len(columns(scenario)),). The window must lie on marks of the run: intervals are taken whole.
    """
    names = causes(scenario)
    low = ledger.start if start is None else start
    high = ledger.end if end is None else end
    phases, by_cause, saves = _phase_seconds(ledger, low, high, len(names))
    # No incident lies after the end of the run, but the one that ends it may lie at it.
    counts, failures = _incident_counts(ledger, low, math.inf if end is None else end, len(names))
    operating = phases[[Phase.PRODUCTIVE, Phase.CHECKPOINT_STALL, Phase.SLOWDOWN, Phase.LOST_WORK]].sum()
    stops = (float(ledger.stopped_faults), float(ledger.planned_stops))
    rest = (saves, _node_seconds(ledger, low, high), float(ledger.end_reason in ("horizon", "work done")))
    head = (high - low, operating, *counts, *stops, *rest)
    return np.concatenate([head, phases, by_cause[[int(p) for p in CAUSED]].ravel(), failures])


def _phase_seconds(ledger: Ledger, low: float, high: float, causes_: int) -> tuple[Floats, Floats, float]:
    """Seconds by phase; by phase and cause, shape (phases, causes); saves committed.

    A loop in Python: for the few hundred intervals of a month it beats turning them into an array.
    """
    stride = causes_ + 1  # the first column is NO_CAUSE
    table = [0.0] * (len(Phase) * stride)
    slowdown_at = Phase.SLOWDOWN * stride + 1
    stall = 0.0
    saves = 0
    for start, end, phase, cause, _, productive, stalled, slowed, saved in ledger.rows:
        if start < low or end > high:
            continue
        if phase:
            table[phase * stride + cause + 1] += end - start
        else:
            table[cause + 1] += productive
            table[slowdown_at + cause] += slowed
            stall += stalled
            saves += saved
    by_cause = np.array(table).reshape(len(Phase), stride)
    seconds = by_cause.sum(axis=1)
    seconds[Phase.CHECKPOINT_STALL] += stall
    return seconds, by_cause[:, 1:], float(saves)


def _incident_counts(ledger: Ledger, low: float, high: float, causes_: int) -> tuple[tuple[float, ...], Floats]:
    """(failures, of a working job, answered, confined, detection_time_s) and failures by cause, of the stops in the
    window.

    A failure is a fault that stopped the job while it operated or restarted. answered: of those, the ones that were
    detected.
    """
    failures = [0.0] * causes_
    working = answered = confined = detection = 0.0
    for time, stopped, cause, _, _, _, _, is_confined, _, operating, _, detected, _, _ in ledger.incident_rows:
        if not low <= stopped < high:
            continue
        failures[cause] += 1.0
        working += operating
        confined += is_confined
        if detected is not None:
            answered += 1.0
            detection += detected - time
    return (sum(failures), working, answered, confined, detection), np.array(failures)


def _node_seconds(ledger: Ledger, low: float, high: float) -> float:
    """Node-seconds spent away from job and shelf."""
    if not ledger.outages:
        return 0.0
    out = np.array([outage.out for outage in ledger.outages])
    back = np.array([np.inf if outage.back is None else outage.back for outage in ledger.outages])
    return float(np.maximum(np.minimum(back, high) - np.maximum(out, low), 0.0).sum())


def definitions(scenario: Scenario) -> dict[str, Metric]:
    """Every metric of the scenario by name, in the order of tables."""
    metrics = dict(_MAIN)
    if scenario.work is not None:
        metrics["makespan_s"] = Metric(("wall_s",), None, "s", "wall time until the work is done")
    for phase in DOWNTIME_PHASES:
        metrics[f"downtime_fraction/{phase.label}"] = _share(
            (f"{phase.label}_s",), f"share of wall time in {phase.label}"
        )
    for phase in DOWNTIME_PHASES:
        for name in causes(scenario):
            column = f"{phase.label}_s/{name}"
            metrics[f"downtime_fraction/{phase.label}/{name}"] = _share((column,), f"{phase.label} charged to {name}")
    for name in causes(scenario):
        metrics[f"failures/{name}"] = Metric((f"failures/{name}",), None, "1", f"failures of class {name}")
    return metrics


def _share(numerator: tuple[str, ...], description: str) -> Metric:
    return Metric(numerator, "wall_s", "1", description)


_DOWNTIME = tuple(f"{phase.label}_s" for phase in DOWNTIME_PHASES)
_ANSWER = tuple(f"{phase.label}_s" for phase in DOWNTIME_PHASES if phase is not Phase.LOST_WORK)
_MAIN = {
    "downtime_fraction": _share(_DOWNTIME, "lost work, detection, isolation, spare wait and restart over wall time"),
    "checkpoint_stall_fraction": _share(("checkpoint_stall_s",), "time stalled by checkpoint writes over wall time"),
    "slowdown_fraction": _share(("slowdown_s",), "time lost to running slower than nominal over wall time"),
    "maintenance_fraction": _share(("maintenance_s",), "planned maintenance over wall time"),
    "ettr": _share(("productive_s",), "effective training time ratio: productive over wall time"),
    "goodput": _share(("productive_s",), "surviving steps x nominal step time over wall time"),
    "failures": Metric(("failures",), None, "1", "faults that stopped the job at work or while it restarted"),
    "mtbf_s": Metric(("operating_s",), "failures", "s", "operating time per failure"),
    "mttd_s": Metric(("detection_s",), "failures", "s", "time stopped and not yet noticed, per failure"),
    "mttr_s": Metric(_ANSWER, "failures", "s", "from the fault to the running job, per failure"),
    "mean_lost_work_s": Metric(
        ("lost_work_s",), "failures_operating", "s", "work thrown away per failure of a working job"
    ),
    "mean_detection_s": Metric(("detection_time_s",), "answered", "s", "from the fault until it is noticed"),
    "confined_share": Metric(("confined",), "failures", "1", "failures confined to one node, of all"),
    "stopped_faults": Metric(("stopped_faults",), None, "1", "faults that struck a job that stood still already"),
    "planned_stops": Metric(("planned_stops",), None, "1", "maintenance windows"),
    "saves": Metric(("saves",), None, "1", "checkpoints written: saves whose stall has ended"),
    "mean_nodes_down": Metric(("node_down_s",), "wall_s", "1", "nodes away from job and shelf, mean over time"),
    "probability_job_has_nodes": Metric(
        ("spare_wait_s",), "wall_s", "1", "share of time in which the job does not wait for a node", complement=True
    ),
    "finished": Metric(
        ("finished",), None, "1", "share of replications that reached their horizon or finished their work"
    ),
}
