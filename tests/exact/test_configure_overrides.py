"""Overrides: values by replacement, siblings taken back, provenance kept true."""

import pytest

from c4sim.configure import ConfigError, load_points, load_scenario
from c4sim.scenario import Scenario

HOUR = 3600.0


def kinds(scenario: Scenario) -> dict[str, str]:
    return {key: origin.kind for key, origin in scenario.provenance.items()}


def test_text_with_blanks_and_units() -> None:
    scenario = load_scenario(
        "single_class", "faults.crash.mtbf=50000h per gpu", "horizon=1h 30min", "repair.crews=unlimited"
    )
    mtbf = scenario.faults["crash"].mtbf
    assert mtbf is not None
    assert (mtbf.seconds, mtbf.scope) == (50_000 * HOUR, "gpu")
    assert scenario.horizon == 1.5 * HOUR


def test_a_value_replaces_and_does_not_merge() -> None:
    scenario = load_scenario("c4_june2023", "isolation.delay={law: gamma, mean: 1h, shape: 2}")
    assert scenario.isolation.delay.law == "gamma"
    assert scenario.isolation.delay.cv is None
    assert kinds(scenario)["isolation.delay"] == "user"
    assert not any(key.startswith("isolation.delay.") for key in scenario.provenance)


def test_a_longer_path_edits_inside_a_value() -> None:
    scenario = load_scenario("c4_june2023", "isolation.delay.cv=2")
    assert (scenario.isolation.delay.law, scenario.isolation.delay.cv) == ("lognormal", 2.0)
    assert kinds(scenario)["isolation.delay.cv"] == "user"
    assert kinds(scenario)["isolation.delay.mean"] == "calibrated"


def test_an_item_of_a_list() -> None:
    layers = "detection.layers=[{kind: heartbeat, delay: 30s, coverage: 0.9}, {kind: people, delay: 1h}]"
    scenario = load_scenario("single_class", layers, "detection.layers.1.delay=2h")
    assert scenario.detection.layers is not None
    assert scenario.detection.layers[1].delay.mean == 2 * HOUR


def test_a_section_that_was_null() -> None:
    scenario = load_scenario("single_class", "evaluation.every=6h", "evaluation.duration=10min")
    assert scenario.evaluation is not None
    assert scenario.evaluation.every == 6 * HOUR


@pytest.mark.parametrize(
    ("override", "given", "taken_back", "left"),
    [
        ("faults.crash.rate=6.5 per 1000 node-days", "faults.crash.rate", "faults.crash.mtbf", None),
        ("work=10d", "work", "horizon", None),
        ("spares.total=4", "spares.total", "spares.per_pool", None),
    ],
)
def test_the_sibling_not_mentioned_is_taken_back(override: str, given: str, taken_back: str, left: object) -> None:
    scenario = load_scenario("single_class", override)
    document = scenario.as_document()

    def at(key: str) -> object:
        node = document
        for step in key.split("."):
            node = node[step]
        return node

    assert at(given) is not None
    assert at(taken_back) is left
    assert taken_back not in scenario.provenance


def test_null_takes_nothing_back() -> None:
    scenario = load_scenario("single_class", "faults.crash.rate=null")
    assert scenario.faults["crash"].mtbf is not None


def test_switching_a_class_off() -> None:
    assert load_scenario("single_class", "faults.crash.mtbf=null").faults["crash"].mtbf is None
    assert "crash" not in load_scenario("single_class", "faults.crash=null").faults


def test_layers_take_the_plain_delay_back_and_the_other_way_round() -> None:
    layered = load_scenario("c4_june2023", "detection.layers=[{kind: c4d, delay: 30s}]")
    assert layered.detection.delay.mean == 0.0
    assert "detection.delay" not in layered.provenance
    again = load_scenario("c4_june2023", "detection.layers=null", "detection.delay=5s")
    assert again.detection.layers is None


def test_asynchronous_saves_have_no_blocking_write() -> None:
    mode = ["checkpoint.mode=async", "checkpoint.stall=1s", "checkpoint.persist=60s", "checkpoint.slowdown=0.1"]
    assert load_scenario("c4_june2023", *mode).checkpoint.write is None


def test_a_key_given_twice_is_refused_with_both_values() -> None:
    with pytest.raises(ConfigError) as caught:
        load_scenario("single_class", "horizon=1d", "horizon=2d", "name=a")
    (problem,) = caught.value.problems
    assert str(problem) == (
        "horizon: is given 2 times, as 1d and 2d; leave one (several values of a sweep: horizon=A,B)"
    )


def test_a_second_layer_changes_the_first_and_takes_siblings_back() -> None:
    base = ["horizon=1d", "spares.per_pool=8", "detection=c4d"]
    (point,) = load_points(base, on_top=["horizon=2d", "spares.total=3", "detection=immediate"])
    assert point.scenario is not None
    assert (point.scenario.horizon, point.scenario.spares.total) == (48 * HOUR, 3)
    assert point.scenario.spares.per_pool is None
    assert point.scenario.detection.delay.mean == 0.0


def test_overridden_keys_are_the_users_even_at_the_same_value() -> None:
    scenario = load_scenario("c4_june2023", "repair.duration=2d")
    assert kinds(scenario)["repair.duration"] == "user"
    assert kinds(scenario)["restart.duration"] == "calibrated"
    assert scenario.digest() == load_scenario("c4_june2023").digest()


def test_a_group_wins_over_the_body_wherever_it_is_written() -> None:
    before = load_scenario("c4_june2023", "detection=c4d", "checkpoint.interval=10min")
    after = load_scenario("c4_june2023", "checkpoint.interval=10min", "detection=c4d")
    assert before == after


def test_a_value_wins_over_the_group_that_it_stands_beside() -> None:
    scenario = load_scenario("c4_june2023", "detection.delay=7s", "detection=c4d")
    assert scenario.detection.delay.mean == 7.0


def test_loading_twice_gives_independent_scenarios() -> None:
    changed = load_scenario("c4_june2023", "faults.cuda.mtbf=1h per job")
    assert load_scenario("c4_june2023").faults["cuda"] != changed.faults["cuda"]
