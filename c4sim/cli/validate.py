"""`c4sim validate`: published outcomes of other clusters beside what the simulator gives for them."""

from pathlib import Path
from typing import Any

from c4sim.cli import readers
from c4sim.cli.words import Grammar, Words, read

DEFAULT_FOLDER = "results/validation"

HELP = """\
usage: c4sim validate [CLUSTER...] [OPTION=VALUE...]

The published inputs of real clusters (Meta RSC, Llama 3, BLOOM, NCSA Delta, Fire-Flyer 2, Acme, OPT, HPN, C4) simulated
without tuning, and their published outcomes beside the result: inside, outside, bound held, bound broken, not testable.
Independent cases and checks of mechanics are told apart; a known miss says what the model leaves out.

  c4sim validate
  c4sim validate rsc llama3_405b subset=ci

A file validation/NAME.yaml in --config-dir adds a cluster (see docs/own-cluster.md).

Exit codes: 0 every case as expected, 1 a case that should hold does not, 2 bad input.

options
  subset=full|ci        ci: fewer replications and cases, for continuous integration (full)
  seed=N                random streams are keyed on it (0)
  workers=N             processes (all cores)
  output=DIR            where tables, figures and manifest go (results/validation; for a part of the cases: nowhere)
  page=FILE             also put the tables between the marks of a Markdown page
  format=text|json      json: one document on stdout
  --config-dir DIR      your own YAML groups, looked at before c4sim's
"""


def _grammar() -> Grammar:
    from c4sim.cli.common import CONFIG_DIR, FORMAT, SEED, WORKERS

    options = {
        "subset": readers.one_of("full", "ci"),
        "output": readers.some_text,
        "page": readers.some_text,
    }
    return Grammar(
        options={**FORMAT, **SEED, **WORKERS, **options}, texts=CONFIG_DIR, overrides=False, positional="a cluster"
    )


def run(words: list[str]) -> int:
    """Run the verb."""
    from c4sim.cli.messages import say
    from c4sim.executors import cpu_count
    from c4sim.experiment import ReplicationError, progress
    from c4sim.studies.validate import validate_clusters

    said = read(words, _grammar())
    said.check()
    given = said.options
    try:
        with progress.bar("validate") as bar:
            found = validate_clusters(
                said.text("--config-dir"),
                only=said.positional or None,
                subset=given.get("subset", "full"),
                seed=given.get("seed", 0),
                workers=given.get("workers", cpu_count()),
                progress=bar,
            )
    except ReplicationError as error:
        say(str(error))
        return 1
    folder = _folder(said)
    if folder is not None:
        _write(found, folder)
    document = found.as_document()
    _page(document, said)
    _show(document, folder, said)
    for outcome in found.unexpected:
        say(f"unexpected: {outcome.cluster}: {outcome.case.title}: {outcome.verdict}")
    return 1 if found.unexpected else 0


def _folder(said: Words) -> Path | None:
    """Where the files go. A part of the cases must not take the place of all of them unasked."""
    if "output" in said.options:
        return Path(said.options["output"])
    whole = said.options.get("subset", "full") == "full" and not said.positional
    return Path(DEFAULT_FOLDER) if whole else None


def _write(found: Any, folder: Path) -> None:
    from c4sim.report import validation_figure
    from c4sim.studies.validate_files import write

    write(found, folder)
    validation_figure.draw(found.as_document(), folder)


def _page(document: dict[str, Any], said: Words) -> None:
    from c4sim.cli.common import refusing
    from c4sim.report.validation import update_page

    if "page" in said.options:
        with refusing(ValueError):
            update_page(Path(said.options["page"]), document)


def _show(document: dict[str, Any], folder: Path | None, said: Words) -> None:
    from c4sim.cli.output import print_json, print_table
    from c4sim.report.validation import TERMINAL_HEADER, headline, terminal

    if said.options.get("format") == "json":
        print_json(document)
        return
    print_table(TERMINAL_HEADER, terminal(document))
    print(headline(document))
    if folder is not None:
        print(f"everything: {folder}")
