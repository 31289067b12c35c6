"""The command line as a whole: help, exit codes, what goes where."""

import contextlib
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from xml.etree import ElementTree

import pytest

from c4sim.cli import main
from c4sim.cli.plan import PLANS
from c4sim.cli.verbs import VERBS

ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def start(*words: str, **options: object) -> "subprocess.Popen[str]":
    return subprocess.Popen(  # type: ignore[call-overload, no-any-return]
        [sys.executable, "-m", "c4sim", *words],
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


@pytest.mark.parametrize("words", [[], ["--help"], ["-h"], ["help"]])
def test_overview_names_every_verb(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 0
    text = capsys.readouterr().out
    assert all(f"\n  {verb} " in text for verb in VERBS)


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_every_verb(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([verb, "--help"]) == 0
    assert main([verb, "scenario=nonsense", "-h"]) == 0
    text = capsys.readouterr().out
    assert text.startswith(f"usage: c4sim {verb}")
    assert max(map(len, text.splitlines())) <= 120


@pytest.mark.parametrize("plan", PLANS)
def test_help_of_every_plan(plan: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", plan, "--help"]) == 0
    assert capsys.readouterr().out.startswith(f"usage: c4sim plan {plan}")


@pytest.mark.parametrize("words", [["spars", "--help"], ["-h", "everything"]])
def test_no_help_of_a_plan_that_there_is_not(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("c4sim: plan: must be one of spares, checkpoint, timeout")


@pytest.mark.parametrize("words", [["--help"], *[[verb, "--help"] for verb in VERBS], ["--version"]])
def test_help_imports_nothing_heavy(words: list[str]) -> None:
    """That is what makes it answer in well under half a second."""
    code = (
        "import sys; from c4sim.cli import main; main(sys.argv[1:]); "
        "heavy = {'numpy', 'pydantic', 'hydra', 'omegaconf', 'simpy', 'pandas', 'scipy', 'rich', 'yaml'}; "
        "sys.exit(', '.join(sorted(heavy & set(sys.modules))) or 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *words], env=ENVIRONMENT, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr


def test_version_of_a_source_tree(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.version", missing)
    assert main(["--version"]) == 0
    assert re.fullmatch(r"c4sim [0-9]+\.[0-9.]+\+source\n", capsys.readouterr().out)


def test_help_is_fast() -> None:
    def seconds() -> float:
        before = os.times()
        start("run", "--help").communicate(timeout=60)
        after = os.times()
        return after.children_user + after.children_system - before.children_user - before.children_system

    assert min(seconds() for _ in range(3)) < 0.5


def test_json_and_nothing_else_on_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "horizon=10d", "replications=3", "seed=7", "format=json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert list(document) == ["schema_version", "scenario", "digest", "seed", "replications", "metrics"]
    assert (document["schema_version"], document["scenario"], document["seed"]) == (1, "single_class", 7)
    assert document["replications"] == 3
    assert set(document["metrics"]["downtime_fraction"]) == {"mean", "low", "high", "unit"}


def test_what_does_not_exist_is_null(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "faults.crash.mtbf=null", "horizon=1d", "replications=1", "format=json"]) == 0
    text = capsys.readouterr().out
    assert "NaN" not in text
    metrics = json.loads(text)["metrics"]
    assert metrics["mtbf_s"]["mean"] is None
    assert metrics["ettr"]["low"] is None


def test_ettr_of_half(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["faults.crash.mtbf=null", "checkpoint.interval=600s", "checkpoint.write=600s", "horizon=12000s"]
    assert main(["run", *words, "replications=2", "format=json"]) == 0
    assert json.loads(capsys.readouterr().out)["metrics"]["ettr"]["mean"] == 0.5


def test_text_is_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "horizon=10d", "replications=3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "single_class: 3 replications, seed 0"
    assert lines[1].split() == ["metric", "mean", "95", "%", "from", "to", "unit"]
    assert any(line.startswith("downtime_fraction/lost_work ") and line.count("%") == 3 for line in lines)


def test_results_in_a_folder(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "horizon=10d", "replications=2", "output=out", "ledger=keep", "format=json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(Path("out/result.json").read_text())
    assert json.loads(Path("out/manifest.json").read_text())["replications"] == [0, 2]
    assert {path.name for path in Path("out").iterdir()} == {
        "manifest.json",
        "result.json",
        "ledger.parquet",
        "incidents.parquet",
    }


def test_bad_input_names_everything_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["checkpoint.intervall=1h", "horizon=-1d", "replications=0", "--foo", "word", "+a=1", "detection=c4"]
    assert main(["run", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == [
        "c4sim: replications: must be a whole number from 1 to 10000000 (got '0')",
        "c4sim: --foo: unknown option",
        "c4sim: word: is no key=value and no option",
        "c4sim: a: is written without '+': every key exists already (got '1')",
        "c4sim: detection: must be one of c4d, elastic_agent, elastic_agent_calendar, immediate; did you mean 'c4d'?"
        " (got 'c4')",
        "c4sim: horizon: must not be negative (got '-1d')",
        "c4sim: checkpoint.intervall: unknown key; did you mean 'interval'? (got '1h')",
    ]


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["rnu"], "did you mean 'run'"),
        (["run", "checkpoint.interval=1h,2h"], "add -m"),
        (["run", "replications=auto"], "target: is required"),
        (["run", "target=1%"], "target: goes with replications=auto"),
        (["run", "replications=auto", "target=1%", "budget=10"], "budget:"),
        (["run", "--shard", "1/2"], "--shard: goes with -m"),
        (["run", "--config-dir", ""], "--config-dir: needs a text"),
        (["run", "horizon=2d", "horizon=30d"], "horizon: is given 2 times, as 2d and 30d"),
        (["run", "replications=2", "replications=3"], "replications: is given twice, as 2 and 3"),
        (["run", "-m", "job.nodes=1,2", "job.nodes=3"], "job.nodes: is given 2 times, as 1,2 and 3"),
        (["run", "output=/dev/null"], "output: /dev/null is no folder (got '/dev/null')"),
        (["check", "none.json", "junit=none/x.xml"], "junit: there is no folder none"),
        (["check", "--create", "none/x.json"], "--create: there is no folder none"),
        (["check", "--create", "x.json", "replications=20"], "replications: goes with a check"),
        (["check", "--create", "x.json", "--update"], "--update: goes with a check"),
        (["compare", "--with", "replications=3"], "--with: takes what holds for one alternative"),
        (["plan", "timeout", "limits=0s,foo"], "'0s': must be longer than 0; 'foo': "),
        (["run", "sweep=zip"], "sweep: goes with -m"),
        (["run", "ledger=keep"], "ledger: keep needs a folder"),
        (["run", "-m", "job.nodes=1,2", "--shard", "3"], "--shard: must be i/n"),
        (["run", "-m", "job.nodes=1,2", "sweep=zip", "spares.total=1,2,3"], "sweep: zip needs"),
        (["run", "-m", "points=/etc/passwd"], "points: lies outside"),
        (["run", "--config-dir", "nowhere"], "--config-dir: no such folder"),
        (["run", "--config-dir"], "--config-dir: needs a text"),
        (["run", "-m", "job.nodes=1,2", "address=localhost:1"], "address: goes with executor=dask"),
        (["run", "-m", "job.nodes=1,2", "executor=dask", "address=garbage"], "address: must be HOST:PORT or "),
        (["run", "-m", "job.nodes=1,-2", "on_error=stop", "output=out", "workers=1"], "job.nodes"),
        (["run", "manifest=none.json", "output=out"], "none.json"),
        (["check"], "give at least one file"),
        (["check", "none.json"], "none.json"),
        (["check", "none.json", "horizon=3d"], "horizon: scenario keys go with --create only"),
        (["plan"], "plan: must be one of"),
        (["plan", "spars"], "did you mean 'spares'"),
        (["plan", "checkpoint", "replications=1"], "replications: must be a whole number"),
        (["run", "checkpoint.interval=young"], "checkpoint.interval: needs a save that costs something"),
        (["compare", "--with", "checkpoint.interval=daly"], "checkpoint.interval: needs a save that costs"),
        (
            ["run", "checkpoint.interval=exact", "checkpoint.write=1s", "faults.crash.mtbf=null"],
            "checkpoint.interval: needs a job that fails",
        ),
        (["plan", "spares", "probability=1"], "probability: must lie between 0 and 1"),
    ],
)
def test_bad_input(words: list[str], part: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert part in err
    assert all(line.startswith("c4sim: ") for line in err.splitlines())


def test_hostile_words_are_refused_and_not_run(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["repair={_target_: os.system, command: 'touch touched'}", "name=${oc.env:HOME}", "fault_list=/etc/passwd"]
    assert main(["run", "-m", *words, "output=out"]) == 2
    text = capsys.readouterr().err
    assert os.environ["HOME"] not in text.replace("${oc.env:HOME}", "")
    assert list(Path().iterdir()) == []


def test_sweep_makes_one_folder(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["-m", "horizon=5d", "spares.per_pool=range(0,3)", "replications=2", "workers=1", "output=out"]
    assert main(["run", *words]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["spares.per_pool", "0", "1", "2", "out"]
    assert main(["run", *words, "format=json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [point["spares.per_pool"] for point in document["points"]] == ["0", "1", "2"]
    assert document["failed"] == []
    assert {"manifest.json", "status.csv", "summary.csv"} <= {path.name for path in Path("out").iterdir()}


def test_sweep_with_points_that_fail(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["-m", "horizon=5d", "job.nodes=1,-2,3,-2", "replications=2", "workers=1", "hydra.sweep.dir=out"]
    assert main(["run", *words, "format=json"]) == 1
    out, err = capsys.readouterr()
    document = json.loads(out)
    assert [entry["point"] for entry in document["failed"]] == [1, 3]
    assert [point["n"] for point in document["points"]] == [2, 0, 2, 0]
    assert err.count("job.nodes=-2") == 2


def test_a_sweep_again_from_its_manifest(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["-m", "horizon=5d", "job.nodes=1,2", "spares.per_pool=0,1", "sweep=zip", "replications=2", "workers=1"]
    assert main(["run", *words, "output=out"]) == 0
    assert main(["run", "manifest=out/manifest.json", "output=again", "workers=1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == lines[4:7]
    assert Path("again/summary.csv").read_bytes() == Path("out/summary.csv").read_bytes()
    assert main(["run", "manifest=out/manifest.json", "seed=3", "job.nodes=3"]) == 2
    assert capsys.readouterr().err.splitlines() == [
        "c4sim: job.nodes: stands in the manifest",
        "c4sim: seed: stands in the manifest (got 3)",
        "c4sim: output: is required with manifest=",
    ]


def test_shards_share_a_folder(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["-m", "horizon=5d", "job.nodes=1,2,3", "replications=2", "workers=1", "output=out"]
    for shard in ("1/2", "2/2"):
        assert main(["run", *words, "--shard", shard]) == 0
    assert capsys.readouterr().out.splitlines()[-4:-1][0].split()[:2] == ["1", "2"]
    assert len(Path("out/summary.csv").read_text().splitlines()) == 4


def test_a_changed_base_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["-m", "job.nodes=1,2", "replications=2", "workers=1", "output=out"]
    assert main(["run", *words, "horizon=5d"]) == 0
    assert main(["run", *words, "horizon=6d"]) == 2
    assert "horizon" in capsys.readouterr().err


def test_multirun_flag_anywhere(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["horizon=5d", "job.nodes=1,2", "replications=1", "-m", "workers=1", "output=out"]
    assert main(["run", *words]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "out"


def test_check_of_a_baseline(capsys: pytest.CaptureFixture[str]) -> None:
    made = ["scenario=single_class", "horizon=3d", "faults.crash.mtbf=1h per job", "margin=20%", "workers=1"]
    assert main(["check", "--create", "base.json", *made]) == 0
    assert main(["check", "base.json", "workers=1", "format=json", "junit=out.xml"]) == 0
    lines = capsys.readouterr().out
    assert json.loads(lines[lines.index("{") :])["verdict"] == "equivalent"
    assert "<testsuites" in Path("out.xml").read_text()


def test_a_bad_baseline_does_not_hide_the_others(capsys: pytest.CaptureFixture[str]) -> None:
    made = ["scenario=single_class", "horizon=3d", "faults.crash.mtbf=1h per job", "margin=20%", "workers=1"]
    assert main(["check", "--create", "good.json", *made]) == 0
    Path("bad,1.json").write_text("{")
    capsys.readouterr()
    files = ["none.json", "good.json", "bad,1.json"]
    assert main(["check", *files, "workers=1", "--annotations", "junit=out.xml"]) == 2
    out, err = capsys.readouterr()
    assert out.startswith("good.json: equivalent")
    told = [line for line in out.splitlines() if line.startswith("::")]
    assert [line.partition("title=")[0] for line in told] == ["::error file=none.json,", "::error file=bad%2C1.json,"]
    assert told[0].endswith("title=c4sim check::cannot be read: No such file or directory")
    assert [line.partition(".json")[0] for line in err.splitlines()] == ["c4sim: none", "c4sim: bad,1"]
    suites = ElementTree.parse("out.xml").getroot()
    assert {str(suite.get("name")): suite.get("errors") for suite in suites} == {
        "good.json": "0",
        "none.json": "1",
        "bad,1.json": "1",
    }
    assert len(suites.findall("./testsuite/testcase/error[@message]")) == 2
    assert main(["check", *files, "workers=1", "format=json"]) == 2
    document = json.loads(capsys.readouterr().out)
    assert (document["verdict"], document["exit_code"], len(document["baselines"])) == ("bad_input", 2, 1)
    assert [entry["file"] for entry in document["refused"]] == ["none.json", "bad,1.json"]


def test_an_update_is_of_all_baselines_or_none(capsys: pytest.CaptureFixture[str]) -> None:
    made = ["scenario=single_class", "horizon=3d", "faults.crash.mtbf=1h per job", "margin=20%", "workers=1"]
    assert main(["check", "--create", "good.json", *made]) == 0
    before = Path("good.json").stat()
    assert main(["check", "good.json", "none.json", "workers=1", "--update"]) == 2
    assert "none.json: cannot be read" in capsys.readouterr().err
    assert Path("good.json").stat().st_mtime_ns == before.st_mtime_ns


def test_a_closed_pipe_is_no_error() -> None:
    with start("run", "horizon=5d", "replications=2") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait(timeout=60) == 141


def test_output_can_be_redirected_in_python() -> None:
    with contextlib.redirect_stdout(io.StringIO()) as text:
        assert main(["--version"]) == 0
    assert text.getvalue().startswith("c4sim ")


def test_letters_that_the_terminal_does_not_have() -> None:
    here = {**ENVIRONMENT, "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "c4sim", "run", "name='übung'", "horizon=5d", "replications=1"]
    done = subprocess.run(command, env=here, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("\\xfcbung: 1 replications")


INTERRUPTED_AT_START = """
import sys, time
from concurrent.futures import ProcessPoolExecutor
import c4sim.cli, c4sim.cli.run
from c4sim.executors.worker import watch_parent

def run(words):
    pool = ProcessPoolExecutor(1, initializer=watch_parent)
    pool.submit(time.sleep, 0.0).result()
    pool.submit(time.sleep, 100.0)
    raise KeyboardInterrupt

c4sim.cli.run.run = run
sys.exit(c4sim.cli.main(["run"]))
"""


def test_workers_that_nobody_stopped_end_with_ctrl_c() -> None:
    command = [sys.executable, "-c", INTERRUPTED_AT_START]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=False, timeout=30)
    assert (done.returncode, done.stderr) == (130, "c4sim: interrupted\n")


def test_closed_streams_are_no_error() -> None:
    code = "import sys; sys.stdout = sys.stderr = None; from c4sim.cli import main; sys.exit(main(sys.argv[1:]))"
    for words, expected in ((["run", "horizon=5d", "replications=1"], 0), (["run", "horizon=5"], 2)):
        done = subprocess.run(
            [sys.executable, "-c", code, *words],
            env=ENVIRONMENT,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert (done.returncode, done.stdout, done.stderr) == (expected, "", "")


def test_ctrl_c_says_so_and_nothing_else() -> None:
    process = start("run", "scenario=c4_june2023", "replications=1000000", "workers=1", start_new_session=True)
    time.sleep(2.5)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == ""
    assert "Traceback" not in err
    assert err.splitlines()[-1] == "c4sim: interrupted"


def test_an_unexpected_error_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only mistakes of the user are told in a line; ours must be seen."""

    def broken(words: list[str]) -> int:
        raise ValueError("a bug")

    monkeypatch.setattr("c4sim.cli.run.run", broken)
    with pytest.raises(ValueError, match="a bug"):
        main(["run"])


def test_a_failing_disk_is_told_in_a_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def full(words: list[str]) -> int:
        raise OSError(28, "No space left on device", "out")

    monkeypatch.setattr("c4sim.cli.run.run", full)
    assert main(["run"]) == 1
    assert capsys.readouterr().err == "c4sim: [Errno 28] No space left on device: 'out'\n"


def test_module_is_the_command() -> None:
    out, _ = start("--help").communicate(timeout=60)
    buffer = io.StringIO(out)
    assert buffer.readline().startswith("c4sim: ")
