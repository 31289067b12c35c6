"""`c4sim run -m`: a sweep in a folder."""

from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from c4sim.cli.run import folder_of
from c4sim.cli.words import Words

if TYPE_CHECKING:
    from c4sim.configure import Point
    from c4sim.experiment import Outcome, Plan, Shard
    from c4sim.experiment import Point as PlanPoint
    from c4sim.scenario import Scenario


def run_sweep(said: Words, default_replications: int) -> int:
    """Run, or continue, the sweep that the words describe, or that of a manifest."""
    from c4sim.cli.common import refusing
    from c4sim.experiment import SweepError, default_folder, progress, rerun, sweep

    options = _options(said)
    if "manifest" in said.options:
        manifest, folder = _again(said)
        run = partial(rerun, manifest, folder, **options)
    else:
        plan = _plan(said, default_replications)
        folder = folder_of(said) or default_folder(plan)
        run = partial(sweep, plan, folder, **options)
    _warn_of_strangers(options["shard"], folder)
    with refusing(SweepError), progress.bar("sweep") as bar:
        try:
            outcome = run(progress=bar)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"finished work is kept in {folder}: the same command continues") from None
    return _show(outcome, said)


def _warn_of_strangers(shard: "Shard", folder: Path) -> None:
    from c4sim.cli.messages import say

    others = shard.strangers(folder)
    if others:
        names = ", ".join(f"{other.index}/{other.count}" for other in others)
        say(
            f"--shard: {names} ran in {folder} before, beside which {shard.index}/{shard.count} repeats some parts and "
            f"leaves others out; take I/{others[0].count}, or no --shard for all that is missing"
        )


def _options(said: Words) -> dict[str, Any]:
    from c4sim.experiment import Shard

    if "address" in said.options and said.options.get("executor") != "dask":
        said.wrong("address", "goes with executor=dask", said.options["address"])
    try:
        shard = Shard.parse(said.text("--shard") or "1/1")
    except ValueError as error:
        said.wrong("--shard", str(error).removeprefix("shard: "))
        return {}
    return {
        "executor": said.options.get("executor", "local"),
        "workers": said.options.get("workers"),
        "address": said.options.get("address"),
        "shard": shard,
        "on_error": said.options.get("on_error", "continue"),
        "keep_ledger": said.options.get("ledger") == "keep",
    }


def _again(said: Words) -> tuple[Path, Path]:
    """The manifest and the other folder; everything else about the sweep stands in the manifest."""
    for text in said.overrides:
        said.wrong(text.partition("=")[0], "stands in the manifest")
    for name in ("replications", "target", "budget", "seed", "sweep", "points"):
        if name in said.options:
            said.wrong(name, "stands in the manifest", said.options[name])
    folder = folder_of(said)
    if folder is None:
        said.wrong("output", "is required with manifest=")
    said.check()
    assert folder is not None
    return Path(said.options["manifest"]), folder


def _plan(said: Words, default_replications: int) -> "Plan":
    from c4sim.cli.common import points_of, replications_of
    from c4sim.experiment import Plan

    points = points_of(said, multirun=True)
    replications = replications_of(said, default_replications)
    return Plan(_base(points, said), _plan_points(points), replications, said.options.get("seed", 0))


def _plan_points(points: "tuple[Point, ...]") -> "tuple[PlanPoint, ...]":
    from c4sim.experiment import Point as PlanPoint

    return tuple(
        PlanPoint(point.index, point.swept, point.scenario, "; ".join(map(str, point.problems)) or None)
        for point in points
    )


def _base(points: "tuple[Point, ...]", said: Words) -> "Scenario":
    """What all points have in common: the scenario without the swept keys, or the first point where that is none."""
    from c4sim.configure import load_points
    from c4sim.scenario import ScenarioError

    first = points[0]
    fixed = [text for text in first.overrides if text.partition("=")[0] not in first.swept]
    try:
        base = load_points(fixed, config_dir=said.text("--config-dir"))[0].scenario
    except ScenarioError:
        base = next(point.scenario for point in points if point.scenario is not None)
    assert base is not None
    return base


def _show(outcome: "Outcome", said: Words) -> int:
    from c4sim.cli.messages import say
    from c4sim.cli.output import print_json
    from c4sim.cli.targets import say_missed

    for point, error in outcome.failed:
        say(f"point {point.number} ({', '.join(f'{k}={v}' for k, v in point.values.items())}): {error}")
    missed = outcome.missed or []
    say_missed([found for _, found in missed], [f"point {point.number}" for point, _ in missed])
    if not outcome.finished:
        say(
            f"--shard: this part is done; {outcome.done} of {outcome.wanted} replications of the sweep are there, "
            "and the tables come when all shards have run"
        )
    code: int = outcome.exit_code
    if said.options.get("format") == "json":
        print_json(_document(outcome))
        return code
    if outcome.finished:
        _print_summary(outcome)
    print(outcome.folder)
    return code


def _print_summary(outcome: "Outcome") -> None:
    from c4sim.cli.output import number, print_table

    metric = "downtime_fraction"
    swept = list(takewhile(lambda name: name != "n", outcome.summary[0]))
    columns = (metric, f"{metric}.low", f"{metric}.high")
    print_table(
        (*swept, "n", metric, "95 % from", "to"),
        [
            (*(str(row[key]) for key in swept), str(row["n"]), *(number(row.get(name), metric) for name in columns))
            for row in outcome.summary
        ],
    )


def _document(outcome: "Outcome") -> dict[str, Any]:
    failed = [{"point": point.number, "values": dict(point.values), "error": error} for point, error in outcome.failed]
    document = {
        "schema_version": 1,
        "folder": str(outcome.folder),
        "finished": outcome.finished,
        "points": outcome.summary,
        "failed": failed,
    }
    if outcome.missed is not None:
        document["target_reached"] = not outcome.missed
        document["target_missed"] = [
            {"point": point.number, "replications": missed.replications, "half_width": missed.reached}
            for point, missed in outcome.missed
        ]
    return document
