"""A reproduction as files: one JSON document with everything, CSV tables, and the manifest of how they were made."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from c4sim.experiment import documents
from c4sim.experiment.files import csv_text, make_folder, replace_text
from c4sim.experiment.manifest import SCHEMA_VERSION, scenario_entry, versions
from c4sim.studies.calibrate import CalibrationStudy
from c4sim.studies.reproduce import OTHER_JOB, TABLES, Reproduction
from c4sim.studies.reproduce_levers import LEVERS, Levers

RESULTS, MANIFEST, TIMELINE = "results.json", "manifest.json", "timeline.csv"
Table = tuple[Sequence[str], list[list[Any]]]


def as_document(reproduction: Reproduction) -> dict[str, Any]:
    """Everything that was found, as plain data for JSON: shares as fractions, times in s, None for what is not."""
    found = reproduction
    return {
        "schema_version": SCHEMA_VERSION,
        "seed": found.seed,
        "replications": asdict(found.sizes),
        "titles": {name: title for name, (title, _) in TABLES.items()},
        "tables": {name: [asdict(row) for row in rows] for name, rows in found.tables.items()},
        "lost_work_fall": asdict(found.lost_work_fall),
        "calibration": found.calibration.as_document(),
        "band": asdict(found.band) | {"width": found.band.width},
        "sweeps": {sweep.key: asdict(sweep) for sweep in found.sweeps},
        "optima": [asdict(optimum) for optimum in found.optima],
        "levers": _levers(found.levers),
        "others": [asdict(other) for other in found.others],
        "timelines": [asdict(timeline) for timeline in found.timelines],
    }


def _levers(levers: Levers) -> dict[str, Any]:
    return {
        "gain": asdict(levers.gain),
        "levers": [asdict(lever) for lever in levers.levers],
        "totals": [
            {"pulled": [name for name in LEVERS if name in pulled], "downtime": asdict(total)}
            for pulled, total in levers.totals.items()
        ],
    }


def manifest(reproduction: Reproduction) -> dict[str, Any]:
    """How this was made, enough to make it again: resolved scenarios, digests, versions, seed, replications.

    points: every other simulated scenario, as a change of one of the named ones.
    """
    named: dict[str, Any] = {}
    points = []
    for digest, result in reproduction.results.by_digest.items():
        name, document = result.scenario.name, result.scenario.as_document()
        if name in (*TABLES, OTHER_JOB) and name not in named:
            named[name] = scenario_entry(result.scenario) | {"replications": [0, result.n]}
        else:
            base = name.partition(" + ")[0]
            change = documents.change(named[base]["document"], document)
            points.append({"base": base, "change": change, "digest": digest, "replications": [0, result.n]})
    return {
        "schema_version": SCHEMA_VERSION,
        "kind": "reproduce",
        "seed": reproduction.seed,
        "replications": asdict(reproduction.sizes),
        "versions": versions(),
        "scenarios": named,
        "points": points,
    }


def write(reproduction: Reproduction, folder: Path) -> None:
    """Put results.json, the tables and the manifest into a folder. Raises StorageError."""
    make_folder(folder)
    for name, (header, rows) in _tables(reproduction).items():
        replace_text(folder / name, csv_text(header, rows))
    write_calibration(reproduction.calibration, folder)
    replace_text(folder / RESULTS, json_text(as_document(reproduction)))
    replace_text(folder / MANIFEST, json_text(manifest(reproduction)))


def write_calibration(study: CalibrationStudy, folder: Path) -> None:
    """Put the means and the origin of every input into a folder. Raises StorageError."""
    make_folder(folder)
    rows = [
        [name, origin.key, origin.value, origin.kind, *(origin.range or (None, None)), origin.source, origin.note]
        for name, origins in study.provenance.items()
        for origin in origins
    ]
    header = ("scenario", "key", "value", "kind", "range_low", "range_high", "source", "note")
    replace_text(folder / "provenance.csv", csv_text(header, rows))
    means = {"reading": study.means, "treatment": study.shifts}
    table = _flat(
        (asdict(found) | {"group": group, "name": name}) for group in means for name, found in means[group].items()
    )
    replace_text(folder / "calibration.csv", csv_text(*table))


def json_text(document: Any) -> str:
    """JSON as it is committed: indented, no NaN, the same bytes for the same data."""
    import json

    return json.dumps(document, indent=1, allow_nan=False, ensure_ascii=False) + "\n"


def _tables(found: Reproduction) -> dict[str, Table]:
    months = [{"scenario": name} | asdict(row) for name, rows in found.tables.items() for row in rows]
    sweeps = {
        f"sweep_{sweep.key.replace('.', '_')}.csv": _flat(_spread(point) for point in sweep.points)
        for sweep in found.sweeps
    }
    levers = [_spread(lever) for lever in found.levers.levers]
    totals = [
        {"pulled": " + ".join(name for name in LEVERS if name in pulled), **asdict(total)}
        for pulled, total in found.levers.totals.items()
    ]
    corners = [dict(corner.ends) | _spread(corner, leave="ends") for corner in found.band.corners]
    stretches = [
        {"scenario": timeline.scenario, "replication": timeline.replication} | asdict(stretch)
        for timeline in found.timelines
        for stretch in timeline.stretches
    ]
    return {
        "published_and_simulated.csv": _flat(months),
        "band_corners.csv": _flat(corners),
        "band_effects.csv": _flat(_spread(effect) for effect in found.band.effects),
        "levers.csv": _flat(levers),
        "lever_combinations.csv": _flat(totals),
        "other_assumptions.csv": _flat(_spread(other) for other in found.others),
        TIMELINE: _flat(stretches),
        **sweeps,
    }


def _spread(item: Any, leave: str | None = None) -> dict[str, Any]:
    """A dataclass as one row: estimates inside it become three columns."""
    row: dict[str, Any] = {}
    for entry in fields(item):
        value = getattr(item, entry.name)
        if entry.name == leave:
            continue
        if hasattr(value, "half_width"):
            row |= {entry.name: value.value, f"{entry.name}_low": value.low, f"{entry.name}_high": value.high}
        else:
            row[entry.name] = value
    return row


def _flat(rows: Iterable[Mapping[str, Any]]) -> Table:
    listed = list(rows)
    header = list(listed[0])
    return header, [[row[name] for name in header] for row in listed]
