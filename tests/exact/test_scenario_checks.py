"""Every problem of a scenario at once, each with its path, what is allowed, the value and the nearest valid name."""

from typing import Any

import pytest

from c4sim.scenario import Scenario, ScenarioError, validate
from c4sim.scenario.lives import most_expected
from c4sim.simulation import run

LAW = {"mean": "1h"}
FREE = {"name": "free", "stall": "0s"}


def aged(**given: Any) -> dict[str, Any]:
    return {"faults": {"a": {"mtbf": "12h per job", **given}}}


def warm(activation: float, celsius: float) -> dict[str, Any]:
    temperature = {"activation_energy_ev": activation, "reference_celsius": 20.0, "celsius": [celsius]}
    return {"faults": {"a": {"rate": "1 per job-day", "temperature": temperature}}}


def problems(document: dict[str, Any]) -> dict[str, str]:
    with pytest.raises(ScenarioError) as caught:
        validate(document)
    found = {problem.path: str(problem) for problem in caught.value.problems}
    assert len(found) == len(caught.value.problems), "a path is blamed twice"
    return found


def test_the_default_is_a_scenario_that_survives_its_own_document() -> None:
    assert validate(Scenario().as_document()) == Scenario()
    assert Scenario().digest() == validate(Scenario().as_document()).digest()


def test_everything_wrong_is_said_at_once() -> None:
    found = problems(
        {
            "horizon": "1e400s",
            "checkpoint": {"intervall": "1h", "write": "20s"},
            "detection": {"collective_timeout": "10s", "delay": "-5s"},
            "repair": {"duration": "nan"},
            "restart": {"duration": "5"},
            "faults": {
                "crash": {"mtbf": "12h", "clock": "operatin"},
                "both": {"mtbf": "1h per gpu", "rate": "3 per job-month"},
            },
            "job": {"nodes": 300},
            "cluster": {"nodes": 200},
        }
    )
    assert set(found) == {
        "horizon",
        "checkpoint.intervall",
        "checkpoint.write",
        "detection.delay",
        "repair.duration",
        "restart.duration",
        "faults.crash.mtbf",
        "faults.crash.clock",
        "faults.both.mtbf",
        "job.nodes",
    }
    assert "did you mean 'interval'?" in found["checkpoint.intervall"]
    assert "did you mean 'operating'?" in found["faults.crash.clock"]
    assert "the scope is missing" in found["faults.crash.mtbf"]
    assert "a duration needs a unit" in found["restart.duration"]
    assert found["detection.delay"].endswith("(got '-5s')")


def test_a_wrong_part_of_a_section_is_blamed_once() -> None:
    found = problems({"faults": {"a": {"clustering": {"dispersion": "x", "window": "-1s"}}}})
    assert set(found) == {"faults.a.clustering.dispersion", "faults.a.clustering.window"}


def test_a_missing_part_is_named() -> None:
    found = problems({"faults": {"a": {"rate": "1 per job-day", "clustering": {}}}})
    assert found == {"faults.a.clustering.dispersion": "faults.a.clustering.dispersion: is required"}


@pytest.mark.parametrize(
    ("document", "path", "says"),
    [
        ({"horizon": None}, "horizon", "either horizon or work"),
        ({"work": "1h"}, "horizon", "either horizon or work"),
        ({"warmup": "60d"}, "horizon", "longer than warmup"),
        ({"horizon": None, "work": "1h", "warmup": "1s"}, "warmup", "fixed work"),
        ({"spares": {"per_pool": 2, "total": 3}}, "spares.total", "either spares.total or spares.per_pool"),
        ({"spares": {"state": "hot", "per_pool": "unlimited"}}, "spares.state", "cannot be hot"),
        ({"spares": {"per_pool": 8}, "job": {"max_nodes": 130}}, "job.max_nodes", "128 + 8 = 136"),
        ({"job": {"max_nodes": 100}}, "job.max_nodes", "at least job.nodes = 128"),
        ({"checkpoint": {"interval": "0s"}}, "checkpoint.interval", "longer than 0"),
        ({"checkpoint": {"mode": "async", "stall": "1s", "slowdown": 0.0}}, "checkpoint.persist", "silence is not"),
        ({"checkpoint": {"interval": "young"}}, "checkpoint.interval", "costs something: the best interval"),
        (
            {
                "checkpoint": {
                    "interval": "daly",
                    "mode": "async",
                    "tiers": [{**FREE, "persist": "9s", "slowdown": 0.0}],
                }
            },
            "checkpoint.interval",
            "costs something",
        ),
        ({"checkpoint": {"interval": "exact", "write": "9s"}, "faults": {}}, "checkpoint.interval", "a job that fails"),
        ({"checkpoint": {"tiers": []}}, "checkpoint.tiers", "at least one"),
        ({"evaluation": {"every": "0s", "duration": "1s"}}, "evaluation.every", "longer than 0"),
        ({"faults": {"a": {"law": "weibull", "mtbf": "1h per job"}}}, "faults.a.law", "needs shape or cv"),
        ({"faults": {"a": {"shape": 2.0}}}, "faults.a.law", "takes no shape"),
        ({"faults": {"a": {"effect": "slow"}}}, "faults.a.slow_factor", "go together"),
        ({"faults": {"a": {"effect": "corruption"}}}, "faults.a.latency", "go together"),
        ({"faults": {"a/b": {}}}, "faults.a/b", "letters, digits"),
        ({"faults": {"a": {"mtbf": "1us per gpu"}}}, "faults.a", "at most 1e+08"),
        ({"isolation": {"by_cause": {"crsh": "1h"}}}, "isolation.by_cause.crsh", "did you mean 'crash'?"),
        ({"restart": {"rendezvous": {"failure": 1.0}}}, "restart.rendezvous.failure", "needs restart.attempts"),
        ({"pauses": {"rate": "1 per gpu-day", "mean": "1s", "cv": 1.0}}, "pauses.rate", "per job"),
        ({"pauses": {"rate": "1 per job-day", "mean": "1s"}}, "pauses.cv", "needs cv"),
        ({"job": {"nodes": 0}}, "job.nodes", "greater than or equal to 1"),
        ({"job": {"nodes": True}}, "job.nodes", "whole number"),
        ({"job": {"nodes": "0x10"}}, "job.nodes", "whole number"),
        ({"job": {"nodes": 99_999_999_999}}, "job.nodes", "must be less than or equal to 10000000 (got 99999999999)"),
        ({"job": {"nodes": None}}, "job.nodes", "must be a whole number (got None)"),
        ({"job": [1]}, "job", "must be a mapping of keys to values (got [1])"),
        ({"spares": {"total": 10**12, "per_pool": None}}, "spares.total", "at most 10000000 spares"),
        ({"spares": {"per_pool": 10**7}, "job": {"nodes": 300}}, "spares.per_pool", "or unlimited (got 30000000)"),
        ({"maintenance": {"every": "1us", "duration": "0s"}}, "maintenance.every", "in one run; at most 1e+07"),
        (aged(clustering={"dispersion": 2.0, "window": "1us"}), "faults.a.clustering.window", "is 2.6e+12 times"),
        ({"name": "a\nb"}, "name", "printed on one line (got 'a\\nb')"),
        ({"name": " "}, "name", "printed on one line"),
        ({"name": None}, "name", "must be text (got None)"),
        ({"faults": None}, "faults", "must be a mapping of names to values (got None)"),
        ({"fault_list": 3}, "fault_list", "must be a list (got 3)"),
        ({"faults": {"a": {"ages": []}}}, "faults.a.ages", "at least 1 value"),
        ({"spares": {"borrowing": "2"}}, "spares.borrowing", "must be true or false"),
        ({"isolation": {"by_cause": {"x": "3h"}}}, "isolation.by_cause.x", "(got 'x')"),
        ({"checkpoint": {"fast": None}}, "checkpoint.fast", "unknown key (got None)"),
        ({"cluster": {"lemons": {"multiplier": 0.5}}}, "cluster.lemons.multiplier", "equal to 1 (got 0.5)"),
        ({"cluster": {"lemons": {"multiplier": 0.5}}}, "cluster.lemons.share", "is required"),
        ({"pauses": {}}, "pauses.mean", "is required"),
        ({"maintenance": {"every": "0s", "duration": "1h"}}, "maintenance.every", "must be greater than 0 (got '0s')"),
        ({"repair": {"duration": {**LAW, "law": "weibull", "cv": 1e6}}}, "repair.duration", "a cv from"),
        ({"repair": {"duration": {**LAW, "law": "weibull", "shape": 0.01}}}, "repair.duration", "a shape from 0.05"),
        ({"repair": {"duration": {**LAW, "law": "gamma", "cv": 1e6}}}, "repair.duration", "a cv from"),
        (aged(law="weibull", shape=0.01), "faults.a.shape", "a shape from 0.05"),
        (aged(law="lognormal", cv=1e9), "faults.a.cv", "a cv from"),
        (aged(law="weibull", shape=0.06), "faults.a", "at most 1e+08"),
        (aged(law="gamma", cv=50.0), "faults.a", "at most 1e+08"),
        ({"faults": {"a": {"law": "empirical", "values": ["1us"], "scope": "job"}}}, "faults.a", "at most 1e+08"),
        ({"cluster": {"lemons": {"share": 0.5, "multiplier": 1e9}}}, "faults.crash", "at most 1e+08"),
        (warm(1000.0, 900.0), "faults.a.temperature.celsius[0]", "multiplies the rate by e^29694; at most 1e+06 times"),
        (warm(0.7, -273.0), "faults.a.temperature.celsius[0]", "(got -273.0)"),
        (
            {"faults": {"a": {"rate": "1 per job-day", "reinforcement": {"factor": 1e300, "over": "1d"}}}},
            "faults.a.reinforcement.factor",
            "at most 1e+06 times",
        ),
        ({"repair": {"stages": [{"duration": "1h"}], "duration": "2h"}}, "repair.duration", "each of repair.stages"),
        ({"repair": {"stages": [{"duration": "1h"}], "crews": 2}}, "repair.crews", "its own crews (got 2)"),
        ({"isolation": {"wrong_blame": 1.5}}, "isolation.wrong_blame", "less than or equal to 1"),
        ({"isolation": {"wrong_blame": float("nan")}}, "isolation.wrong_blame", ""),
    ],
)
def test_what_cannot_be_is_refused(document: dict[str, Any], path: str, says: str) -> None:
    found = problems(document)
    assert path in found
    assert says in found[path]


@pytest.mark.parametrize(
    "document",
    [
        {"checkpoint": {"interval": "young", "write": "9s"}},
        {"checkpoint": {"interval": "daly", "tiers": [FREE, {**FREE, "name": "slow", "stall": "1s"}]}},
        {
            "checkpoint": {"interval": "exact", "write": "9s"},
            "faults": {},
            "pauses": {"rate": "1 per job-day", "mean": "1h", "law": "exponential"},
            "detection": {"delay": "10min"},
        },
        {
            "checkpoint": {"interval": "exact", "write": "9s"},
            "faults": {"a": {"rate": "1 per job-day", "effect": "slow", "slow_factor": 0.5}},
        },
    ],
)
def test_a_rule_with_an_answer_is_a_scenario_that_runs(document: dict[str, Any]) -> None:
    assert run(validate(document), seed=1, point=0, replication=0).incidents


@pytest.mark.parametrize(
    "fault",
    [
        {"law": "weibull", "shape": 0.5},
        {"law": "weibull", "cv": 3.0, "renewal": "carried"},
        {"law": "lognormal", "cv": 4.0, "scope": "node"},
        {"law": "gamma", "cv": 2.0},
        {"law": "empirical", "values": ["1h", "9000h"], "mtbf": None},
        {"law": "weibull", "shape": 2.0, "scope": "rack"},
    ],
)
def test_the_expected_faults_are_bounded_from_above_and_not_out_of_proportion(fault: dict[str, Any]) -> None:
    scenario = validate({"horizon": "2d", **aged(**{"mtbf": "3000h per gpu", **fault})})
    found = [len(run(scenario, seed=1, point=0, replication=i).incidents) for i in range(4)]
    bound = most_expected(scenario, scenario.faults["a"])
    assert sum(found) / 4 < bound < 10.0 * sum(found) / 4


@pytest.mark.parametrize(("write", "fine"), [("590s", True), ("600s", False), ("610s", False)])
def test_a_save_as_long_as_the_collective_timeout_kills_the_job(write: str, fine: bool) -> None:
    document = {"checkpoint": {"write": write}, "detection": {"collective_timeout": "600s"}}
    if fine:
        assert validate(document).checkpoint.write == 590.0
    else:
        assert "every save would kill the job" in problems(document)["checkpoint.write"]


def test_the_digest_follows_content_only() -> None:
    one = validate({"name": "a", "checkpoint": {"interval": "60min"}})
    assert one.digest() == validate({"name": "b", "checkpoint": {"interval": "1h"}}).digest()
    assert one.digest() != validate({"name": "a", "checkpoint": {"interval": "61min"}}).digest()
