"""`c4sim calibrate`: where the scenarios of the record come from."""

from pathlib import Path
from typing import TYPE_CHECKING

from c4sim.cli import readers
from c4sim.cli.words import Grammar, Words, read

if TYPE_CHECKING:
    from c4sim.studies.calibrate import CalibrationStudy

HELP = """\
usage: c4sim calibrate [OPTION=VALUE...]

The calibration of the C4 record in the open: the five means of June 2023 that follow in closed form from its published
shares and from December's lost work, for both readings of the published rate, and the origin of every input.

options
  output=DIR            also write calibration.csv and provenance.csv there
  format=text|json      json: one document on stdout
"""


def _grammar() -> Grammar:
    return Grammar(options={"format": readers.text_format, "output": readers.folder}, overrides=False)


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
    from c4sim.report.calibrate_page import terminal_tables

    document = found.as_document()
    if said.options.get("format") == "json":
        print_json(document)
        return
    for number, (header, rows) in enumerate(terminal_tables(document)):
        print("\n" * bool(number), end="")
        print_table(header, rows)
