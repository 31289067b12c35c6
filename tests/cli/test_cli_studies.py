"""`c4sim detect`, `c4sim calibrate`, `c4sim plan`: words in, documents out."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from c4sim.cli import main


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def slow_rank(path: str, factor: float) -> None:
    compute = 0.1 * np.random.default_rng(1).lognormal(0.0, 0.02, size=(400, 16))
    compute[100:, 5] *= factor
    np.savez(path, compute_s=compute, step_time_s=compute.max(axis=1))


def test_detect_accuses(capsys: pytest.CaptureFixture[str]) -> None:
    slow_rank("slow.npz", 1.5)
    assert main(["detect", "slow.npz", "format=json", "step_time=10s", "figure=slow.png"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["schema_version"] == 1
    assert [(v["kind"], v["entity"]) for v in document["verdicts"]] == [("slow_compute", 5)]
    assert Path("slow.png").stat().st_size > 1000


def test_detect_accuses_nobody(capsys: pytest.CaptureFixture[str]) -> None:
    slow_rank("even.npz", 1.0)
    assert main(["detect", "even.npz", "false_alarms=0.5"]) == 0
    assert capsys.readouterr().out.startswith("nothing found")


def test_detect_reads_dumps(capsys: pytest.CaptureFixture[str]) -> None:
    data = os.environ.get("C4SIM_TEST_DATA")
    if data is None:
        pytest.skip("C4SIM_TEST_DATA does not say where the sample data is")
    assert main(["detect", f"{data}/flight_recorder/gpu_error_1st", "format=json"]) == 1
    assert json.loads(capsys.readouterr().out)["verdicts"]


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ([], "FILE: give at least one"),
        (["none.npz"], "none.npz: does not exist"),
        (["x.npz", "step_time=3"], "step_time: a duration needs a unit"),
        (["x.npz", "step_time=0s"], "step_time: must be longer than 0"),
        (["x.npz", "false_alarms=nan"], "false_alarms: must be a finite number"),
        (["x.npz", "horizon=3d"], "horizon: unknown key"),
    ],
)
def test_detect_refuses(words: list[str], part: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["detect", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert part in err


def test_calibrate(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["calibrate", "format=json", "output=out"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["means"]["operating"]["failures"] == pytest.approx(50.63, abs=0.01)
    assert {path.name for path in Path("out").iterdir()} == {"calibration.csv", "provenance.csv"}
    assert main(["calibrate"]) == 0
    lines = capsys.readouterr().out.splitlines()
    row = next(line.split() for line in lines if line.startswith("operating MTBF "))
    assert row[2:] == ["10.86", "h", "8.366", "h"]


def test_reproduce(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "replications=2", "workers=1", "output=out", "format=json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document == json.loads(Path("out/results.json").read_text())
    assert {"manifest.json", "report.md", "levers.png", "levers.svg"} <= {path.name for path in Path("out").iterdir()}
    assert main(["reproduce", "replications=1", "horizon=3d"]) == 2
    paths = [line.split(": ")[1] for line in capsys.readouterr().err.splitlines()]
    assert paths == ["replications", "horizon"]


def test_validate(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["validate", "hpn", "subset=ci", "workers=1"]
    assert main([*words, "format=json", "output=out"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document == json.loads(Path("out/validation.json").read_text())
    assert document["cases"]
    assert document["subset"] == "ci"
    assert main(words) == 0
    assert "hpn/link_failures" in capsys.readouterr().out
    assert main(["validate", "hnp", "subset=some"]) == 2
    assert main(["validate", "hnp"]) == 2
    assert "did you mean 'hpn'" in capsys.readouterr().err


def test_plan_spares_contract(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["job.nodes=64", "faults.crash.rate=20 per 1000 node-days", "faults.crash.clock=calendar"]
    more = ["repair.duration=1d", "repair.crews=unlimited", "probability=0.8", "replications=2", "workers=1"]
    assert main(["plan", "spares", "scenario=single_class", *words, *more, "format=json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert {"closed_form", "simulated", "offered_load", "clock", "warnings"} <= set(document)
    # Poisson with mean 1.28: P(at most 2) = .860, P(at most 1) = .634.
    assert (document["closed_form"], document["clock"]) == (2, "calendar")
    assert document["offered_load"] == pytest.approx(1.28)
    assert main(["plan", "spares", *words, *more]) == 0
    assert "2 in closed form" in capsys.readouterr().out


def test_plan_timeout(capsys: pytest.CaptureFixture[str]) -> None:
    """One hang a day, ten pauses an hour, lognormal with median 20 s and sigma 1: the best limit is about 495 s."""
    pauses = "pauses={rate: 10 per job-hour, law: lognormal, mean: 32.9744s, cv: 1.310832}"
    job = ["faults.crash.effect=hang", "faults.crash.mtbf=24h per job", "checkpoint.interval=20min"]
    words = [
        "plan",
        "timeout",
        *job,
        "restart.duration=5min",
        "detection.delay=9min",
        pauses,
        "replications=2",
        "workers=1",
    ]
    assert main([*words, "format=json", "limits=5min,500s"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["best_s"] == pytest.approx(495.0, abs=5.0)
    assert [entry["limit_s"] for entry in document["limits"]] == [300.0, 500.0]
    assert main([*words, "limits=500s"]) == 0
    assert capsys.readouterr().out.startswith("best limit ")
    assert main(["plan", "timeout", "limits=5"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(": ")[1] for line in lines] == ["limits"]
