"""`c4sim reproduce`: the record beside its simulation."""

from pathlib import Path

from c4sim.cli import readers
from c4sim.cli.words import Grammar, read

DEFAULT_FOLDER = "results/c4"

HELP = """\
usage: c4sim reproduce [OPTION=VALUE...]

June and December 2023 simulated beside the published table (C4, arXiv:2406.04594): phases and causes with intervals,
the job on 4,096 GPUs, December's band over the assumed ranges, sweeps of checkpoint interval, spares and detection
delay, and the share that each lever earned. Tables, figures (PNG, SVG) and a manifest go into a folder.

options
  replications=N        simulated months of June; the other parts take fixed fractions of it (4000)
  seed=N                random streams are keyed on it (0)
  workers=N             processes (all cores)
  output=DIR            where the results go (results/c4)
  format=text|json      json: one document on stdout
"""


def _grammar() -> Grammar:
    from c4sim.cli.common import FORMAT, SEED, WORKERS

    options = {"replications": readers.whole(2, 10_000_000), "output": readers.folder}
    return Grammar(options={**FORMAT, **SEED, **WORKERS, **options}, overrides=False)


def run(words: list[str]) -> int:
    """Run the verb."""
    from c4sim.cli.messages import say
    from c4sim.executors import cpu_count
    from c4sim.experiment import ReplicationError, progress
    from c4sim.report.reproduce import write_report
    from c4sim.studies.reproduce import REPLICATIONS, reproduce
    from c4sim.studies.reproduce_files import as_document, write

    said = read(words, _grammar())
    said.check()
    folder = Path(said.options.get("output", DEFAULT_FOLDER))
    try:
        with progress.bar("reproduce") as bar:
            found = reproduce(
                said.options.get("replications", REPLICATIONS),
                said.options.get("seed", 0),
                said.options.get("workers", cpu_count()),
                bar,
            )
    except ReplicationError as error:
        say(str(error))
        return 1
    write(found, folder)
    write_report(folder)
    _show(as_document(found), folder, said.options.get("format") == "json")
    return 0


def _show(document: dict[str, object], folder: Path, json_output: bool) -> None:
    from c4sim.cli.output import print_json, print_table
    from c4sim.report.reproduce import summary
    from c4sim.report.reproduce_page import headline

    if json_output:
        print_json(document)
        return
    for title, header, rows in summary(document):
        print(title)
        print_table(header, rows)
        print()
    print(headline(document))
    print(f"everything: {folder}")
