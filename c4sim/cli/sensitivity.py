"""`c4sim sensitivity`: one input at a time over its range."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from c4sim.cli import readers
from c4sim.cli.words import Grammar, Words, read

if TYPE_CHECKING:
    from c4sim.studies.sensitivity import Sensitivity

DEFAULT_REPLICATIONS = 200

HELP = """\
usage: c4sim sensitivity [scenario=NAME] [KEY=VALUE...] [--range KEY=LOW,HIGH ...] [OPTION=VALUE...]

Which input deserves measuring: each goes to the ends of its range alone, on common random numbers, and the inputs are
ranked by what that does to a metric. Without --range: the assumed inputs over their own ranges.

  c4sim sensitivity scenario=c4_dec2023
  c4sim sensitivity scenario=c4_june2023 --range checkpoint.interval=10min,6h --range detection.delay=10s,1h

options
  --range KEY=LOW,HIGH  an input and the ends of its range
  metric=NAME           what to look at (downtime_fraction)
  replications=N|auto   number of simulated runs (200); auto: as many as target= needs
  target=0.1pp          with auto: half width of the 95 % interval of every difference
  budget=N              with auto: at most so many (10000)
  seed=N                random streams are keyed on it (0)
  workers=N             processes (all cores when it is worth it)
  format=text|json      json: one document on stdout
  output=DIR            write sensitivity.json, manifest.json and the tornado figure (PNG, SVG) there
  --config-dir DIR      your own YAML groups, looked at before c4sim's
"""


def _grammar() -> Grammar:
    from c4sim.cli.common import CONFIG_DIR, FORMAT, REPLICATIONS, SEED, WORKERS

    options = {**FORMAT, **SEED, **WORKERS, **REPLICATIONS, "metric": readers.some_text, "output": readers.folder}
    return Grammar(options=options, texts=CONFIG_DIR, lists=("--range",))


def run(words: list[str]) -> int:
    """Run the verb."""
    from c4sim.cli.common import refusing, replications_of, scenario_of, workers_of
    from c4sim.cli.messages import say
    from c4sim.cli.targets import say_missed_differences
    from c4sim.experiment import ReplicationError, progress
    from c4sim.studies.sensitivity import sensitivity

    said = read(words, _grammar())
    ranges = _ranges(said)
    scenario = scenario_of(said)
    replications = replications_of(said, DEFAULT_REPLICATIONS)
    try:
        with refusing(ValueError), progress.bar("sensitivity") as bar:
            found = sensitivity(
                scenario,
                ranges,
                replications=replications,
                seed=said.options.get("seed", 0),
                workers=workers_of(said, replications),
                metric=said.options.get("metric", "downtime_fraction"),
                progress=bar,
            )
    except ReplicationError as error:
        say(str(error))
        return 1
    if "output" in said.options:
        _write(found, Path(said.options["output"]))
    _show(found, said)
    say_missed_differences(found.comparison)
    return 0


def _ranges(said: Words) -> dict[str, tuple[Any, Any]] | None:
    from c4sim.configure import read_values

    texts = said.texts.get("--range", [])
    if not texts:
        return None
    found = read_values(texts, said.problems)
    for key, values in found.items():
        if len(values) != 2:
            said.wrong("--range", f"{key} needs two ends, as in {key}=LOW,HIGH", len(values))
    return {key: (values[0], values[-1]) for key, values in found.items()}


def _write(found: "Sensitivity", folder: Path) -> None:
    from c4sim.cli.output import write_json
    from c4sim.report.tornado import draw_tornado

    write_json(folder, sensitivity=found.as_document(), manifest=found.comparison.manifest())
    draw_tornado(found.as_document(), folder)


def _show(found: "Sensitivity", said: Words) -> None:
    from c4sim.cli.output import difference, number, print_json, print_table

    if said.options.get("format") == "json":
        print_json(found.as_document())
        return
    base = found.comparison.base
    print(f"{base.scenario.name}: {base.n} replications, seed {base.seed}; {found.metric} at the base ", end="")
    print(number(base.metrics[found.metric].mean, found.metric))
    rows = [
        (
            row.name,
            *(str(end) for end in (row.low, row.high)),
            *(difference(value, found.metric) for value in (row.at_low.value, row.at_high.value)),
            *(difference(value, found.metric) for value in (row.effect.low, row.effect.high)),
        )
        for row in found.rows
    ]
    print_table(("input", "low end", "high end", "at low end", "at high end", "effect from", "to"), rows)
