"""`c4sim validate`: the published outcomes of other clusters beside their simulation."""

from pathlib import Path
from typing import TYPE_CHECKING

from c4sim.cli import readers
from c4sim.cli.words import Grammar, Words, read

if TYPE_CHECKING:
    from c4sim.studies.validate import Outcome, Validation

HELP = """\
usage: c4sim validate [CLUSTER...] [OPTION=VALUE...]

Does the simulator tell the truth elsewhere? What other clusters have published beside what it gives for them, case by
case: what was put in, which clock, whether the figure is independent of the inputs, and the verdict.

  c4sim validate
  c4sim validate rsc llama3_405b subset=ci

exit codes: 0 every case as expected, 1 a case that should hold does not, 2 bad input

options
  subset=full|ci        ci: a tenth of the replications (full)
  seed=N                random streams are keyed on it (0)
  workers=N             processes (all cores)
  output=DIR            write validation.json there
  format=text|json      json: one document on stdout
  --config-dir DIR      your own YAML groups: validation/NAME.yaml adds a cluster
"""


def _grammar() -> Grammar:
    from c4sim.cli.common import CONFIG_DIR, FORMAT, SEED, WORKERS

    options = {"subset": readers.one_of("full", "ci"), "output": readers.some_text}
    return Grammar(
        options={**FORMAT, **SEED, **WORKERS, **options}, texts=CONFIG_DIR, overrides=False, positional="a cluster"
    )


def run(words: list[str]) -> int:
    """Run the verb."""
    from c4sim.cli.messages import say
    from c4sim.cli.output import write_json
    from c4sim.executors import cpu_count
    from c4sim.experiment import ReplicationError, progress
    from c4sim.studies.validate import validate_clusters

    said = read(words, _grammar())
    said.check()
    try:
        with progress.bar("validate") as bar:
            found = validate_clusters(
                said.text("--config-dir"),
                only=said.positional or None,
                subset=said.options.get("subset", "full"),
                seed=said.options.get("seed", 0),
                workers=said.options.get("workers", cpu_count()),
                progress=bar,
            )
    except ReplicationError as error:
        say(str(error))
        return 1
    if "output" in said.options:
        write_json(Path(said.options["output"]), validation=found.as_document())
    _show(found, said)
    return 1 if found.unexpected else 0


def _show(found: "Validation", said: Words) -> None:
    from c4sim.cli.messages import say
    from c4sim.cli.output import print_json, print_table

    if said.options.get("format") == "json":
        print_json(found.as_document())
    else:
        header = ("case", "published", "simulated", "95 % from", "to", "unit", "verdict")
        print_table(header, [_row(outcome) for outcome in found.outcomes])
    for outcome in found.unexpected:
        say(f"not as expected: {outcome.file}/{outcome.name}: {outcome.verdict}")


def _row(outcome: "Outcome") -> tuple[str, ...]:
    from c4sim.cli.output import number

    published = outcome.published
    ends = published if isinstance(published, tuple) else (published,)
    judged = outcome.judgement
    return (
        f"{outcome.file}/{outcome.name}",
        " to ".join(number(end) for end in ends),
        *(number(value) for value in (judged.mean, judged.low, judged.high)),
        outcome.unit,
        judged.verdict,
    )
