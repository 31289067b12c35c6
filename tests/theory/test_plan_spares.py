"""`plan_spares`: published numbers, closed form beside simulation, both clocks, and what it refuses to claim."""

from typing import Any

import pytest

from c4sim.scenario import Scenario, ScenarioError, validate
from c4sim.studies.plan_spares import fewest, plan_spares
from c4sim.studies.spares_model import spares_model

DAY = 86_400.0


def scenario_of(nodes: int, clock: str, days: int, **sections: Any) -> Scenario:
    """6.5 failures per 1,000 node-days."""
    repair = sections.pop("repair", {})
    if "stages" not in repair:
        repair = {"duration": f"{days}d"} | repair
    crash = {"rate": "6.5 per 1000 node-days", "clock": clock} | sections.pop("crash", {})
    return validate({"job": {"nodes": nodes}, "faults": {"crash": crash}, "repair": repair} | sections)


@pytest.mark.parametrize(("clock", "answer"), [("calendar", 11), ("operating", 10)])
def test_closed_form_and_simulation_agree(clock: str, answer: int) -> None:
    """512 nodes, 2-day repair, 95 %: 11 spares when nodes go on failing while the job waits, else 10."""
    plan = plan_spares(scenario_of(512, clock, 2), 0.95, seed=1)
    document = plan.as_document()
    assert (document["closed_form"], document["simulated"], document["clock"]) == (answer, answer, clock)
    assert document["offered_load"] == pytest.approx(6.656)
    assert document["warnings"] == []
    for candidate in plan.candidates:
        half = 4.0 / 1.96 * (candidate.simulated.half_width or 0.0)
        assert candidate.simulated.mean == pytest.approx(candidate.closed_form, abs=half)
    assert {candidate.spares for candidate in plan.candidates} == {answer - 1, answer}


@pytest.mark.parametrize(
    ("nodes", "days", "clock", "answers"),
    [
        (2_048, 3, "calendar", (48, 51, 55, 61)),
        (2_048, 3, "operating", (41, 45, 52, 58)),
        (512, 2, "calendar", (10, 11, 13, 16)),
        (512, 2, "operating", (9, 10, 13, 15)),
    ],
)
def test_published_numbers_of_spares(
    nodes: int, days: int, clock: str, answers: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """90, 95, 99 and 99.9 %, in closed form; the simulation is left out."""
    monkeypatch.setattr("c4sim.studies.plan_spares.fewest", lambda *_, **__: None)
    scenario = scenario_of(nodes, clock, days)
    assert tuple(plan_spares(scenario, p).closed_form for p in (0.9, 0.95, 0.99, 0.999)) == answers


@pytest.mark.parametrize(("clock", "share"), [("calendar", 0.0077), ("operating", 0.765)])
def test_an_unstable_shop_is_named_and_the_given_spares_are_judged(
    clock: str, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """128 nodes, 7 spares, 2 crews, 3-day repair: load 2.5 > 2; the warm-up is chosen from the closed form."""
    monkeypatch.setattr("c4sim.studies.plan_spares._MOST_FAILURES", 15_000.0)
    repair = {"duration": {"law": "exponential", "mean": "3d"}, "crews": 2}
    plan = plan_spares(scenario_of(128, clock, 3, repair=repair, spares={"per_pool": None, "total": 7}), 0.95, seed=2)
    assert (plan.closed_form, plan.simulated) == (None, None)
    assert any("repair shop unstable: offered load 2.5 with 2 crews" in text for text in plan.warnings)
    (candidate,) = plan.candidates
    assert candidate.closed_form == pytest.approx(share, abs=0.0005)
    half = 4.0 / 1.96 * (candidate.simulated.half_width or 0.0)
    assert candidate.simulated.mean == pytest.approx(candidate.closed_form, abs=half)
    assert half < 0.1
    assert plan.warmup_s >= 30 * DAY


def test_a_job_that_loses_no_node_needs_no_spare() -> None:
    plan = plan_spares(scenario_of(16, "calendar", 3, crash={"rate": None}), 0.999)
    assert (plan.closed_form, plan.simulated, plan.clock) == (0, 0, None)


@pytest.mark.parametrize(
    ("sections", "reason"),
    [
        ({"spares": {"total": 4, "per_pool": None, "state": "hot"}}, "hot spares fail"),
        ({"crash": {"compound": {"share": 0.1, "nodes": 8}}}, "some events take several nodes"),
        ({"crash": {"scope": "rack"}}, "takes several nodes"),
        ({"repair": {"retirement": {"faults": 2, "window": "30d"}}}, "nodes are retired"),
        ({"repair": {"stages": [{"duration": "1d", "success": 0.8, "silent_failure": 0.2}]}}, "still broken"),
        ({"cluster": {"lemons": {"share": 0.1, "multiplier": 5.0}}}, "lemons"),
        ({"isolation": {"wrong_blame": 0.1}}, "strike again"),
    ],
)
def test_no_closed_form_is_claimed_where_none_holds(sections: dict[str, Any], reason: str) -> None:
    model = spares_model(scenario_of(64, "calendar", 3, **sections))
    assert not model.closed
    assert all(text.startswith("no closed form: ") for text in model.notes)
    assert any(reason in text for text in model.notes)


def test_the_mean_stay_covers_all_stages() -> None:
    """1 d, then with probability .2 a 5-day stage that mends half: 1 + .2 x 10 = 3 d; every fault confined with .5."""
    stages = [{"duration": "1d", "success": 0.8}, {"duration": "5d", "success": 0.5}]
    model = spares_model(scenario_of(64, "calendar", 3, repair={"stages": stages}, crash={"confined": 0.5}))
    assert model.stay == pytest.approx(3 * DAY)
    assert model.rate == pytest.approx(0.5 * 6.5e-3 / DAY)
    assert model.load == pytest.approx(64 * 0.5 * 6.5e-3 * 3)
    assert model.closed


def test_different_clocks_are_called_mixed() -> None:
    faults = {
        "a": {"mtbf": "100d per node", "clock": "calendar", "scope": "node"},
        "b": {"mtbf": "100d per node", "clock": "operating", "scope": "node"},
        "software": {"mtbf": "1d per job", "clock": "restart", "scope": "job"},
    }
    model = spares_model(validate({"faults": faults}))
    assert (model.clock, model.closed) == ("mixed", False)
    assert model.rate == pytest.approx(0.02 / DAY)


@pytest.mark.parametrize("probability", [0.0, 1.0, -0.1, float("nan")])
def test_a_probability_lies_between_0_and_1(probability: float) -> None:
    with pytest.raises(ScenarioError, match="probability: must lie between 0 and 1"):
        plan_spares(scenario_of(16, "calendar", 3), probability)


@pytest.mark.parametrize("guess", [0, 1, 5, 37, 100])
def test_the_search_finds_the_first_that_is_enough(guess: int) -> None:
    for first in (0, 1, 4, 5, 6, 36, 38, 99, 100):
        asked: list[int] = []

        def enough(n: int, first: int = first, asked: list[int] = asked) -> bool:
            asked.append(n)
            return n >= first

        assert fewest(enough, guess, 100) == first
        assert len(asked) == len(set(asked))
        assert all(0 <= n <= 100 for n in asked)
    assert fewest(lambda _: False, guess, 100) is None
