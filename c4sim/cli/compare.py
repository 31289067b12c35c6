"""`c4sim compare`: paired differences on common random numbers."""

from pathlib import Path
from typing import TYPE_CHECKING

from c4sim.cli import readers
from c4sim.cli.words import Grammar, Words, read

if TYPE_CHECKING:
    from c4sim.experiment import Comparison

DEFAULT_REPLICATIONS = 200

HELP = """\
usage: c4sim compare [scenario=NAME] [KEY=VALUE...] --with "KEY=VALUE..." [--with ...] [OPTION=VALUE...]

What each alternative changes. Base and alternatives meet the same faults (common random numbers), so the difference of
every metric is paired and its 95 % interval narrow. Each --with is one alternative: overrides in one quoted text.

  c4sim compare scenario=c4_june2023 --with checkpoint.interval=10min --with spares.per_pool=16
  c4sim compare scenario=c4_june2023 --with "detection=c4d isolation=c4d" replications=auto target=0.1pp

options
  replications=N|auto   number of simulated runs (200); auto: as many as target= needs
  target=0.1pp          with auto: half width of the 95 % interval of the difference in the downtime fraction
  budget=N              with auto: at most so many (10000)
  margin=0.5pp          say whether each metric is shown to be equal within it, in the metric's unit
  seed=N                random streams are keyed on it (0)
  workers=N             processes (all cores when it is worth it)
  format=text|json      json: one document on stdout
  output=DIR            write comparison.json and manifest.json there
  --config-dir DIR      your own YAML groups, looked at before c4sim's
"""


def _grammar() -> Grammar:
    from c4sim.cli.common import CONFIG_DIR, FORMAT, REPLICATIONS, SEED, WORKERS

    options = {**FORMAT, **SEED, **WORKERS, **REPLICATIONS, "margin": readers.share, "output": readers.folder}
    return Grammar(options=options, texts=CONFIG_DIR, lists=("--with",))


def run(words: list[str]) -> int:
    """Run the verb."""
    from c4sim.cli.common import alternatives_of, replications_of, scenario_of, workers_of
    from c4sim.cli.messages import say
    from c4sim.cli.output import write_json
    from c4sim.cli.targets import say_missed_differences
    from c4sim.experiment import ReplicationError, compare, progress

    grammar = _grammar()
    said = read(words, grammar)
    if not said.texts.get("--with"):
        said.wrong("--with", 'give at least one alternative, as in --with "checkpoint.interval=10min"')
    alternatives = alternatives_of(said, grammar.options)
    base = scenario_of(said)
    replications = replications_of(said, DEFAULT_REPLICATIONS)
    try:
        with progress.bar("compare") as bar:
            comparison = compare(
                base,
                alternatives,
                replications=replications,
                seed=said.options.get("seed", 0),
                workers=workers_of(said, replications),
                margin=said.options.get("margin"),
                progress=bar,
            )
    except ReplicationError as error:
        say(str(error))
        return 1
    if "output" in said.options:
        write_json(Path(said.options["output"]), comparison=comparison.as_document(), manifest=comparison.manifest())
    _show(comparison, said)
    say_missed_differences(comparison)
    return 0


def _show(comparison: "Comparison", said: Words) -> None:
    from c4sim.cli.output import difference, number, print_json, print_table

    if said.options.get("format") == "json":
        print_json(comparison.as_document())
        return
    base = comparison.base
    header = ["metric", "base", "difference", "95 % from", "to", "variance ratio"]
    header += [] if comparison.margin is None else ["equal"]
    print(f"{base.scenario.name}: {base.n} replications, seed {base.seed}; differences from it")
    for alternative in comparison.alternatives:
        print(f"\nwith {alternative.label}")
        rows = [
            (
                name,
                number(base.metrics[name].mean, name),
                *(difference(value, name) for value in (found.difference, found.low, found.high)),
                number(found.variance_ratio),
                *([] if comparison.margin is None else [_equal(found.equivalent(comparison.margin))]),
            )
            for name, found in alternative.differences.items()
            if name.count("/") < 2 and (found.difference or base.metrics[name].mean)
        ]
        print_table(header, rows)


def _equal(shown: bool) -> str:
    return "yes" if shown else "not shown"
