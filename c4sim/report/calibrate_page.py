"""The calibration as text: the five means of both readings, what is small, and where every input comes from."""

from collections.abc import Iterator, Mapping
from typing import Any

from c4sim.report.markdown import Table, fixed, markdown, percent, signed, time, value
from c4sim.report.pages import render
from c4sim.studies import reproduce_record as record

Document = Mapping[str, Any]
_MEANS = {
    "failures": "failures in June",
    "mtbf": "operating MTBF",
    "lost_work": "work thrown away per failure",
    "cycle": "checkpoint interval",
    "detection": "detection",
    "isolation": "diagnosis and isolation",
    "restart": "re-initialisation",
    "later_failures": "failures in December",
    "later_mtbf": "operating MTBF in December",
}
_COUNTS = ("failures", "later_failures")
_JUNES = {"operating": "c4_june2023", "calendar": "c4_june2023_calendar"}


def page(study: Document) -> str:
    """The sections of the page, Markdown, from a calibration study's document."""
    shifts = study["shifts"]
    shipped = shifts["as shipped"]["failures"]
    moved = {name: signed(found["failures"] / shipped - 1.0) + " %" for name, found in shifts.items()}
    content = {
        "lost_work_factor": f"{record.LOST_WORK_FACTOR:g}",
        "rate_factor": record.RATE_FACTOR,
        "december_total": percent(record.DECEMBER.total),
        "apart": f"{100.0 * _apart(study):.1e} %",
        "lost_december": _above(study, "c4_dec2023", record.DECEMBER),
        "lost_june": _above(study, "c4_june2023", record.JUNE),
        "by_stall": moved["with the stall of saves"],
        "by_exposure": moved["without December's exposure"],
        "by_circle": moved["with December's predicted exposure"],
        "means": markdown(means_table(study)),
        "predicted": markdown(predicted_table(study)),
        "small": markdown(_small(study)),
        "provenance": {name: markdown(_inputs(rows)) for name, rows in study["provenance"].items()},
    }
    return render("calibrate.md.j2", content)


def terminal_tables(study: Document) -> Iterator[Table]:
    """The tables that the command prints: means, predictions, inputs of June and December."""
    yield means_table(study)
    yield predicted_table(study)
    for scenario in ("c4_june2023", "c4_dec2023"):
        header, rows = _inputs(study["provenance"][scenario])
        yield (f"input of {scenario}", *header[1:4]), [row[:4] for row in rows]


def means_table(study: Document) -> Table:
    """The calibrated means of both readings."""
    readings = study["means"]
    rows = [(label, *(_mean(name, readings[r][name]) for r in readings)) for name, label in _MEANS.items()]
    return ("per failure", *(f"{reading} reading" for reading in readings)), rows


def predicted_table(study: Document) -> Table:
    """Long-run shares of the shipped scenarios, %."""
    rows = [
        (
            name,
            percent(found["total"]),
            *(percent(share, 3) for share in found["phases"].values()),
            percent(found["stall"]),
            fixed(found["failures"], 1),
            percent(found["deficit"], 3),
            percent(found["sd"]),
        )
        for name, found in study["expected"].items()
    ]
    phases = ("lost work", "detection", "isolation", "restart", "stall of saves")
    return ("closed form", "total", *phases, "failures a month", "deficit", "sd of one month"), rows


def _mean(name: str, number: float) -> str:
    return fixed(number, 1) if name in _COUNTS else time(number)


def _apart(study: Document) -> float:
    """Largest relative difference between the closed form and what the scenarios hold."""
    ratios: list[float] = [
        study["shipped"][_JUNES[reading]][name] / found[name]
        for reading, found in study["means"].items()
        for name in ("mtbf", "cycle", "detection", "isolation", "restart")
    ]
    return max(abs(ratio - 1.0) for ratio in ratios)


def _above(study: Document, scenario: str, month: record.Month) -> str:
    """By how much the closed form of a shipped scenario, its stall included, loses more work than was published."""
    published = month.phases["lost_work"] or 0.0
    return f"{100.0 * (study['expected'][scenario]['phases']['lost_work'] / published - 1.0):.2f} % (relative)"


def _small(study: Document) -> Table:
    shipped = study["shifts"]["as shipped"]
    rows = [
        (
            name,
            fixed(found["failures"], 2),
            time(found["mtbf"]),
            time(found["cycle"]),
            time(found["isolation"]),
            signed(found["failures"] / shipped["failures"] - 1.0),
        )
        for name, found in study["shifts"].items()
    ]
    return ("treatment", "failures in June", "MTBF", "cycle", "isolation", "failures, % apart"), rows


def _inputs(rows: Any) -> Table:
    lines = [
        (
            row["key"],
            value(row["value"]),
            row["kind"],
            "" if row["range"] is None else f"{value(row['range'][0])} to {value(row['range'][1])}",
            "; ".join(text for text in (row["source"], row["note"]) if text),
        )
        for row in rows
    ]
    return ("input", "value", "kind", "range", "source and note"), lines
