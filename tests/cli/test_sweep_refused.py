"""What `run -m` refuses, and what it says about points that fail."""

import csv
import json
import re
from pathlib import Path

import pytest

from c4sim.cli import main


def points(folder: Path) -> list[dict[str, str]]:
    with (folder / "summary.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(autouse=True)
def in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(*words: str) -> int:
    return main(["run", "-m", "replications=2", "workers=1", *words])


def test_failed_points_are_named_and_the_others_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("checkpoint.interval=10min,-1h,1h,-1h", "output=sweep")
    assert run(*words) == 1
    said = capsys.readouterr().err
    for number in (1, 3):
        assert f"point {number} (checkpoint.interval=-1h): checkpoint.interval: must not be negative" in said
    assert [row["n"] for row in points(tmp_path / "sweep")] == ["2", "0", "2", "0"]
    assert run(*words, "on_error=stop") == 2
    assert "point 1" in capsys.readouterr().err


def test_a_changed_base_is_refused_with_the_difference(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("checkpoint.interval=10min,1h", "output=sweep", "horizon=10d") == 0
    before = (tmp_path / "sweep" / "summary.csv").read_bytes()
    assert run("checkpoint.interval=10min,1h", "output=sweep", "horizon=11d") == 2
    assert "horizon: 864000.0s -> 950400.0s" in capsys.readouterr().err
    assert (tmp_path / "sweep" / "summary.csv").read_bytes() == before


def test_the_same_command_finds_its_default_folder(tmp_path: Path) -> None:
    for _ in range(2):
        assert run("checkpoint.interval=10min,1h", "horizon=10d") == 0
    assert run("checkpoint.interval=10min,2h", "horizon=10d") == 0
    assert len(list((tmp_path / "sweeps").iterdir())) == 2


def test_zip_pairs_the_values(tmp_path: Path) -> None:
    assert run("job.nodes=128,512", "spares.per_pool=4,16", "sweep=zip", "horizon=10d", "output=sweep") == 0
    rows = points(tmp_path / "sweep")
    assert [(row["job.nodes"], row["spares.per_pool"]) for row in rows] == [("128", "4"), ("512", "16")]


def test_json_is_one_document(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("checkpoint.interval=10min,1h", "horizon=10d", "format=json", "output=sweep") == 0
    document = json.loads(capsys.readouterr().out)
    assert [point["checkpoint.interval"] for point in document["points"]] == ["10min", "1h"]


@pytest.mark.parametrize(
    "word",
    [
        "checkpoint={_target_: os.system, command: touch pwned}",
        "checkpoint.interval=${oc.env:HOME}",
        "name=${oc.env:HOME}",
        "fault_list=../../../etc/passwd",
        "fault_list=/etc/passwd",
        "+faults.crash._target_=os.system",
        "faults.crash._target_=os.system",
        "job.nodes=1e400",
        "job.nodes=nan",
        "job.nodes=0x10",
        "faults.crash.confined=inf",
    ],
)
def test_hostile_values_are_refused_and_leave_nothing(
    tmp_path: Path, word: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", "/the/users/secret/home")
    assert run(word, "spares.per_pool=1,2", "output=sweep") == 2
    said = capfd.readouterr()
    assert "secret" not in said.err + said.out
    assert "Traceback" not in said.err
    assert list(tmp_path.iterdir()) == []


SHARDED = ("checkpoint.interval=10min,1h", "horizon=5d", "output=sweep", "replications=20")


def shard(text: str, *words: str) -> int:
    return main(["run", "-m", *SHARDED, "workers=1", "--shard", text, *words])


def test_a_shard_says_how_much_of_the_sweep_is_done(capsys: pytest.CaptureFixture[str]) -> None:
    assert shard("1/3") == 0
    out, err = capsys.readouterr()
    assert out == "sweep\n"
    assert re.fullmatch(
        r"c4sim: --shard: this part is done; 1\d of 40 replications of the sweep are there, "
        r"and the tables come when all shards have run\n",
        err,
    )
    assert shard("2/3", "format=json") == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["finished"], document["points"]) == (False, [])
    assert shard("3/3") == 0
    out, err = capsys.readouterr()
    assert (len(out.splitlines()), err) == (4, "")


def test_a_shard_of_another_count_is_told_what_ran_before(capsys: pytest.CaptureFixture[str]) -> None:
    assert shard("1/3") == 0
    capsys.readouterr()
    assert shard("2/2") == 0
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("c4sim: --shard: 1/3 ran in sweep before, beside which 2/2 repeats some parts and leaves ")
    assert "this part is done" in second
