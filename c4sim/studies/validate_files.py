"""A validation as files: one JSON document with everything, CSV tables, and the manifest of how they were made."""

from pathlib import Path
from typing import Any

from c4sim.experiment import documents
from c4sim.experiment.files import csv_text, make_folder, replace_text
from c4sim.experiment.manifest import SCHEMA_VERSION, scenario_entry, versions
from c4sim.studies.reproduce_batch import Results
from c4sim.studies.reproduce_files import json_text
from c4sim.studies.validate import Validation

RESULTS = "validation.json"
_COLUMNS = ("case", "cluster", "quantity", "metric", "unit", "clock", "independent", "expect", "as_expected", "verdict")
_TEXTS = ("source", "put_in", "leaves_out")


def write(found: Validation, folder: Path) -> None:
    """Put validation.json, cases.csv, variants.csv and manifest.json into a folder. Raises StorageError."""
    make_folder(folder)
    document = found.as_document()
    replace_text(folder / RESULTS, json_text(document))
    replace_text(folder / "cases.csv", _cases(document["cases"]))
    replace_text(folder / "variants.csv", _variants(document["cases"]))
    replace_text(folder / "manifest.json", json_text(manifest(found.results, found.seed, found.subset)))


def _cases(cases: list[dict[str, Any]]) -> str:
    header = (*_COLUMNS, "published", "mean", "low", "high", "interval", "replications", "detects", *_TEXTS)
    rows = [
        [
            *(case[column] for column in _COLUMNS),
            case["published"],
            *(case["simulated"][end] for end in ("mean", "low", "high")),
            case["interval"],
            case["replications"],
            case["detects"],
            *(case[column] for column in _TEXTS),
        ]
        for case in cases
    ]
    return csv_text(header, rows)


def _variants(cases: list[dict[str, Any]]) -> str:
    header = ("case", "overrides", "mean", "low", "high", "runs_low", "runs_high")
    rows = [
        [case["case"], " ".join(point["overrides"]), point["mean"], point["low"], point["high"], *point["runs"]]
        for case in cases
        for point in case["points"]
    ]
    return csv_text(header, rows)


def manifest(results: Results, seed: int, subset: str) -> dict[str, Any]:
    """How a validation was made: versions, seed, and every simulated scenario.

    scenarios: the first of each name, resolved; points: the others, as a change of the one of their name.
    """
    named: dict[str, Any] = {}
    points = []
    for digest, result in results.by_digest.items():
        scenario, replications = result.scenario, [0, result.n]
        if scenario.name in named:
            step = documents.change(named[scenario.name]["document"], scenario.as_document())
            points.append({"base": scenario.name, "change": step, "digest": digest, "replications": replications})
        else:
            named[scenario.name] = scenario_entry(scenario) | {"replications": replications}
    return {
        "schema_version": SCHEMA_VERSION,
        "kind": "validate",
        "seed": seed,
        "subset": subset,
        "versions": versions(),
        "scenarios": named,
        "points": points,
    }
