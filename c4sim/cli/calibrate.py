"""`c4sim calibrate`: where the scenarios of the record come from."""

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

from c4sim.cli import readers
from c4sim.cli.words import Grammar, Words, read

if TYPE_CHECKING:
    from collections.abc import Mapping

    from c4sim.studies.calibrate import CalibrationStudy
    from c4sim.theory.calibration import Calibration

HELP = """\
usage: c4sim calibrate [OPTION=VALUE...]

The calibration of the C4 record in the open: the five means of June 2023 that follow in closed form from its published
shares and from December's lost work, for both readings of the published rate, and the origin of every input.

options
  output=DIR            also write calibration.csv and provenance.csv there
  format=text|json      json: one document on stdout
"""

_TIMES = ("mtbf", "later_mtbf", "lost_work", "cycle", "detection", "isolation", "restart")


def _grammar() -> Grammar:
    return Grammar(options={"format": readers.text_format, "output": readers.some_text}, overrides=False)


def run(words: list[str]) -> int:
    """Run the verb."""
    said = read(words, _grammar())
    said.check()
    from c4sim.studies.calibrate import study
    from c4sim.studies.reproduce_files import write_calibration

    found = study()
    if "output" in said.options:
        write_calibration(found, Path(said.options["output"]))
    _show(found, said)
    return 0


def _show(found: "CalibrationStudy", said: Words) -> None:
    from c4sim.cli.output import print_json, print_table

    if said.options.get("format") == "json":
        print_json(found.as_document())
        return
    print("means of June 2023 by reading of the published rate (failures: per month; later: December 2023)")
    print_table(("", *found.means), _rows(found.means))
    print("\nthe operating reading under other treatments of what is small")
    print_table(("", *found.shifts), _rows(found.shifts))
    kinds = [
        (name, *(str(sum(o.kind == kind for o in rows)) for kind in _KINDS)) for name, rows in found.provenance.items()
    ]
    print("\ninputs by origin")
    print_table(("scenario", *_KINDS), kinds)


_KINDS = ("published", "calibrated", "derived", "assumed")


def _rows(columns: "Mapping[str, Calibration]") -> list[tuple[str, ...]]:
    first = next(iter(columns.values()))
    return [
        (entry.name, *(_cell(entry.name, getattr(column, entry.name)) for column in columns.values()))
        for entry in fields(first)
    ]


def _cell(name: str, value: float) -> str:
    if name not in _TIMES:
        return f"{value:.2f}"
    return f"{value / 3600:.3f} h" if value >= 3600 else f"{value / 60:.2f} min"
