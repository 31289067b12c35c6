"""Another cluster is one YAML file, without code; mistakes in it are told, all at once."""

import json
from pathlib import Path
from typing import Any

import pytest

from c4sim.cli import main
from c4sim.configure import ConfigError
from c4sim.report.validation import BEGIN, END, tables, update_page
from c4sim.scenario import ScenarioError
from c4sim.studies.validate import plan_cases, validate_clusters
from c4sim.studies.validate_case import read_clusters

MINE = """\
cluster: my cluster
cases:
  failures:
    title: failures in ten days
    quantity: failures
    source: own log
    put_in: MTBF of 12 h
    clock: calendar
    published: {published}
    scenario: single_class
    points: [["horizon=10d", "faults.crash.clock=calendar"]]
    replications: 20
    rule: {{ kind: within, relative: 0.1 }}
    independent: true
    expect: {expect}
"""


def folder(tmp_path: Path, text: str, name: str = "mine") -> str:
    (tmp_path / "validation").mkdir(exist_ok=True)
    (tmp_path / "validation" / f"{name}.yaml").write_text(text)
    return str(tmp_path)


def judged(tmp_path: Path, capsys: pytest.CaptureFixture[str], published: str, expect: str) -> tuple[int, Any]:
    where = folder(tmp_path, MINE.format(published=published, expect=expect))
    code = main(["validate", "mine", "--config-dir", where, "format=json", "workers=1"])
    return code, json.loads(capsys.readouterr().out)["cases"]


def test_another_cluster_is_one_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, cases = judged(tmp_path, capsys, "20", "hold")
    assert code == 0
    assert len(cases) == 1
    found = cases[0]
    assert {"cluster", "quantity", "source", "independent", "published", "simulated", "verdict"} <= set(found)
    assert (found["cluster"], found["quantity"], found["source"]) == ("my cluster", "failures in ten days", "own log")
    assert (found["independent"], found["published"], found["verdict"]) == (True, 20.0, "inside")
    simulated = found["simulated"]
    assert set(simulated) == {"mean", "low", "high"}
    assert simulated["low"] < 20.0 < simulated["high"]


def test_a_case_that_should_hold_and_does_not_is_exit_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, cases = judged(tmp_path, capsys, "30", "hold")
    assert (code, cases[0]["verdict"], cases[0]["as_expected"]) == (1, "outside", False)


def test_a_known_miss_is_reported_and_no_failure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, cases = judged(tmp_path, capsys, "30", "{ known_miss: half of the faults are not logged }")
    assert (code, cases[0]["verdict"], cases[0]["as_expected"]) == (0, "outside", True)
    assert cases[0]["expect"] == "known_miss: half of the faults are not logged"


def test_a_user_scenario_goes_with_it(tmp_path: Path) -> None:
    (tmp_path / "scenario").mkdir()
    (tmp_path / "scenario" / "ours.yaml").write_text(
        "# @package _global_\ndefaults: [single_class, _self_]\nname: ours\nhorizon: 10d\n"
        "faults: {crash: {clock: calendar}}\n"
    )
    text = MINE.format(published=20, expect="hold").replace("scenario: single_class", "scenario: ours")
    found = validate_clusters(folder(tmp_path, text), only=["mine"])
    assert found.outcomes[0].verdict == "inside"


def test_an_own_record_of_counts_is_judged_by_the_same_statistic(tmp_path: Path) -> None:
    text = (
        "cluster: mine\nrecords: { daily: [0, 1, 0, 3, 0, 0, 2, 0] }\ncases:\n  empty:\n    title: empty days\n"
        "    quantity: empty_days\n    source: log\n    put_in: rate\n    record: daily\n    scenario: single_class\n"
        '    points: [["horizon=8d", "faults.crash.mtbf=32h per job"]]\n    replications: 40\n'
        "    rule: { kind: runs }\n    independent: true\n"
    )
    outcome = validate_clusters(folder(tmp_path, text), only=["mine"]).outcomes[0]
    assert outcome.published == 0.625
    assert outcome.judgement.good


WRONG = {
    "quantity: failures": ("quantity: failurs", "did you mean 'failures'"),
    "kind: within": ("kind: withn", "did you mean 'within'"),
    "scenario: single_class": ("scenario: single_clas", "did you mean 'single_class'"),
    "put_in:": ("putin:", "did you mean 'put_in'"),
    "published: 20": ("published: twenty", "published"),
    ", relative: 0.1": ("", "needs absolute or relative"),
    "replications: 20": ("replications: 1", "replications"),
    "expect: hold": ("expect: maybe", "expect"),
    "source: own log": ("source: ${oc.env:HOME}", "interpolation"),
    "title: failures in ten days": ("_target_: os.system", "instantiated"),
    '"horizon=10d"': ('"horizon=10"', "horizon"),
}


@pytest.mark.parametrize("right", WRONG)
def test_mistakes_are_told_with_file_and_key(right: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong, told = WRONG[right]
    text = MINE.format(published=20, expect="hold")
    assert right in text
    where = folder(tmp_path, text.replace(right, wrong))
    assert main(["validate", "mine", "--config-dir", where, "workers=1"]) == 2
    said = capsys.readouterr().err
    assert "validation/mine.yaml" in said
    assert told in said
    assert "Traceback" not in said


@pytest.mark.parametrize(
    ("quantity", "points", "told"),
    [
        ("mtbf_s", "faults.crash.mtbf=null", "is undefined in all 20 replications"),
        ("empty_days", "horizon=1d", "at least 2 windows of 86400 s"),
    ],
)
def test_a_quantity_that_the_runs_do_not_have_is_told(
    quantity: str, points: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = MINE.format(published=20, expect="hold").replace("quantity: failures", f"quantity: {quantity}")
    where = folder(tmp_path, text.replace('"horizon=10d"', f'"{points}"'))
    assert main(["validate", "mine", "--config-dir", where, "workers=1"]) == 2
    said = capsys.readouterr().err
    assert "validation/mine.yaml: cases.failures.quantity" in said
    assert told in said


def test_mistakes_of_all_files_are_told_at_once(tmp_path: Path) -> None:
    folder(tmp_path, "cluster: one\n", "one")
    with pytest.raises(ConfigError) as caught:
        read_clusters(folder(tmp_path, "- two\n", "two"))
    assert [problem.path for problem in caught.value.problems] == ["validation/two.yaml"]
    with pytest.raises(ConfigError) as caught:
        read_clusters(
            folder(
                tmp_path,
                MINE.replace("{{", "{")
                .replace("}}", "}")
                .replace("published: {published}", "published: [1, 2]")
                .replace("expect: {expect}", ""),
                "two",
            )
        )
    paths = [problem.path for problem in caught.value.problems]
    assert "validation/one.yaml: cases" in paths
    assert "validation/two.yaml: cases.failures.published" in paths


def test_an_unknown_cluster_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="did you mean 'bloom_176b'"):
        validate_clusters(only=["bloom_176"])


def test_part_of_the_cases_writes_nothing_unasked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["validate", "acme", "workers=1"]) == 0
    assert not list(tmp_path.iterdir())
    assert main(["validate", "acme", "workers=1", "output=out"]) == 0
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"validation.json", "cases.csv", "variants.csv", "manifest.json"} <= names


def test_the_tables_go_between_the_marks_of_a_page(tmp_path: Path) -> None:
    document = validate_clusters(only=["acme"]).as_document()
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nformer table\n{END}\nafter\n")
    update_page(page, document)
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert tables(document) in text
    assert "former table" not in text
    page.write_text("no marks\n")
    with pytest.raises(ValueError, match="has no lines"):
        update_page(page, document)


def test_the_page_shows_the_committed_results() -> None:
    root = Path(__file__).resolve().parents[2]
    document = json.loads((root / "results" / "validation" / "validation.json").read_text())
    assert tables(document) in (root / "docs" / "validation.md").read_text()
    shipped = {f"{file}/{name}" for file, cluster in read_clusters().items() for name in cluster.cases}
    assert {case["case"] for case in document["cases"]} == shipped
    assert all(case["as_expected"] for case in document["cases"])


@pytest.mark.slow
def test_the_committed_results_come_out_again() -> None:
    committed = Path(__file__).resolve().parents[2] / "results" / "validation" / "validation.json"
    document = json.loads(committed.read_text())
    assert json.loads(json.dumps(validate_clusters(workers=2).as_document()["cases"])) == document["cases"]


def test_every_shipped_case_has_its_scenarios() -> None:
    """What the shipped files ask for can be composed; nothing is simulated."""
    planned = plan_cases(read_clusters())
    assert len(planned) > 40
    assert all(bool(plan.scenarios) == bool(plan.quantities) for plan in planned)
