"""The gate: equivalence against baselines, refusals, updates, and what it prints."""

import json
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import experiment_fakes as fakes
import pytest

from c4sim.experiment.kernel import Kernel
from c4sim.gate import BaselineError, Gate, Verdict, check, create, junit, read, write
from c4sim.gate.checking import fresh_seed
from c4sim.scenario import Scenario, validate

Edit = Callable[[dict], None]


def scaled(factor: float) -> Kernel:
    """The fake simulator with its lost time multiplied."""
    return Kernel(
        fakes.run, fakes.columns, lambda ledger, s: fakes.totals(ledger, s) * [1, factor, 1, 1], fakes.definitions
    )


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("gate") / "deep" / "single.json"
    write(path, create(Scenario(), kernel=fakes.FAST))
    return path


@pytest.fixture
def broken(made: Path, tmp_path: Path) -> Callable[[Edit], Path]:
    def edit(change: Edit) -> Path:
        document = json.loads(made.read_text())
        change(document)
        path = tmp_path / "broken.json"
        path.write_text(json.dumps(document))
        return path

    return edit


def test_unchanged_code_is_equivalent(made: Path) -> None:
    report = check([made], kernel=fakes.FAST)
    assert report.verdict is Verdict.EQUIVALENT
    assert report.exit_code == 0
    assert report.annotations() == []


def test_the_check_uses_a_seed_of_its_own(made: Path) -> None:
    baseline = read(made)
    report = check([made], kernel=fakes.FAST)
    assert report.checked[0].result.seed == fresh_seed(baseline) != baseline.seed
    with pytest.raises(BaselineError, match="a check needs another one"):
        check([made], seed=baseline.seed, kernel=fakes.FAST)


@pytest.mark.parametrize("factor", [1.05, 0.95])
def test_a_change_beyond_the_margin_is_changed(made: Path, factor: float) -> None:
    report = check([made], kernel=scaled(factor))
    assert report.exit_code == 1
    (annotation,) = report.annotations()
    assert annotation.startswith(f"::error file={made},title=c4sim check::single_class: downtime_fraction changed: ")
    assert annotation.endswith(", margin 1.5 %25)")


def test_too_few_replications_are_undecided_and_say_how_many_decide(made: Path) -> None:
    report = check([made], replications=60, kernel=fakes.FAST)
    assert report.exit_code == 3
    needed = report.checked[0].comparisons[0].replications
    assert needed is not None
    assert 60 < needed < read(made).check_replications * 3
    assert f"{needed} replications would decide" in report.annotations()[0]


def test_constants_are_compared_as_numbers(made: Path, tmp_path: Path) -> None:
    quiet = tmp_path / "quiet.json"
    scenario = validate({"faults": {"crash": {}}})
    write(quiet, create(scenario, kernel=fakes.FAST))
    assert check([quiet], kernel=fakes.FAST).exit_code == 0
    shifted = fakes.kernel_with_loss_in(10**6)
    assert check([quiet], kernel=shifted).exit_code == 1


def test_a_constant_that_varies_in_a_few_replications_is_no_change(tmp_path: Path) -> None:
    quiet = tmp_path / "quiet.json"
    gates = (Gate(metric="uptime_fraction", margin=0.01),)
    write(quiet, create(validate({"faults": {"crash": {}}}), gates=gates, kernel=fakes.FAST))
    rare = fakes.kernel_with_loss_in(3)
    often = fakes.kernel_with_loss_in(30)
    verdicts = [{c.metric: c.verdict for c in check([quiet], kernel=k).checked[0].comparisons} for k in (rare, often)]
    assert [v["downtime_fraction"] for v in verdicts] == [Verdict.EQUIVALENT, Verdict.CHANGED]


def test_the_scenario_of_the_source_is_what_runs(tmp_path: Path) -> None:
    path = tmp_path / "source.json"
    old = create(validate({"checkpoint": {"interval": "2h"}}), source=["single_class"], kernel=fakes.FAST)
    write(path, old)
    report = check([path], kernel=fakes.FAST)
    assert report.exit_code == 1
    assert "checkpoint.interval: 7200.0s -> 3600.0s" in report.checked[0].scenario_changes
    assert any("the scenario differs from the recorded one: checkpoint.interval" in line for line in report.lines())


def test_update_writes_the_new_state_and_a_readable_difference(made: Path, tmp_path: Path) -> None:
    path = tmp_path / "again.json"
    path.write_bytes(made.read_bytes())
    lines = check([path], update=True, kernel=fakes.FAST).lines()
    assert lines[1:] == ["  nothing changed"]
    assert path.read_bytes() == made.read_bytes()
    lines = check([path], update=True, kernel=scaled(1.05)).lines()
    assert any(line.strip().startswith("downtime_fraction: ") and "(+5.000 %)" in line for line in lines)
    assert check([path], kernel=scaled(1.05)).exit_code == 0
    assert list(tmp_path.iterdir()) == [path]


def test_the_junit_file_names_what_failed(made: Path) -> None:
    root = ElementTree.fromstring(junit(check([made], kernel=scaled(1.05))))
    (suite,) = root.findall("testsuite")
    assert (suite.get("failures"), suite.get("name")) == ("1", str(made))
    cases = {case.get("name"): case.find("failure") for case in suite.findall("testcase")}
    failure = cases["downtime_fraction"]
    assert failure is not None
    assert failure.get("type") == "changed"
    output = suite.findtext("system-out")
    assert output is not None
    assert "mtbf_s" in output


def test_the_document_is_strict_json(made: Path) -> None:
    document = json.loads(json.dumps(check([made], kernel=fakes.FAST).as_document(), allow_nan=False))
    metric = document["baselines"][0]["metrics"]["downtime_fraction"]
    assert (metric["verdict"], metric["margin"]) == ("equivalent", 0.015)
    assert document["baselines"][0]["metrics"]["mtbf_s"]["verdict"] is None


def test_every_bad_file_is_reported_at_once(made: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty.json"
    empty.write_text("{}")
    with pytest.raises(BaselineError) as caught:
        check([tmp_path / "none.json", made, empty], kernel=fakes.FAST)
    text = "\n".join(caught.value.problems)
    assert "none.json: cannot be read: No such file or directory" in text
    assert "empty.json: scenario: Field required" in text
    with pytest.raises(BaselineError, match="no baseline given"):
        check([])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d["scenario"]["checkpoint"].update(interval="-1h"), "scenario.checkpoint.interval"),
        (lambda d: d["scenario"]["checkpoint"].update(interval="2h"), "digest: is not that of the scenario"),
        (lambda d: d["gates"][0].update(metric="downtim"), "no metric 'downtim'"),
        (lambda d: d.update(gates=[]), "at least one metric"),
        (lambda d: d["gates"][0].update(margin=2.0), "gates.0.margin"),
        (lambda d: d.update(replications=1), "replications"),
        (lambda d: d.update(schema_version=2), "schema_version"),
        (lambda d: d["metrics"]["failures"].update(mean=float("nan")), "metrics.failures.mean"),
        (lambda d: d.update(source=["c4_june2032"]), "source: scenario"),
    ],
)
def test_a_spoiled_baseline_is_refused(broken: Callable[[Edit], Path], change: Edit, message: str) -> None:
    with pytest.raises(BaselineError, match=message):
        check([broken(change)], kernel=fakes.FAST)


def test_a_gate_on_an_unknown_metric_is_refused() -> None:
    with pytest.raises(BaselineError, match="no metric 'downtime' here"):
        create(Scenario(), gates=(Gate(metric="downtime", margin=0.1),), kernel=fakes.FAST)
