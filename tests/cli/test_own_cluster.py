"""docs/own-cluster.md: its files are read as they stand there, and its numbers come out."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from c4sim.cli import main

PAGE = (Path(__file__).parents[2] / "docs" / "own-cluster.md").read_text(encoding="utf-8")


@pytest.fixture
def conf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    scenario, cluster = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    for group, text in (("scenario", scenario), ("validation", cluster)):
        (tmp_path / "conf" / group).mkdir(parents=True)
        (tmp_path / "conf" / group / "ours.yaml").write_text(text)
    assert len(scenario.strip().splitlines()) == 11  # ten lines and the header that Hydra wants
    return tmp_path / "conf"


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    assert main([*words, "--config-dir", "conf", "format=json", "workers=1"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.usefixtures("conf")
def test_hours_lost_are_those_by_hand(capsys: pytest.CaptureFixture[str]) -> None:
    mtbf = 24_000 / (4 * 256)
    by_hand = (0.5 + 0.5 + 2 + 1 / 6) / (mtbf + 0.5 + 2 + 1 / 6)
    assert f"= {100 * by_hand:.1f} % of wall time" in PAGE.replace("\n", " ")
    metrics = printed(capsys, "run", "scenario=ours", "replications=100")["metrics"]
    found = metrics["downtime_fraction"]
    assert found["low"] < by_hand + 0.0015 < found["high"]  # waiting for spares, which the hand leaves out


@pytest.mark.usefixtures("conf")
def test_isolation_is_the_lever_that_wins_most(capsys: pytest.CaptureFixture[str]) -> None:
    rows = re.findall(r"^\| .+? \| ([+−][\d.]+) \| ([−\d.]+) \|$", PAGE, re.MULTILINE)
    shares, hours = ([float(cell.replace("−", "-")) for cell in column] for column in zip(*rows, strict=True))
    assert hours == pytest.approx([7.2 * share for share in shares], abs=0.086)  # both columns are rounded
    levers = ("isolation.delay=20min", "faults.crash.rate=3 per 1000 node-days", "detection.delay=1min")
    levers += ("spares.per_pool=8", "checkpoint.interval=15min")
    words = [word for lever in levers for word in ("--with", lever)]
    document = printed(capsys, "compare", "scenario=ours", "replications=60", *words)
    found = [100 * alternative["paired"]["ettr"]["difference"] for alternative in document["alternatives"]]
    assert found == sorted(found, reverse=True)
    assert found == pytest.approx(shares, abs=0.6)


@pytest.mark.usefixtures("conf")
def test_the_month_is_judged(capsys: pytest.CaptureFixture[str]) -> None:
    (case,) = printed(capsys, "validate", "ours")["cases"]
    assert case["verdict"] == "inside"
    assert f"published: {case['published']:.0f}\n" in PAGE
