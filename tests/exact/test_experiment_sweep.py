"""A sweep's folder: tables, resume to the bit, refusals, failures, shards."""

import csv
import json
import re
from collections.abc import Sequence
from pathlib import Path

import experiment_fakes as fakes
import pandas as pd
import pytest

from c4sim.experiment import Outcome, Plan, Point, Precision, Shard, StorageError, SweepError, rerun, simulate, sweep
from c4sim.experiment.files import lock
from c4sim.experiment.kernel import Kernel
from c4sim.scenario import Scenario, validate

INTERVALS = ("30min", "1h", "2h", "3h")


def plan_of(
    intervals: Sequence[str] = INTERVALS,
    replications: int | Precision = 20,
    seed: int = 5,
    horizon: str = "30d",
    **more,
) -> Plan:
    points = tuple(
        Point(i, {"checkpoint.interval": text}, validate({"horizon": horizon, "checkpoint": {"interval": text}}))
        for i, text in enumerate(intervals)
    )
    return Plan(validate({"horizon": horizon}), points, replications, seed, **more)


def run(plan: Plan, folder: Path, kernel: Kernel = fakes.FAST, **options) -> Outcome:
    return sweep(plan, folder, **{"workers": 1, "kernel": kernel, **options})


def rows_of(folder: Path, name: str = "summary.csv") -> list[dict[str, str]]:
    with (folder / name).open(newline="") as file:
        return list(csv.DictReader(file))


def tables(folder: Path) -> tuple[bytes, bytes]:
    frame = pd.read_parquet(folder / "replications")
    return (folder / "summary.csv").read_bytes(), frame.to_csv().encode()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sweeps") / "whole"
    assert run(plan_of(), folder).exit_code == 0
    return folder


def test_the_summary_has_a_row_a_point(whole: Path) -> None:
    rows = rows_of(whole)
    assert list(rows[0])[:5] == ["checkpoint.interval", "n", *(f"downtime_fraction{e}" for e in ("", ".low", ".high"))]
    assert [row["checkpoint.interval"] for row in rows] == list(INTERVALS)
    assert {row["n"] for row in rows} == {"20"}
    frame = pd.read_parquet(whole / "replications")
    assert len(frame) == 80
    assert list(frame.columns) == ["point", "replication", *fakes.COLUMNS]


def test_a_point_is_what_simulate_gives(whole: Path) -> None:
    value = simulate(plan_of().points[2].scenario, 20, 5, kernel=fakes.FAST).metrics["downtime_fraction"]
    row = rows_of(whole)[2]
    assert [float(row[f"downtime_fraction{e}"]) for e in ("", ".low", ".high")] == [value.mean, value.low, value.high]


def test_points_share_their_faults_unless_told_otherwise(whole: Path, tmp_path: Path) -> None:
    assert len({row["failures"] for row in rows_of(whole)}) == 1
    run(plan_of(common_random_numbers=False), tmp_path / "apart")
    assert len({row["failures"] for row in rows_of(tmp_path / "apart")}) == len(INTERVALS)


def test_the_folder_holds_a_handful_of_files(whole: Path) -> None:
    names = {path.name for path in whole.rglob("*") if path.is_file()}
    assert names >= {"manifest.json", "status.csv", "summary.csv", "all.parquet"}
    assert len(names) < 8


@pytest.mark.parametrize("workers", [2, 4])
def test_any_number_of_workers_gives_the_same_tables(whole: Path, tmp_path: Path, workers: int) -> None:
    run(plan_of(), tmp_path, workers=workers)
    assert tables(tmp_path) == tables(whole)


def test_the_manifest_runs_the_sweep_again(whole: Path, tmp_path: Path) -> None:
    rerun(whole / "manifest.json", tmp_path, workers=1, kernel=fakes.FAST)
    assert tables(tmp_path) == tables(whole)
    assert (tmp_path / "manifest.json").read_bytes() == (whole / "manifest.json").read_bytes()


def test_a_finished_sweep_runs_nothing_again(whole: Path) -> None:
    before = tables(whole)
    assert run(plan_of(), whole).ran == 0
    assert tables(whole) == before


@pytest.mark.parametrize("stop_after", [1, 6, 33, 79])
def test_a_stopped_sweep_runs_only_what_is_missing(whole: Path, tmp_path: Path, stop_after: int) -> None:
    with pytest.raises(SweepError, match="enough"):
        run(plan_of(), tmp_path, fakes.kernel_that_stops(stop_after), on_error="stop")
    done = len(pd.read_parquet(tmp_path / "replications"))
    assert done == stop_after
    assert run(plan_of(), tmp_path).ran == 80 - done
    assert tables(tmp_path) == tables(whole)


@pytest.mark.parametrize(
    ("other", "line"),
    [
        (plan_of(horizon="20d"), "horizon: 2592000.0s -> 1728000.0s"),
        (plan_of(seed=6), "seed: 5 -> 6"),
        (plan_of(replications=21), "replications: 20 -> 21"),
        (plan_of(INTERVALS[:3]), "points\\[3\\].number: 3 -> \\(absent\\)"),
        (plan_of(("30min", "1h", "2h", "4h")), "points\\[3\\].values.checkpoint.interval: 3h -> 4h"),
        (plan_of(common_random_numbers=False), "common_random_numbers: True -> False"),
    ],
)
def test_another_sweep_is_refused_with_the_difference(whole: Path, other: Plan, line: str) -> None:
    before = tables(whole)
    with pytest.raises(SweepError, match=f"holds another sweep(.|\n)*{line}"):
        run(other, whole)
    assert tables(whole) == before


def test_another_version_is_refused(whole: Path, tmp_path: Path) -> None:
    document = json.loads((whole / "manifest.json").read_text())
    document["versions"]["c4sim"] = "0.0.1"
    (tmp_path / "manifest.json").write_text(json.dumps(document))
    with pytest.raises(SweepError, match=r"versions.c4sim: 0.0.1 -> "):
        run(plan_of(), tmp_path)


@pytest.mark.parametrize("text", ["{", "[]", '{"schema_version": 1}'])
def test_a_spoiled_manifest_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(SweepError):
        run(plan_of(), tmp_path)
    with pytest.raises(SweepError):
        rerun(tmp_path / "manifest.json", tmp_path / "other", kernel=fakes.FAST)


def test_replications_without_a_manifest_are_refused(whole: Path, tmp_path: Path) -> None:
    (tmp_path / "replications").mkdir()
    (tmp_path / "replications" / "all.parquet").write_bytes((whole / "replications" / "all.parquet").read_bytes())
    with pytest.raises(SweepError, match=r"holds replications but no manifest.json"):
        run(plan_of(), tmp_path)


def test_a_folder_in_use_is_refused(tmp_path: Path) -> None:
    with lock(tmp_path / ".lock-1-of-1"), pytest.raises(SweepError, match="another process is running this sweep"):
        run(plan_of(), tmp_path)


def test_failed_points_are_named_and_hide_no_other(whole: Path, tmp_path: Path) -> None:
    outcome = run(plan_of(), tmp_path, fakes.FAILING)
    assert outcome.exit_code == 1
    ((point, error),) = outcome.failed
    assert (point.number, error) == (2, "replication 1: ValueError: the two hours do not work")
    status = rows_of(tmp_path, "status.csv")
    assert [row["state"] for row in status] == ["done", "done", "failed", "done"]
    assert status[2]["error"] == error
    rows, expected = rows_of(tmp_path), rows_of(whole)
    assert [rows[i] for i in (0, 1, 3)] == [expected[i] for i in (0, 1, 3)]
    assert (rows[2]["n"], rows[2]["downtime_fraction"]) == ("0", "")
    # What made it fail has been mended: the point alone runs, and nothing tells that it failed once.
    assert run(plan_of(), tmp_path).ran == 20
    assert tables(tmp_path) == tables(whole)


def test_no_more_is_run_of_a_failed_point(tmp_path: Path) -> None:
    # Of the failing point one replication before the error; of the other one all.
    assert run(plan_of(("2h", "1h"), replications=200), tmp_path, fakes.FAILING).ran == 1 + 200


def test_on_error_stop_stops(tmp_path: Path) -> None:
    message = r"point 2 \(checkpoint.interval=2h\): replication 1: ValueError: the two hours do not work"
    with pytest.raises(SweepError, match=message):
        run(plan_of(), tmp_path, fakes.FAILING, on_error="stop")
    assert not (tmp_path / "summary.csv").exists()


def test_a_point_that_cannot_be_composed_is_a_failed_point(tmp_path: Path) -> None:
    good = plan_of(("1h", "2h"))
    bad = Point(2, {"checkpoint.interval": "-1h"}, None, "checkpoint.interval: must be longer than 0")
    plan = Plan(good.base, (*good.points, bad), 20, 5)
    outcome = run(plan, tmp_path / "a")
    assert [(p.number, error) for p, error in outcome.failed] == [(2, bad.error)]
    assert [row["n"] for row in rows_of(tmp_path / "a")] == ["20", "20", "0"]
    with pytest.raises(SweepError, match=r"point 2 \(checkpoint.interval=-1h\): checkpoint.interval: must be longer"):
        run(plan, tmp_path / "b", on_error="stop")


def test_equal_values_are_points_of_their_own(tmp_path: Path) -> None:
    rows = run(plan_of(("1h", "2h", "3h", "2h")), tmp_path).summary
    assert [row["n"] for row in rows] == [20] * 4
    assert rows[1] == rows[3]


@pytest.mark.parametrize("count", [2, 3, 7])
def test_shards_in_any_order_give_the_same_tables(whole: Path, tmp_path: Path, count: int) -> None:
    outcomes = [run(plan_of(), tmp_path, shard=Shard(i, count)) for i in reversed(range(1, count + 1))]
    assert [outcome.finished for outcome in outcomes] == [False] * (count - 1) + [True]
    assert sum(outcome.ran for outcome in outcomes) == 80
    there = [sum(outcome.ran for outcome in outcomes[: i + 1]) for i in range(count)]
    assert [(outcome.done, outcome.wanted) for outcome in outcomes] == [(done, 80) for done in there]
    assert tables(tmp_path) == tables(whole)
    assert {row["state"] for row in rows_of(tmp_path, "status.csv")} == {"done"}


def test_shards_of_another_count_are_found_until_the_sweep_is_done(tmp_path: Path) -> None:
    run(plan_of(), tmp_path, shard=Shard(1, 3))
    run(plan_of(), tmp_path, shard=Shard(3, 3))
    (tmp_path / "status-of-x.csv").touch()
    assert Shard(2, 2).strangers(tmp_path) == [Shard(1, 3), Shard(3, 3)]
    assert Shard(2, 3).strangers(tmp_path) == Shard().strangers(tmp_path) == []
    run(plan_of(), tmp_path)
    assert Shard(2, 2).strangers(tmp_path) == []


def test_a_lost_shard_is_done_by_the_command_without_shard(whole: Path, tmp_path: Path) -> None:
    run(plan_of(), tmp_path, shard=Shard(2, 3))
    outcome = run(plan_of(), tmp_path)
    assert outcome.finished
    assert 0 < outcome.ran < 80
    assert tables(tmp_path) == tables(whole)


@pytest.mark.parametrize("order", [(1, 2), (2, 1)])
def test_a_failure_in_one_shard_is_known_to_the_last(tmp_path: Path, order: tuple[int, int]) -> None:
    outcomes = [run(plan_of(), tmp_path, fakes.FAILING, shard=Shard(i, 2)) for i in order]
    assert [p.number for p, _ in outcomes[-1].failed] == [2]
    assert outcomes[-1].finished


def test_auto_gives_each_point_what_it_needs(tmp_path: Path) -> None:
    plan = plan_of(replications=Precision(0.004, budget=5000))
    rows = run(plan, tmp_path / "a").summary
    assert all(row["downtime_fraction.high"] - row["downtime_fraction.low"] <= 0.008 for row in rows)
    counts = [row["n"] for row in rows]
    assert counts[0] == 50 < counts[-1]
    with pytest.raises(SweepError, match="enough"):
        run(plan, tmp_path / "b", fakes.kernel_that_stops(60), on_error="stop")
    run(plan, tmp_path / "b", workers=2)
    assert tables(tmp_path / "b") == tables(tmp_path / "a")
    for i in (1, 2):
        run(plan, tmp_path / "c", shard=Shard(i, 2))
    assert tables(tmp_path / "c") == tables(tmp_path / "a")


def test_auto_tells_which_points_used_up_the_budget(tmp_path: Path) -> None:
    outcome = run(plan_of(replications=Precision(0.004, budget=60)), tmp_path)
    assert outcome.missed is not None
    rows = {number: row for number, row in enumerate(outcome.summary) if row["n"] == 60}
    assert [point.number for point, _ in outcome.missed] == list(rows) != []
    for point, missed in outcome.missed:
        row = rows[point.number]
        assert missed.reached == (row["downtime_fraction.high"] - row["downtime_fraction.low"]) / 2 > missed.wanted
    assert run(plan_of(replications=Precision(1.0)), tmp_path / "wide").missed == []
    assert run(plan_of(), tmp_path / "fixed").missed is None


def test_auto_refuses_an_unknown_metric(tmp_path: Path) -> None:
    with pytest.raises(SweepError, match="have no metric 'downtim'"):
        run(plan_of(replications=Precision(0.1, metric="downtim")), tmp_path)


def test_ledgers_are_kept_when_asked(tmp_path: Path) -> None:
    with pytest.raises(SweepError, match="enough"):
        run(plan_of(), tmp_path, fakes.kernel_that_stops(33), on_error="stop", keep_ledger=True)
    run(plan_of(), tmp_path, keep_ledger=True)
    frame = pd.read_parquet(tmp_path / "ledgers")
    assert len(frame) == 80
    assert not frame.duplicated(["point", "replication"]).any()
    assert list(frame.columns) == ["point", "replication", "start_s", "end_s", "phase"]


def test_rows_that_are_there_twice_count_once(whole: Path, tmp_path: Path) -> None:
    """A kill between the merged file and the removal of its parts leaves both; so does a second run beside a shard."""
    with pytest.raises(SweepError):
        run(plan_of(), tmp_path, fakes.kernel_that_stops(33), on_error="stop")
    for part in list((tmp_path / "replications").glob("*.parquet")):
        (tmp_path / "replications" / f"part-again-{part.name}").write_bytes(part.read_bytes())
    assert run(plan_of(), tmp_path).ran == 80 - 33
    assert tables(tmp_path) == tables(whole)


def damaged(content: bytes) -> dict[str, bytes]:
    """What a disk can make of a file."""
    middle = len(content) // 2
    return {
        "empty": b"",
        "cut short": content[:middle],
        "no Parquet": b"point,replication\n0,0\n" * 20,
        "broken data": content[:4] + bytes(byte ^ 0x5A for byte in content[4:middle]) + content[middle:],
        "broken footer": content[:middle] + bytes(byte ^ 0x5A for byte in content[middle:-8]) + content[-8:],
    }


@pytest.mark.parametrize("harm", damaged(b""))
@pytest.mark.parametrize("stopped", [False, True])
def test_a_damaged_part_is_named_and_only_its_rows_run_again(
    whole: Path, tmp_path: Path, harm: str, stopped: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("c4sim.experiment.sweep_run.FLUSH_S", 0.0)
    if stopped:
        with pytest.raises(SweepError, match="enough"):
            run(plan_of(), tmp_path, fakes.kernel_that_stops(33), on_error="stop")
    else:
        run(plan_of(), tmp_path)
    parts = sorted((tmp_path / "replications").glob("*.parquet"), key=lambda path: path.stat().st_size)
    others = sum(len(pd.read_parquet(path)) for path in parts[:-1])
    parts[-1].write_bytes(damaged(parts[-1].read_bytes())[harm])
    message = rf"{re.escape(str(parts[-1]))}: is damaged \(.+\)\. Delete it and run the same command again"
    with pytest.raises(SweepError, match=message):
        run(plan_of(), tmp_path)
    assert not list(tmp_path.rglob("*.tmp"))
    parts[-1].unlink()
    assert run(plan_of(), tmp_path).ran == 80 - others
    assert tables(tmp_path) == tables(whole)


def test_a_deleted_merged_file_takes_its_ledgers_with_it(tmp_path: Path) -> None:
    for _ in range(2):
        run(plan_of(), tmp_path, keep_ledger=True)
        assert len(pd.read_parquet(tmp_path / "ledgers")) == 80
        (tmp_path / "replications" / "all.parquet").unlink()


def test_a_part_without_a_column_is_damaged(tmp_path: Path) -> None:
    run(plan_of(), tmp_path)
    path = tmp_path / "replications" / "all.parquet"
    pd.read_parquet(path).drop(columns="replication").to_parquet(path)
    with pytest.raises(SweepError, match=r"all\.parquet: is damaged \(.*replication"):
        run(plan_of(), tmp_path)


def test_a_sweep_of_failures_only_goes_on(tmp_path: Path) -> None:
    """Its merged file has no rows at all."""
    assert run(plan_of(("2h",)), tmp_path, fakes.FAILING).exit_code == 1
    outcome = run(plan_of(("2h",)), tmp_path)
    assert (outcome.exit_code, outcome.ran) == (0, 20)


def test_a_refused_sweep_leaves_the_folder_as_it_was(tmp_path: Path) -> None:
    run(plan_of(), tmp_path)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(SweepError, match="ledger: none -> keep"):
        run(plan_of(), tmp_path, keep_ledger=True)
    assert sorted(tmp_path.rglob("*")) == before


def test_orphaned_ledgers_and_temporary_files_go(whole: Path, tmp_path: Path) -> None:
    plan = plan_of()
    with pytest.raises(SweepError):
        run(plan, tmp_path, fakes.kernel_that_stops(33), on_error="stop", keep_ledger=True)
    (tmp_path / "ledgers" / "part-1-1-0.parquet").write_bytes(b"written before its part, which never came")
    (tmp_path / "replications" / ".part-1-1-0.parquet.1.tmp").write_bytes(b"half a pa")
    run(plan, tmp_path, keep_ledger=True)
    assert len(pd.read_parquet(tmp_path / "ledgers")) == 80
    assert not list(tmp_path.rglob("*.tmp"))


def test_a_full_disk_is_told_and_leaves_no_broken_part(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original, written = Path.replace, []

    def full(self: Path, target: Path) -> Path:
        if target.suffix == ".parquet" and len(written) >= 2:
            raise OSError(28, "No space left on device")
        written.append(target)
        return original(self, target)

    monkeypatch.setattr("c4sim.experiment.sweep_run.FLUSH_S", 0.0)
    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(StorageError, match=r"cannot be written: No space left on device\. Finished work is kept"):
        run(plan_of(), tmp_path)
    monkeypatch.undo()
    assert not list(tmp_path.rglob("*.tmp"))
    assert 0 < len(pd.read_parquet(tmp_path / "replications")) < 80
    run(plan_of(), tmp_path)
    assert tables(tmp_path) == tables(whole)


def test_the_default_folder_is_the_commands_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folders = [sweep(plan, workers=1, kernel=fakes.FAST).folder for plan in (plan_of(), plan_of(), plan_of(seed=6))]
    assert folders[0] == folders[1] != folders[2]
    assert all(folder.parts[0] == "sweeps" and folder.name.startswith("single_class-") for folder in folders)


def test_a_name_does_not_lead_out_of_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    scenario = validate({"name": "../../x/../é"})
    folder = sweep(Plan(scenario, (Point(0, {}, scenario),), 1), workers=1, kernel=fakes.FAST).folder
    assert folder.resolve().parent == tmp_path / "sweeps"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seed": -1}, "seed: must be a whole number"),
        ({"replications": {"half_width": -1}}, "target: must be a finite half width"),
        ({"replications": {"half": 1}}, "is no manifest of a sweep"),
        ({"replications": 0}, "replications: must be"),
        ({"points": []}, "at least one point"),
        ({"kind": "run"}, "must be of kind sweep"),
        ({"base": {"document": {"horizon": "-1d"}}}, "manifest: horizon: "),
        ({"points": [{"number": 0, "values": {}, "digest": "0", "change": {}}]}, r"points\[0\]: its digest"),
    ],
)
def test_a_manifest_is_checked_before_it_is_run(whole: Path, tmp_path: Path, change: dict, message: str) -> None:
    path = tmp_path / "manifest.json"
    path.write_text(json.dumps({**json.loads((whole / "manifest.json").read_text()), **change}))
    with pytest.raises(SweepError, match=message):
        rerun(path, tmp_path / "again", kernel=fakes.FAST)
    assert not (tmp_path / "again").exists()


def test_nothing_of_the_machine_is_in_the_manifest(whole: Path) -> None:
    text = (whole / "manifest.json").read_text()
    assert str(Path.home()) not in text.replace('"/"', "")
    assert set(json.loads(text)) == {
        *("schema_version", "kind", "base", "seed", "replications", "common_random_numbers"),
        *("estimator", "versions", "points", "ledger"),
    }


@pytest.mark.parametrize("text", ["0/3", "4/3", "1", "a/b", "1/0", "-1/2", ""])
def test_shards_that_cannot_be_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="shard: must be i/n"):
        Shard.parse(text)


def test_every_replication_has_one_shard() -> None:
    shards = [Shard(i, 7) for i in range(1, 8)]
    for number in range(5):
        owners = sum(shard.owned(number, 100, 5).astype(int) for shard in shards)
        assert (owners == 1).all()
    shares = [sum(int(shard.owned(number, 100, 5).sum()) for number in range(5)) for shard in shards]
    assert max(shares) <= 1.5 * min(shares)


def test_a_plan_needs_points() -> None:
    with pytest.raises(SweepError, match="at least one point"):
        Plan(Scenario(), (), 10)
