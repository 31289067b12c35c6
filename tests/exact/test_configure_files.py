"""The user's own configuration folder, fault lists, and other Hydra applications."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from c4sim.configure import ConfigError, load_scenario, scenario_names
from c4sim.scenario import Scenario

MINE = """\
# @package _global_
defaults:
  - single_class
  - override /detection: c4d
  - _self_
name: mine
job:
  nodes: 16
faults:
  crash:
    rate: 1 per job-day
  optics:
    mtbf: 1000h per link
    scope: link
provenance:
  faults.optics.mtbf: { kind: assumed, range: [500h per link, 2000h per link] }
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    mine = tmp_path / "conf"
    (mine / "scenario").mkdir(parents=True)
    (mine / "detection").mkdir()
    (mine / "scenario" / "mine.yaml").write_text(MINE)
    return mine


def refusal(folder: Path, name: str = "mine") -> str:
    with pytest.raises(ConfigError) as caught:
        load_scenario(name, config_dir=folder)
    return str(caught.value)


def test_own_scenario_builds_on_a_shipped_one(folder: Path) -> None:
    scenario = load_scenario("mine", config_dir=folder)
    assert "mine" in scenario_names(folder)
    assert (scenario.name, scenario.job.nodes, scenario.detection.delay.mean) == ("mine", 16, 45.0)
    assert set(scenario.faults) == {"crash", "optics"}
    assert scenario.faults["crash"].mtbf is None


@pytest.mark.parametrize("base", ["- single_class", "- /detection: c4d"])
def test_own_scenario_without_a_name_has_that_of_its_file(folder: Path, base: str) -> None:
    (folder / "scenario" / "ours.yaml").write_text(
        f"# @package _global_\ndefaults:\n  {base}\n  - _self_\nhorizon: 2d\n"
    )
    scenario = load_scenario("ours", config_dir=folder)
    assert (scenario.name, scenario.detection.delay.mean) == ("ours", 45.0 if "c4d" in base else 0.0)
    assert "name" not in scenario.provenance
    assert load_scenario("ours", "name=theirs", config_dir=folder).name == "theirs"
    assert load_scenario("mine", config_dir=folder).name == "mine"


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("scenario/ours", "defaults: [single_class, _self_]\nhorizon: 2d\n"),
        ("detection/ours", "detection:\n  delay: 1h\n"),
    ],
)
def test_the_line_that_hydra_wants_is_asked_for(folder: Path, path: str, content: str) -> None:
    (folder / f"{path}.yaml").write_text(content)
    group, _, option = path.partition("/")
    with pytest.raises(ConfigError) as caught:
        load_scenario("single_class", f"{group}={option}", config_dir=folder)
    assert str(caught.value).startswith(f"{path}.yaml: must begin with the line '# @package _global_'")


def test_what_the_own_file_changes_is_the_users_unless_it_says_otherwise(folder: Path) -> None:
    origins = load_scenario("mine", config_dir=folder).provenance
    assert (origins["job.nodes"].kind, origins["job.nodes"].source) == ("user", "scenario/mine.yaml")
    assert origins["faults.crash.rate"].kind == "user"
    assert "faults.crash.mtbf" not in origins
    assert origins["faults.optics.mtbf"].kind == "assumed"
    assert origins["horizon"].kind == "assumed"


def test_own_option_of_a_shipped_group_and_own_version_of_a_shipped_file(folder: Path) -> None:
    (folder / "detection" / "slow.yaml").write_text("# @package _global_\ndetection:\n  delay: 1h\n")
    assert load_scenario("c4_june2023", "detection=slow", config_dir=folder).detection.delay.mean == 3600.0
    (folder / "detection" / "c4d.yaml").write_text("delay: 9s\n")  # without package: the group is its place
    scenario = load_scenario("c4_june2023", "detection=c4d", config_dir=str(folder))
    assert scenario.detection.delay.mean == 9.0
    assert scenario.provenance["detection.delay"].kind == "user"
    assert load_scenario("c4_june2023", "detection=c4d").detection.delay.mean == 45.0


def test_a_group_swapped_on_the_command_line_beats_the_body(folder: Path) -> None:
    (folder / "scenario" / "mine.yaml").write_text(MINE + "detection:\n  delay: 20min\n")
    assert load_scenario("mine", config_dir=folder).detection.delay.mean == 1200.0
    assert load_scenario("mine", "detection=c4d", config_dir=folder).detection.delay.mean == 45.0


def test_own_classes_can_be_overridden(folder: Path) -> None:
    scenario = load_scenario("mine", "faults.optics.mtbf=5h per link", config_dir=folder)
    assert scenario.provenance["faults.optics.mtbf"].kind == "user"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("repair:\n  _target_: os.system\n", "repair._target_: is refused"),
        ("name: ${oc.env:HOME}\n", "name: interpolation"),
        ("repair:\n  duration: ${job.nodes}\n", "repair.duration: interpolation"),
        ("name: !!python/object/apply:os.getcwd []\n", "scenario/mine.yaml: is not taken: could not determine"),
        ("faults: [1, 2\n", "scenario/mine.yaml: is no YAML: did not find"),
        ("job:\n  nodes: 3\n  nodes: 4\n", "scenario/mine.yaml: is not taken: while"),
        ("job: 3\n", "job:"),
        ("faults: 3\n", "faults:"),
        ("- 1\n", "must be a mapping"),
        ("provenance:\n  horizon: 3\n", "provenance"),
        ("provenance: 3\n", "provenance"),
        ("faults: {1: {rate: 3 per job-day}}\n", "faults.1: a class name"),
        ("job: {true: 3}\n", "job.True: unknown key"),
        ("null: 3\n", "scenario/mine.yaml: is not taken: Incompatible key"),
        ("faults: [1\n\n\nname: 2\n", "scenario/mine.yaml: is no YAML: "),
        ("name: \x00\n", "scenario/mine.yaml: is no YAML: "),
        ("horizont: 3d\n", "horizont: unknown key; did you mean 'horizon'"),
        ("fault_list: /etc/passwd\n", "fault_list: lies outside"),
    ],
)
def test_hostile_or_broken_files(folder: Path, content: str, words: str) -> None:
    header = "# @package _global_\ndefaults: [single_class, _self_]\n" if not content.startswith("-") else ""
    (folder / "scenario" / "mine.yaml").write_text(header + content)
    text = refusal(folder)
    assert words in text
    assert os.environ["HOME"] not in text


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (
            b"# @package _global_\nname: caf\xe9\n",
            "scenario/mine.yaml: is not UTF-8 text: invalid continuation byte at byte 29",
        ),
        (b"\xef\xbb\xbf# @package _global_\nname: mine\n", "scenario/mine.yaml: begins with a byte order mark"),
    ],
)
def test_files_of_another_encoding(folder: Path, content: bytes, words: str) -> None:
    (folder / "scenario" / "mine.yaml").write_bytes(content)
    assert refusal(folder).startswith(words)


@pytest.mark.parametrize("first", ["mine", "other"])
def test_defaults_in_a_circle(folder: Path, first: str) -> None:
    (folder / "scenario" / "mine.yaml").write_text(f"# @package _global_\ndefaults: [{first}, _self_]\n")
    (folder / "scenario" / "other.yaml").write_text("# @package _global_\ndefaults: [mine, _self_]\n")
    assert refusal(folder).startswith("scenario/mine.yaml: the defaults lead back")


def test_defaults_may_not_reach_outside(folder: Path) -> None:
    (folder.parent / "secret.yaml").write_text("# @package _global_\nname: secret\n")
    for path in ("/../secret", "../../secret", str(folder.parent / "secret")):
        (folder / "scenario" / "mine.yaml").write_text(f"# @package _global_\ndefaults: [{path}, _self_]\n")
        text = refusal(folder)
        assert "Could not load" in text or "outside" in text, path


def test_a_file_that_would_fill_the_memory_is_refused_unread(folder: Path) -> None:
    with (folder / "scenario" / "mine.yaml").open("wb") as file:
        file.truncate(1_000_000_000)
    assert "larger than" in refusal(folder)
    bomb = "a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n" + "".join(
        f"{name}: &{name} [{', '.join(['*' + before] * 10)}]\n"
        for before, name in zip("abcdefgh", "bcdefghi", strict=True)
    )
    (folder / "scenario" / "mine.yaml").write_text(bomb)
    assert "holds more than" in refusal(folder)
    (folder / "scenario" / "mine.yaml").write_text("a: &a [*a]\n")
    assert "mine.yaml" in refusal(folder)


def test_no_such_folder(tmp_path: Path) -> None:
    assert "no such folder" in refusal(tmp_path / "nothing")


def test_fault_list_of_a_file(folder: Path) -> None:
    (folder.parent / "faults.csv").write_text("time,node,kind\n60s,3,crash\n1h 5min,0,crash\n")
    scenario = load_scenario("single_class", "fault_list=faults.csv")
    assert scenario.fault_list is not None
    assert [(f.time, f.node, f.kind) for f in scenario.fault_list] == [(60.0, 3, "crash"), (3900.0, 0, "crash")]
    inline = load_scenario(
        "single_class", "fault_list=[{time: 60s, node: 3, kind: crash}, {time: 65min, node: 0, kind: crash}]"
    )
    assert inline.digest() == scenario.digest()
    assert Scenario.model_validate(scenario.as_document()) == scenario


def test_fault_list_in_the_configuration_folder(folder: Path) -> None:
    (folder / "list.csv").write_text("kind, node, time\ncrash, 1, 5min\n")
    scenario = load_scenario("single_class", "fault_list=list.csv", config_dir=folder)
    assert scenario.fault_list is not None
    assert scenario.fault_list[0].time == 300.0


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("time,node\n1s,2\n", "needs the columns"),
        ("time,node,kind\n1s,two,crash\n", "fault_list[0].node: must be a whole number (got 'two')"),
        ("time,node,kind\n1,2,crash\n", "fault_list[0].time"),
        ("time,node,kind\n1s,500,crash\n", "fault_list[0].node"),
        ("time,node,kind\n1s,2,crsh\n", "did you mean 'crash'"),
        ("time,node,kind\n1s,2\n", "row 1 has 2 cells"),
        ('time,node,kind\n"1s,2,crash\n', "cannot be read"),
        ("", "is empty"),
        ("time,node,kind\n" + "9" * 200_000 + ",1,crash\n", "cannot be read"),
        ("time,node,kind\n1s," + "9" * 5_000 + ",crash\n", "fault_list[0].node"),
    ],
)
def test_fault_lists_that_are_refused(folder: Path, content: str, words: str) -> None:
    (folder.parent / "faults.csv").write_text(content)
    with pytest.raises(ConfigError) as caught:
        load_scenario("single_class", "fault_list=faults.csv")
    assert words in str(caught.value)


def test_fault_list_outside_or_no_plain_file(folder: Path) -> None:
    (folder / "link.csv").symlink_to("/etc/passwd")
    os.mkfifo(folder / "pipe.csv")
    for name, words in (
        ("/etc/passwd", "outside"),
        ("../../../etc/passwd", "outside"),
        ("link.csv", "outside"),
        ("pipe.csv", "no plain file"),
        ("none.csv", "no such file"),
        ("/dev/zero", "outside"),
    ):
        with pytest.raises(ConfigError) as caught:
            load_scenario("single_class", f"fault_list={name}", config_dir=folder)
        assert words in str(caught.value).replace("is not a plain file", "no plain file"), name


def test_fault_list_of_a_gigabyte(folder: Path) -> None:
    with (folder / "big.csv").open("wb") as file:
        file.truncate(1_000_000_000)
    with pytest.raises(ConfigError, match="is larger than 8,000,000"):
        load_scenario("single_class", "fault_list=big.csv", config_dir=folder)


def test_threads_give_what_one_thread_gives() -> None:
    intervals = [f"checkpoint.interval={minutes}min" for minutes in range(1, 41)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda text: load_scenario("c4_june2023", text, "detection=c4d"), intervals))
    assert [scenario.checkpoint.interval for scenario in found] == [60.0 * minutes for minutes in range(1, 41)]


HYDRA_APP = """
import hydra
from c4sim.configure import load_scenario

@hydra.main(config_path=None, version_base=VERSION)
def main(cfg):
    from hydra.core.global_hydra import GlobalHydra
    assert GlobalHydra.instance().is_initialized()
    print("interval", load_scenario("c4_june2023", "checkpoint.interval=10min").checkpoint.interval)
    assert GlobalHydra.instance().is_initialized()

main()
"""


@pytest.mark.parametrize("version", ["None", "'1.1'", "'1.3'"])
def test_inside_another_hydra_application(tmp_path: Path, version: str) -> None:
    (tmp_path / "app.py").write_text(HYDRA_APP.replace("VERSION", version))
    here = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "app.py"], cwd=tmp_path, env=here, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert "interval 600.0" in done.stdout


def test_hydra_internals_are_where_they_were() -> None:
    """configure leans on these; a failure here after an upgrade of hydra-core says where to look first."""
    from hydra._internal.config_repository import ConfigRepository
    from hydra._internal.defaults_list import create_defaults_list
    from hydra.core.default_element import ResultDefault
    from hydra.core.override_parser.types import Override

    assert {"_find_object_source", "get_group_options", "group_exists"} <= set(dir(ConfigRepository))
    assert create_defaults_list.__code__.co_varnames[:5] == (
        "repo",
        "config_name",
        "overrides_list",
        "prepend_hydra",
        "skip_missing",
    )
    assert {"config_path", "package", "override_key"} <= set(ResultDefault.__dataclass_fields__)
    assert "_value" in Override.__dataclass_fields__
