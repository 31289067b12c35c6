"""Verdicts against truth: what was found, what was invented, who was blamed instead.

Pure functions; a job's ``Outcome`` is plain JSON, so that parts of a benchmark can be merged.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from scipy.special import gammaincinv

from c4sim.detector import Host, Verdict
from c4sim.synthetic import Fault, Truth

#: Steps after a fault's start (bad steps, for a flapping link) at which its recall is counted.
HORIZONS = (16, 32, 64)
#: Share of a host's workers that must be named for the host to count as found.
HOST_SHARE = 0.75
MONTH_S = 30 * 86400.0


@dataclass(frozen=True)
class Accusation:
    """A verdict's kind and whom it accuses: workers, or the two ends of an edge in order."""

    kind: str
    edge: bool
    workers: tuple[int, ...]


@dataclass
class Found:
    """One fault and how it fared: named, named exactly, within which of the ``HORIZONS``."""

    kind: str
    shape: str
    effect: float
    named: bool
    kind_reported: bool
    within: list[bool | None]


@dataclass
class Outcome:
    """One job, scored."""

    scenario: str
    seed: int
    apart: str
    load_given: bool
    seconds: float
    faults: list[Found]
    false: list[dict[str, Any]]
    victim_blamed: bool
    expected: dict[str, bool]

    def to_json(self) -> dict[str, Any]:
        """Plain containers."""
        return asdict(self)

    @staticmethod
    def from_json(document: dict[str, Any]) -> Outcome:
        """Inverse of ``to_json``."""
        return Outcome(**{**document, "faults": [Found(**f) for f in document["faults"]]})


def accusations(verdicts: Iterable[Verdict], truth: Truth) -> list[Accusation]:
    """Whom the verdicts accuse, in columns of the telemetry (workers carry default labels)."""
    return [Accusation(v.kind, isinstance(v.entity, tuple), _workers(v.entity, truth)) for v in verdicts if v.accuses]


def _workers(entity: Any, truth: Truth) -> tuple[int, ...]:
    if isinstance(entity, Host):
        return tuple(w for w, host in enumerate(truth.host) if host == entity.label)
    return tuple(int(w) for w in (entity if isinstance(entity, tuple) else (entity,)))


def names(fault: Fault, given: list[Accusation]) -> list[Accusation]:
    """The accusations that name the fault: its kind and exactly its entity.

    A host counts as named by its workers one by one, once most of them are named.
    """
    same_kind = [accusation for accusation in given if accusation.kind == fault.kind]
    edge = fault.entity_type == "edge"
    exact = [a for a in same_kind if a.edge == edge and a.workers == fault.workers]
    if exact or fault.entity_type != "host":
        return exact
    inside = [a for a in same_kind if not a.edge and set(a.workers) <= set(fault.workers)]
    covered = {worker for a in inside for worker in a.workers}
    return inside if len(covered) >= HOST_SHARE * len(fault.workers) else []


def outcome(
    truth: Truth,
    verdicts: list[Verdict],
    within: list[list[bool | None]],
    seconds: float,
    load_given: bool,
) -> Outcome:
    """Score one job.

    Args:
        truth: what was wrong. verdicts: on all of the telemetry.
        within: for each fault, whether it was named within each of ``HORIZONS`` (None: the
            telemetry ends before).
        seconds: length of the job. load_given: whether the telemetry holds the load.
    """
    given = accusations(verdicts, truth)
    matched = [names(fault, given) for fault in truth.faults]
    true = {accusation for group in matched for accusation in group}
    false = [accusation for accusation in given if accusation not in true]
    guilty = {worker for fault in truth.faults for worker in fault.workers}
    victims = {worker for fault in truth.faults for worker in fault.victims} - guilty
    kinds = {verdict.kind for verdict in verdicts}
    return Outcome(
        scenario=truth.scenario,
        seed=truth.seed,
        apart=truth.apart,
        load_given=load_given,
        seconds=seconds,
        faults=[
            Found(f.kind, f.shape, f.effect, bool(m), any(a.kind == f.kind for a in given), w)
            for f, m, w in zip(truth.faults, matched, within, strict=True)
        ],
        false=[asdict(accusation) for accusation in false],
        victim_blamed=any(set(a.workers) & victims and not set(a.workers) & guilty for a in false),
        expected={kind: kind in kinds for kind in sorted(truth.expected)},
    )


def per_kind(outcomes: list[Outcome], kinds: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Counts, precision, recall, F1, exact localisation and recall within ``HORIZONS`` by kind."""
    table = {}
    for kind in kinds:
        faults = [f for o in outcomes for f in o.faults if f.kind == kind]
        false = sum(a["kind"] == kind for o in outcomes for a in o.false)
        table[kind] = counts(faults, false)
    return table


def counts(faults: list[Found], false: int) -> dict[str, Any]:
    """Precision = true / (true + false), recall = true / faults, F1 their harmonic mean."""
    true = sum(f.named for f in faults)
    reported = sum(f.kind_reported for f in faults)
    row: dict[str, Any] = {
        "faults": len(faults),
        "true": true,
        "false": false,
        "precision": ratio(true, true + false),
        "recall": ratio(true, len(faults)),
        "f1": ratio(2 * true, 2 * true + false + len(faults) - true),
        "exact_localisation": ratio(true, reported),
    }
    for index, horizon in enumerate(HORIZONS):
        seen = [f.within[index] for f in faults if f.within[index] is not None]
        row[f"recall_within_{horizon}"] = ratio(sum(map(bool, seen)), len(seen))
    return row


def ratio(part: float, whole: float) -> float | None:
    """part / whole, None where there is nothing to divide by."""
    return part / whole if whole else None


def poisson_interval(events: int, exposure: float) -> dict[str, float]:
    """Rate with its exact 95 % interval, and the one-sided 95 % upper bound (Garwood 1936)."""
    low = float(gammaincinv(events, 0.025)) if events else 0.0
    return {
        "events": events,
        "exposure": exposure,
        "rate": events / exposure,
        "low": low / exposure,
        "high": float(gammaincinv(events + 1, 0.975)) / exposure,
        "upper_95": float(gammaincinv(events + 1, 0.95)) / exposure,
    }


def summary(outcomes: list[Outcome], kinds: Iterable[str]) -> dict[str, Any]:
    """The benchmark's figures; jobs that stand apart are counted by themselves."""
    together = [o for o in outcomes if not o.apart]
    table = per_kind(together, kinds)
    faulty = [o for o in together if o.faults]
    clean = [o for o in together if not o.faults]
    everything = [f for o in together for f in o.faults]
    false = sum(len(o.false) for o in together)
    strong = [
        f
        for o in together
        for f in o.faults
        if f.kind.startswith("slow") and f.shape == "constant" and f.effect >= 1.5 and o.load_given
    ]
    f1 = [row["f1"] for row in table.values() if row["f1"] is not None]
    return {
        "jobs": len(together),
        "jobs_without_fault": len(clean),
        "per_kind": table,
        "all": counts(everything, false),
        "macro_f1": ratio(sum(f1), len(f1)),
        "victim_blame": ratio(sum(o.victim_blamed for o in faulty), len(faulty)),
        "innocent_accused": ratio(sum(bool(o.false) for o in faulty), len(faulty)),
        "clean_jobs_accused": ratio(sum(bool(o.false) for o in clean), len(clean)),
        "false_per_month": poisson_interval(sum(len(o.false) for o in clean), sum(o.seconds for o in clean) / MONTH_S),
        "strong_constant_with_load": counts(strong, 0),
        "shapes": {
            shape: counts([f for f in everything if f.shape == shape], 0)
            for shape in ("constant", "ramp", "flapping", "stop")
        },
        "conditions": _conditions(together),
        "expected": _expected(together),
        "apart": _apart(outcomes),
    }


def _conditions(outcomes: list[Outcome]) -> dict[str, Any]:
    table: dict[str, Any] = {}
    for name in dict.fromkeys(o.scenario.partition("+")[0] for o in outcomes):
        jobs = [o for o in outcomes if o.scenario.partition("+")[0] == name]
        false = sum(len(o.false) for o in jobs)
        table[name] = {"jobs": len(jobs), **counts([f for o in jobs for f in o.faults], false)}
    return table


def _expected(outcomes: list[Outcome]) -> dict[str, Any]:
    kinds = sorted({kind for o in outcomes for kind in o.expected})
    given = {kind: [o.expected[kind] for o in outcomes if kind in o.expected] for kind in kinds}
    return {k: {"jobs": len(v), "reported": ratio(sum(v), len(v))} for k, v in given.items()}


def _apart(outcomes: list[Outcome]) -> dict[str, Any]:
    table = {}
    for reason in sorted({o.apart for o in outcomes if o.apart}):
        jobs = [o for o in outcomes if o.apart == reason]
        false = sum(len(o.false) for o in jobs)
        said = [o.expected["unattributable"] for o in jobs if "unattributable" in o.expected]
        table[reason] = {
            "jobs": len(jobs),
            **counts([f for o in jobs for f in o.faults], false),
            "unattributable": ratio(sum(said), len(said)),
        }
    return table
