"""`c4sim check`: does the simulator still give what the baselines say?"""

from pathlib import Path
from typing import TYPE_CHECKING

from c4sim.cli import readers
from c4sim.cli.words import Grammar, Words, read

if TYPE_CHECKING:
    from c4sim.cli.check_refused import Refused
    from c4sim.experiment import Progress
    from c4sim.gate import Report

HELP = """\
usage: c4sim check BASELINE... [OPTION=VALUE...]
       c4sim check BASELINE... --update
       c4sim check --create FILE [scenario=NAME] [KEY=VALUE...]

Run the scenarios of the baselines again with fresh seeds and test whether each gated metric (downtime_fraction) is
equivalent within its margin (1.5 % of it), by two one-sided tests. Other metrics are listed beside it.

  c4sim check results/baselines/*.json
  c4sim check results/baselines/c4_june2023.json --update
  c4sim check --create results/baselines/mine.json scenario=c4_june2023 checkpoint.interval=10min

exit codes: 0 equivalent, 1 changed, 3 undecided (with the replications that would decide), 2 bad input (a baseline that
cannot be used; the others are checked all the same)

options
  replications=N        instead of the number that each baseline asks for
  seed=N                instead of a fresh one
  workers=N             processes (all cores)
  format=text|json      json: one document on stdout
  junit=FILE            write JUnit XML as well
  --annotations         print workflow commands that a CI log shows beside the file
  --update              make the baselines again and show what changed
  --create FILE         make a new baseline; metric=NAME and margin=1.5% set its gate
  --config-dir DIR      your own YAML groups, looked at before c4sim's
"""


def _grammar() -> Grammar:
    from c4sim.cli.common import CONFIG_DIR, FORMAT, SEED, WORKERS

    options = {
        "replications": readers.whole(2, 10_000_000),
        "junit": readers.file,
        "metric": readers.some_text,
        "margin": readers.probability,
    }
    return Grammar(
        options={**FORMAT, **SEED, **WORKERS, **options},
        switches=("--update", "--annotations"),
        texts=(*CONFIG_DIR, "--create"),
        positional="a baseline",
    )


def run(words: list[str]) -> int:
    """Run the verb."""
    said = read(words, _grammar())
    new = said.text("--create")
    if new is not None:
        return _create(said, Path(new))
    for text in said.overrides:
        said.wrong(text.partition("=")[0], "scenario keys go with --create only")
    if not said.positional:
        said.wrong("BASELINE", "give at least one file, or --create FILE")
    said.check()
    return _check(said)


def _check(said: Words) -> int:
    from c4sim import gate
    from c4sim.cli.check_refused import BAD_INPUT, into_junit
    from c4sim.cli.messages import say_problems

    report, refused = _reports(said)
    if "junit" in said.options:
        text = into_junit(gate.junit(report), refused)
        Path(said.options["junit"]).write_text(text, encoding="utf-8")
    _show(report, refused, said)
    say_problems(problem for one in refused for problem in one.problems)
    return BAD_INPUT if refused else report.exit_code


def _reports(said: Words) -> "tuple[Report, list[Refused]]":
    """What the usable baselines gave, and those that cannot be used. An update is of all or none."""
    from c4sim import gate
    from c4sim.cli.check_refused import Refused
    from c4sim.experiment import progress

    paths = [Path(name) for name in said.positional]
    found: list[Report] = []
    refused = []
    with progress.bar("check") as bar:
        if "--update" in said.switches:
            return _gate(paths, said, bar), []
        for path in paths:
            try:
                found.append(_gate([path], said, bar))
            except gate.BaselineError as error:
                refused.append(Refused(path, tuple(error.problems)))
    return gate.Report(tuple(checked for report in found for checked in report.checked)), refused


def _gate(paths: list[Path], said: Words, progress: "Progress") -> "Report":
    from c4sim import gate
    from c4sim.executors import cpu_count

    folder = said.text("--config-dir")
    return gate.check(
        paths,
        workers=said.options.get("workers", cpu_count()),
        seed=said.options.get("seed"),
        replications=said.options.get("replications"),
        update="--update" in said.switches,
        config_dir=None if folder is None else Path(folder),
        progress=progress,
    )


def _show(report: "Report", refused: "list[Refused]", said: Words) -> None:
    from c4sim.cli.check_refused import annotations, into_document
    from c4sim.cli.output import print_json

    if said.options.get("format") == "json":
        print_json(into_document(report.as_document(), refused))
        return
    for line in report.lines():
        print(line)
    if "--annotations" in said.switches:
        for line in [*report.annotations(), *annotations(refused)]:
            print(line)


def _create(said: Words, path: Path) -> int:
    from c4sim import gate
    from c4sim.cli.common import scenario_of
    from c4sim.configure import DEFAULT_SCENARIO
    from c4sim.executors import cpu_count
    from c4sim.experiment import progress

    for word in said.positional:
        said.wrong(word, "is no key=value")
    for name in ("replications", "junit"):
        if name in said.options:
            said.wrong(name, "goes with a check: a new baseline takes as many replications as its margin needs")
    for switch in said.switches:
        said.wrong(switch, "goes with a check, not with --create")
    try:
        readers.file(str(path))
    except ValueError as error:
        said.wrong("--create", str(error), str(path))
    scenario = scenario_of(said)
    names = [text.partition("=")[2] for text in said.overrides if text.startswith("scenario=")]
    others = [text for text in said.overrides if not text.startswith("scenario=")]
    gates = (
        gate.Gate(metric=said.options.get("metric", "downtime_fraction"), margin=said.options.get("margin", 0.015)),
    )
    with progress.bar("baseline") as bar:
        baseline = gate.create(
            scenario,
            gates=gates,
            source=[*(names[-1:] or [DEFAULT_SCENARIO]), *others],
            seed=said.options.get("seed", 1),
            workers=said.options.get("workers", cpu_count()),
            progress=bar,
        )
    gate.write(path, baseline)
    print(f"{path}: {baseline.replications} replications, seed {baseline.seed}")
    return 0
