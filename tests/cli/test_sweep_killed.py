"""Sweeps by their command: killed and continued, on a full disk, with workers, in shards; the tables are the same."""

import csv
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
from processes import alive, descendants, survivors

SWEEP = ("checkpoint.interval=10min,30min,1h,2h", "job.nodes=2048", "horizon=20d", "faults.crash.mtbf=3h per job")
COUNT = 40


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "c4sim", "run", "-m", *SWEEP, f"replications={COUNT}", "seed=7", *words]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p), "OMP_NUM_THREADS": "1"}


def start(folder: Path, *words: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        command(f"output={folder}", *words),
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder.parent,
    )


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    with start(folder, *words) as process:
        out, err = process.communicate(timeout=120)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def tables(folder: Path) -> tuple[bytes, str]:
    return (folder / "summary.csv").read_bytes(), pd.read_parquet(folder / "replications").to_csv()


def wait_for_parts(folder: Path, process: "subprocess.Popen[str]") -> None:
    deadline = time.monotonic() + 60
    while not list((folder / "replications").glob("*.parquet")) and time.monotonic() < deadline:
        assert process.poll() is None
        time.sleep(0.01)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole") / "sweep"
    done = run(folder, "workers=1")
    assert done.returncode == 0, done.stderr
    return folder


def test_a_killed_parent_leaves_no_process_and_the_same_command_goes_on(whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "sweep"
    with start(folder, "workers=2") as parent:
        wait_for_parts(folder, parent)
        family = descendants(parent.pid)
        parent.send_signal(signal.SIGKILL)
        parent.communicate()
    assert len(family) >= 2
    assert survivors(family) == []
    assert not (folder / "summary.csv").exists()
    before = len(pd.read_parquet(folder / "replications"))
    assert 0 < before < 4 * COUNT
    assert run(folder, "workers=2").returncode == 0
    assert tables(folder) == tables(whole)


def test_ctrl_c_says_where_the_work_is_and_how_to_go_on(tmp_path: Path) -> None:
    folder = tmp_path / "sweep"
    with start(folder, "workers=1") as process:
        wait_for_parts(folder, process)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert err == f"c4sim: interrupted; finished work is kept in {folder}: the same command continues\n"


def test_a_killed_worker_changes_nothing(whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "sweep"
    with start(folder, "workers=2") as parent:
        wait_for_parts(folder, parent)
        # The workers are the grandchildren: the server that forks them is between.
        workers = [pid for child in descendants(parent.pid) for pid in descendants(child)]
        victims = [pid for pid in workers if alive(pid)]
        assert victims
        os.kill(victims[-1], signal.SIGKILL)
        _, err = parent.communicate(timeout=120)
    assert parent.returncode == 0, err
    assert tables(folder) == tables(whole)


def test_two_shards_share_a_folder(whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "sweep"
    both = [start(folder, "workers=1", f"--shard={i}/2") for i in (1, 2)]
    for process in both:
        process.communicate(timeout=120)
    assert [process.returncode for process in both] == [0, 0]
    assert tables(folder) == tables(whole)


def test_a_full_disk_is_told_and_the_sweep_goes_on_later(whole: Path, tmp_path: Path) -> None:
    """A limit on the size of files stands for the disk: the small files fit, the merged one at the end does not."""
    folder = tmp_path / "sweep"
    size = (whole / "replications" / "all.parquet").stat().st_size

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size - 1000, size - 1000))

    done = subprocess.run(
        command(f"output={folder}", "workers=1"),
        env=environment(),
        preexec_fn=limit,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "cannot be written: " in done.stderr
    assert "run the same command again" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(folder.rglob("*.tmp"))
    assert len(pd.read_parquet(folder / "replications")) > 0
    assert run(folder, "workers=1").returncode == 0
    assert tables(folder) == tables(whole)


def test_one_table_of_points_and_one_of_replications(whole: Path) -> None:
    with (whole / "summary.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["checkpoint.interval"], row["n"]) for row in rows] == [
        (value, str(COUNT)) for value in ("10min", "30min", "1h", "2h")
    ]
    assert len(pd.read_parquet(whole / "replications")) == 4 * COUNT
