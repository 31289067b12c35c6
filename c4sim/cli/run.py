"""`c4sim run`: one scenario, or a sweep."""

from pathlib import Path
from typing import TYPE_CHECKING

from c4sim.cli import readers
from c4sim.cli.words import Grammar, Words, read

if TYPE_CHECKING:
    from c4sim.experiment import Result

DEFAULT_REPLICATIONS = 100

HELP = """\
usage: c4sim run [-m] [scenario=NAME] [KEY=VALUE...] [OPTION=VALUE...]

Simulate a scenario and print its metrics with 95 % intervals. Several values of a key need -m and span a sweep:
one folder with manifest.json, status.csv, summary.csv and replications/. The same command continues what was stopped.

  c4sim run scenario=c4_june2023 checkpoint.interval=10min replications=200 seed=1
  c4sim run -m scenario=c4_june2023 checkpoint.interval=10min,30min,1h,3h spares.per_pool=0,2,8
  c4sim run 'faults.crash.mtbf=50000h per gpu' job.nodes=2048 format=json

scenarios: single_class, c4_june2023, c4_dec2023, c4_4096, c4_june2023_calendar, c4_dec2023_calendar
groups:    detection=immediate|elastic_agent|c4d   isolation=immediate|manual|c4d

options
  replications=N|auto   number of simulated runs (100); auto: as many as target= needs
  target=0.1pp          with auto: half width of the 95 % interval of the downtime fraction
  budget=N              with auto: at most so many (10000)
  seed=N                random streams are keyed on it (0)
  workers=N             processes (all cores when it is worth it)
  format=text|json      json: one document on stdout
  output=DIR            folder for the results (a sweep has a default); hydra.sweep.dir=DIR says the same
  ledger=keep|none      keep every interval of every run in that folder (none)
  --config-dir DIR      your own YAML groups, looked at before c4sim's

sweeps
  -m, --multirun        every combination of the values given
  sweep=zip             first with first, second with second, ...
  points=FILE           CSV: a column per key, a row per point
  executor=local|dask   where chunks run; address=HOST:PORT of a Dask scheduler (none: a local cluster)
  on_error=continue|stop  what a failed point means for the others (continue)
  --shard I/N           run the I-th of N parts of the sweep in a shared folder
  manifest=FILE         run the sweep of that manifest.json again, in output=DIR
"""


def _grammar() -> Grammar:
    from c4sim.cli.common import CONFIG_DIR, FORMAT, REPLICATIONS, SEED, WORKERS

    options = {
        "output": readers.folder,
        "hydra.sweep.dir": readers.folder,
        "ledger": readers.one_of("keep", "none"),
        "sweep": readers.one_of("product", "zip"),
        "points": readers.some_text,
        "executor": readers.one_of("local", "dask"),
        "address": readers.address,
        "on_error": readers.one_of("continue", "stop"),
        "manifest": readers.some_text,
    }
    return Grammar(
        options={**FORMAT, **SEED, **WORKERS, **REPLICATIONS, **options},
        switches=("--multirun",),
        texts=(*CONFIG_DIR, "--shard"),
    )


def run(words: list[str]) -> int:
    """Run the verb."""
    said = read(words, _grammar())
    if "--multirun" in said.switches or "manifest" in said.options:
        from c4sim.cli.run_sweep import run_sweep

        return run_sweep(said, DEFAULT_REPLICATIONS)
    return _single(said)


def _single(said: Words) -> int:
    from c4sim.cli.common import replications_of, scenario_of, workers_of
    from c4sim.cli.messages import say
    from c4sim.cli.targets import say_missed
    from c4sim.experiment import ReplicationError, progress, simulate

    for name in ("sweep", "points", "executor", "address", "on_error"):
        if name in said.options:
            said.wrong(name, "goes with -m", said.options[name])
    if said.text("--shard") is not None:
        said.wrong("--shard", "goes with -m", said.text("--shard"))
    folder = folder_of(said)
    if said.options.get("ledger") == "keep" and folder is None:
        said.wrong("ledger", "keep needs a folder, output=DIR")
    scenario = scenario_of(said)
    replications = replications_of(said, DEFAULT_REPLICATIONS)
    try:
        with progress.bar("run") as bar:
            result = simulate(
                scenario,
                replications,
                said.options.get("seed", 0),
                workers=workers_of(said, replications),
                keep_ledger=said.options.get("ledger") == "keep",
                progress=bar,
            )
    except ReplicationError as error:
        say(str(error))
        return 1
    if folder is not None:
        _write(result, folder, keep_ledger=said.options.get("ledger") == "keep")
    _show(result, said)
    if result.missed is not None:
        say_missed([result.missed])
    return 0


def folder_of(said: Words) -> Path | None:
    """`output=`, or Hydra's name for it."""
    name = said.options.get("output") or said.options.get("hydra.sweep.dir")
    return None if name is None else Path(name)


def _write(result: "Result", folder: Path, *, keep_ledger: bool) -> None:
    from c4sim.cli.output import write_json

    write_json(folder, manifest=result.manifest(), result=result.as_document())
    if keep_ledger:
        result.ledger.to_parquet(folder / "ledger.parquet")
        result.incidents.to_parquet(folder / "incidents.parquet")


def _show(result: "Result", said: Words) -> None:
    from c4sim.cli.output import number, print_json, print_table

    if said.options.get("format") == "json":
        print_json(result.as_document())
        return
    print(f"{result.scenario.name}: {result.n} replications, seed {result.seed}")
    rows = [
        (name, number(value.mean, name), number(value.low, name), number(value.high, name), value.unit)
        for name, value in result.metrics.items()
        if name.count("/") < 2 or value.mean
    ]
    print_table(("metric", "mean", "95 % from", "to", "unit"), rows)
