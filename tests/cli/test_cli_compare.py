"""`c4sim compare` and `c4sim sensitivity`: what they print, and what they refuse."""

import json
from pathlib import Path
from typing import Any

import pytest

from c4sim import compare, load_scenario, simulate
from c4sim.cli import main
from c4sim.cli.common import split_overrides


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


JUNE = ["scenario=c4_june2023", "replications=6", "workers=1"]


def test_contract(capsys: pytest.CaptureFixture[str]) -> None:
    two = ["--with", "checkpoint.interval=10min", "--with", "detection=c4d isolation=c4d"]
    assert main(["compare", *JUNE, *two, "format=json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [entry["with"] for entry in document["alternatives"]] == two[1::2]
    for entry in document["alternatives"]:
        assert {"paired", "variance_ratio", "equivalent_within"} <= set(entry)
        assert set(entry["paired"]["downtime_fraction"]) == {"difference", "low", "high"}
    assert document["alternatives"][0]["paired"]["failures"]["difference"] == 0.0
    assert document["alternatives"][0]["paired"]["downtime_fraction"]["difference"] < -0.04


def test_results_in_a_folder(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", *JUNE, "--with", "spares.per_pool=16", "format=json", "output=out"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(Path("out/comparison.json").read_text())
    assert json.loads(Path("out/manifest.json").read_text())["kind"] == "compare"


def test_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", *JUNE, "--with", "spares.per_pool=16", "margin=1pp"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "with spares.per_pool=16" in lines
    (row,) = [line.split() for line in lines if line.startswith("downtime_fraction ")]
    assert row[-1] == "yes"
    # The base is a share, the differences of shares are percentage points.
    assert [cell for cell in row if cell in ("%", "pp")] == ["%", "pp", "pp", "pp"]
    assert main(["compare", *JUNE, "--with", "spares.per_pool=16"]) == 0
    assert "equal" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "overrides"),
    [
        ("a.b=1h 30min c=2", ["a.b=1h 30min", "c=2"]),
        ("f.rate=6.5 per 1000 node-days detection=c4d", ["f.rate=6.5 per 1000 node-days", "detection=c4d"]),
        ("d={law: gamma, mean: 1h, cv: 1}  +x=1 ~y=", ["d={law: gamma, mean: 1h, cv: 1}", "+x=1", "~y="]),
        ("  ", []),
    ],
)
def test_overrides_in_one_text(text: str, overrides: list[str]) -> None:
    assert split_overrides(text) == overrides


def test_equal_but_for_rounding_is_no_difference(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["replications=30", "workers=1", "--with", "checkpoint.interval=10min", "format=json"]
    assert main(["compare", *words]) == 0
    (found,) = json.loads(capsys.readouterr().out)["alternatives"]
    assert found["paired"]["mtbf_s"] == {"difference": 0.0, "low": 0.0, "high": 0.0}
    assert (found["variance_ratio"]["mtbf_s"], found["equivalent_within"]["mtbf_s"]) == (0.0, 0.0)
    assert found["paired"]["downtime_fraction"]["difference"] < -0.02


@pytest.mark.parametrize("wrong", ["c4_june2023", ["checkpoint.interval=10min"], None])
def test_what_is_no_scenario_is_refused(wrong: Any) -> None:
    with pytest.raises(ValueError, match="must be a Scenario"):
        simulate(wrong, 2)
    with pytest.raises(ValueError, match="must be a Scenario"):
        compare(load_scenario("single_class"), [wrong], replications=2)


def test_one_scenario_is_no_list_of_alternatives() -> None:
    with pytest.raises(ValueError, match="must be a Scenario"):
        compare(load_scenario("single_class"), load_scenario("c4_june2023"), replications=2)  # type: ignore[arg-type]


def test_alternatives_lie_on_top_of_the_base(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["horizon=5d", "spares.per_pool=8", "--with", "spares.total=16 horizon=6d", "replications=2"]
    assert main(["compare", *words, "workers=1", "format=json"]) == 0
    assert json.loads(capsys.readouterr().out)["base"]["failures"]["mean"] > 0.0


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["compare"], ["--with: give at least one alternative"]),
        (
            ["compare", "horizon=-1d", "--with", "job.nodes=-3", "--with", "x=1", "seed=-1"],
            ["seed: must be", "horizon: must not be", "job.nodes: must be greater", "x: unknown key"],
        ),
        (["compare", "--with", "job.nodes=1,2"], ["job.nodes: has several values"]),
        (["compare", "--with", "job.nodes=1", "margin=2"], ["margin: a share"]),
        (["sensitivity"], ["ranges: single_class has no assumed input"]),
        (
            ["sensitivity", "--range", "horizon=1d,2d,3d", "--range", "job.nodes=["],
            ["job.nodes: cannot be read", "--range: horizon needs two ends"],
        ),
        (["sensitivity", "--range", "horizont=1d,2d"], ["horizont: unknown key"]),
        (["sensitivity", "--range", "horizon=1d,2d", "metric=x", "replications=2"], ["metric: there is no metric 'x'"]),
    ],
)
def test_refusals_name_everything_once(
    words: list[str], expected: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    out, err = capsys.readouterr()
    lines = [line.removeprefix("c4sim: ") for line in err.splitlines()]
    assert out == ""
    assert len(lines) == len(expected)
    assert all(line.startswith(start) for line, start in zip(lines, expected, strict=True))


def test_sensitivity_ranks_the_assumed_inputs(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["scenario=c4_dec2023", "replications=4", "workers=1"]
    assert main(["sensitivity", *words, "format=json"]) == 0
    inputs = json.loads(capsys.readouterr().out)["inputs"]
    assert inputs[0]["name"] == "isolation.delay.mean"
    assert [entry["swing"] for entry in inputs] == sorted((entry["swing"] for entry in inputs), reverse=True)
    assert main(["sensitivity", *words, "output=out", "--range", "checkpoint.interval=10min,6h"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1].split()[:3] == ["checkpoint.interval", "10min", "6h"]
    assert lines[-1].split()[4::2] == ["pp"] * 4
    assert lines[0].endswith(" %")
    files = {"sensitivity.json", "manifest.json", "tornado.png", "tornado.svg"}
    assert {path.name for path in Path("out").iterdir()} == files


AUTO = ("horizon=20d", "replications=auto", "workers=1", "format=json")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["run"], "gives downtime_fraction a half width of "),
        (["run", "-m", "checkpoint.interval=1h,2h", "output=out"], "gives downtime_fraction a half width of "),
        (["compare", "--with", "checkpoint.interval=2h"], "gives the difference in downtime_fraction a half width of "),
        (["sensitivity", "--range", "checkpoint.interval=1h,2h"], "gives the difference in downtime_fraction a half "),
    ],
)
def test_a_budget_that_ends_before_the_target_is_told(
    words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words, *AUTO, "target=0.00001pp", "budget=50"]) == 0
    out, err = capsys.readouterr()
    document = json.loads(out)
    assert document.get("target_reached") is (None if words[0] == "sensitivity" else False)
    (line,) = err.splitlines()
    assert line.startswith(f"c4sim: target: not reached: the budget of 50 replications {told}")
    assert line.endswith(", wanted is 1e-05 pp; budget=N sets a larger one")
    others = [word for word in words if not word.startswith("output=")]
    assert main([*others, *AUTO, "target=90pp"]) == 0
    out, err = capsys.readouterr()
    assert (json.loads(out).get("target_reached", True), err) == (True, "")
