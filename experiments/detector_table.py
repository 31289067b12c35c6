"""The benchmark's figures as Markdown."""

from __future__ import annotations

from typing import Any

from detector_scoring import HORIZONS

COLUMNS = ("faults", "true", "false", "precision", "recall", "f1", "exact_localisation")
HEADS = ("faults", "found", "false", "precision", "recall", "F1", "exact localisation")


def markdown(document: dict[str, Any]) -> str:
    """The page that the documentation includes."""
    ours = document["detector"]
    first, last = document["seeds"]
    parts = [
        f"Seeds {first} to {last}, {ours['jobs']} jobs ({ours['jobs_without_fault']} of them "
        f"without a fault), {document['rows']} rows each; detector source "
        f"{document['detector_source']}.",
        _kinds(ours),
        _headline(ours),
        _shapes(ours),
        _conditions(ours),
        _apart(ours),
        _rules(document["slow_compute"]),
    ]
    return "\n\n".join(parts) + "\n"


def figure(value: Any) -> str:
    """A cell: three decimals, a dash for what does not exist."""
    if value is None:
        return "-"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def table(heads: list[str], rows: list[list[Any]]) -> str:
    """A Markdown table."""
    lines = [heads, ["---"] * len(heads), *([figure(cell) for cell in row] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _counted(row: dict[str, Any]) -> list[Any]:
    return [row[name] for name in COLUMNS] + _latency(row)


def _latency(row: dict[str, Any]) -> list[Any]:
    return [row[f"recall_within_{horizon}"] for horizon in HORIZONS]


def _kinds(ours: dict[str, Any]) -> str:
    rows = [[kind, *_counted(row)] for kind, row in ours["per_kind"].items()]
    rows.append(["all", *_counted(ours["all"])])
    return table(["kind", *HEADS, *(f"within {h}" for h in HORIZONS)], rows)


def _headline(ours: dict[str, Any]) -> str:
    alarms = ours["false_per_month"]
    strong = ours["strong_constant_with_load"]
    rows = [
        ["macro F1", ours["macro_f1"]],
        ["victim-blame rate (faulty jobs in which a victim is accused)", ours["victim_blame"]],
        ["faulty jobs in which anybody innocent is accused", ours["innocent_accused"]],
        ["fault-free jobs in which anybody is accused", ours["clean_jobs_accused"]],
        [
            "false alarms per job per 30 days in the fault-free jobs (exact 95 % interval)",
            f"{alarms['rate']:.2f} ({alarms['low']:.2f} to {alarms['high']:.2f}; "
            f"{alarms['events']} in {30 * alarms['exposure']:.2f} days)",
        ],
        [
            "constant slowdowns >= 1.5x, load given: named within 16 steps",
            f"{figure(strong['recall_within_16'])} of {strong['faults']}",
        ],
    ]
    rows += [
        [f"{kind} reported where it is the truth", f"{figure(e['reported'])} of {e['jobs']}"]
        for kind, e in ours["expected"].items()
    ]
    return table(["figure", "value"], rows)


def _shapes(ours: dict[str, Any]) -> str:
    rows = [[shape, row["faults"], row["recall"], *_latency(row)] for shape, row in ours["shapes"].items()]
    heads = ["shape", "faults", "recall", *(f"within {h}" for h in HORIZONS)]
    note = "A flapping link's steps are counted in bad steps seen."
    return note + "\n\n" + table(heads, rows)


def _conditions(ours: dict[str, Any]) -> str:
    rows = [
        [name, row["jobs"], row["faults"], row["true"], row["false"], row["precision"], row["recall"]]
        for name, row in ours["conditions"].items()
    ]
    return table(["condition", "jobs", *HEADS[:5]], rows)


def _apart(ours: dict[str, Any]) -> str:
    rows = [
        [reason, row["jobs"], row["faults"], row["recall"], row["false"], row["unattributable"]]
        for reason, row in ours["apart"].items()
    ]
    heads = ["scored apart", "jobs", "faults", "recall", "false", "said unattributable"]
    return table(heads, rows) if rows else "No job is scored apart."


def _rules(methods: dict[str, Any]) -> str:
    rows = []
    for method, scored in methods.items():
        row, alarms = scored["per_kind"]["slow_compute"], scored["false_per_month"]
        rows.append(
            [
                method,
                row["precision"],
                row["recall"],
                row["f1"],
                scored["victim_blame"],
                scored["clean_jobs_accused"],
                f"{alarms['rate']:.0f} ({alarms['low']:.0f} to {alarms['high']:.0f})",
            ]
        )
    heads = ["slow_compute only", "precision", "recall", "F1", "victim-blame rate"]
    heads += ["fault-free jobs accused", "false alarms per job per 30 days"]
    return table(heads, rows)
