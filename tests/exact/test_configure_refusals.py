"""What is refused, with every mistake at once and the nearest valid name."""

import time
from typing import Any

import pytest

from c4sim.configure import ConfigError, load_points, load_scenario


def problems(*overrides: str, name: str = "single_class") -> dict[str, str]:
    with pytest.raises(ConfigError) as caught:
        load_scenario(name, *overrides)
    found = [str(problem) for problem in caught.value.problems]
    return {text.partition(": ")[0]: text.partition(": ")[2] for text in found}


@pytest.mark.parametrize(
    ("override", "path", "words"),
    [
        ("horizon=-1d", "horizon", "must not be negative"),
        ("horizon=nan", "horizon", "unit"),
        ("horizon=inf", "horizon", "unit"),
        ("horizon=10", "horizon", "unit"),
        ("job.nodes=nan", "job.nodes", "whole number"),
        ("job.nodes=1e400", "job.nodes", "whole number"),
        ("job.nodes=0x10", "job.nodes", "whole number"),
        ("job.nodes=12.0", "job.nodes", "whole number"),
        ("job.nodes=true", "job.nodes", "whole number"),
        ("checkpoint.save_failure=1e400", "checkpoint.save_failure", "finite"),
        ("checkpoint.save_failure=nan", "checkpoint.save_failure", "finite"),
        ("checkpoint.save_failure='0.1'", "checkpoint.save_failure", "number"),
        ("faults.crash.mtbf=12h", "faults.crash.mtbf", "scope"),
        ("checkpoint.intervall=1h", "checkpoint.intervall", "did you mean 'interval'"),
        ("+checkpoint.intervall=1h", "checkpoint.intervall", "without '+'"),
        ("++checkpoint.interval=1h", "checkpoint.interval", "without '+'"),
        ("~horizon", "horizon", "null"),
        ("~horizon=30d", "horizon", "null"),
        ("chekpoint.interval=1h", "chekpoint", "did you mean 'checkpoint'"),
        ("faults.crsh.mtbf=1h per job", "faults.crsh", "did you mean 'crash'"),
        ("detection=c4", "detection", "did you mean 'c4d'"),
        ("detection=../scenario/c4_4096", "detection", "must be one of"),
        ("detection/layers=x", "detection/layers", "no such group"),
        ("detection@job=c4d", "detection@job", "@package"),
        ("horizon.days=3", "horizon.days", "one value"),
        ("horizon=[1", "horizon", "cannot be read"),
        ("name=é", "name", "such a value is written in quotes, as in \"name='é'\""),
        ("horizon=1d,2d", "horizon", "-m"),
        ("job.nodes=range(1,3)", "job.nodes", "-m"),
        ("horizon=shuffle(1d,2d)", "horizon", "cannot be read"),
        ("horizon=interval(1,2)", "horizon", "cannot be read"),
        ("horizon", "horizon", "key=value"),
        ("provenance.horizon={kind: published}", "provenance.horizon", "kept by c4sim"),
        ("hydra.run.dir=/tmp", "hydra", "unknown key"),
        ("repair={_target_: os.system}", "repair._target_", "instantiated"),
        ("repair._target_=os.system", "repair._target_", "instantiated"),
        ("horizon=???", "horizon", "missing"),
        ("detection.layers=[{kind: people, delay: 1h, _target_: x}]", "detection.layers.0._target_", "instantiated"),
    ],
)
def test_refused(override: str, path: str, words: str) -> None:
    found = problems(override)
    assert path in found
    assert words in found[path]


@pytest.mark.parametrize("wrong", [None, [], 3, ["horizon=1d"]])
def test_overrides_are_texts(wrong: Any) -> None:
    assert "must be texts" in problems(wrong)["overrides"]


def test_combinations() -> None:
    assert (
        "not both" in problems("faults.crash.mtbf=5h per job", "faults.crash.rate=1 per job-month")["faults.crash.mtbf"]
    )
    assert "more nodes" in problems("cluster.nodes=5")["job.nodes"]
    assert "every save" in problems("checkpoint.write=610s", "detection.collective_timeout=600s")["checkpoint.write"]
    load_scenario("single_class", "checkpoint.write=590s", "detection.collective_timeout=600s")


def test_all_mistakes_at_once() -> None:
    found = problems(
        "horizon=-1d",
        "checkpoint.intervall=1h",
        "+checkpoint.fast=true",
        "isolation=c4",
        "repair.duration=[",
        "faults.crash.mtbf=5h per job",
        "faults.crash.rate=1 per job-month",
        "checkpoint.load=${oc.env:HOME}",
    )
    assert set(found) == {
        "horizon",
        "checkpoint.intervall",
        "checkpoint.fast",
        "isolation",
        "repair.duration",
        "faults.crash.mtbf",
        "checkpoint.load",
    }


def test_an_unknown_scenario_names_the_nearest() -> None:
    assert "did you mean 'c4_june2023'" in problems(name="c4_june2032")["scenario"]


def test_an_unknown_scenario_does_not_accuse_its_fault_classes() -> None:
    assert set(problems("faults.cuda.mtbf=1h per job", name="c4_june2032")) == {"scenario"}


def test_the_environment_never_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("C4SIM_TEST_SECRET", "hunter2")
    for text in ("checkpoint.load=${oc.env:C4SIM_TEST_SECRET}", "name=${oc.env:C4SIM_TEST_SECRET}"):
        found = problems(text)
        assert "interpolation" in " ".join(found.values())
        assert "hunter2" not in str(found)


def test_large_values_are_refused_quickly() -> None:
    start = time.perf_counter()
    assert "longer than" in problems("fault_list=[" + "1," * 200_000_000 + "1]")["fault_list"]
    for text in ("job.nodes=range(1,1000000000)", "job.nodes=range(0,1,1e-12)", "job.nodes=range(1,inf)"):
        with pytest.raises(ConfigError):
            load_points([text])
    assert "nested" in problems("fault_list=" + "[" * 900 + "]" * 900)["fault_list"]
    assert time.perf_counter() - start < 10.0
