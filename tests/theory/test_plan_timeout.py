"""The watchdog's limit: closed form against the literature's numbers, and the simulation against the closed form."""

import math
from typing import Any

import pytest

from c4sim.scenario import Scenario, ScenarioError, validate
from c4sim.studies.plan_timeout import TimeoutModel, best_limit, plan_timeout, timeout_model
from c4sim.theory.detection import best_timeout, timeout_cost

# Lognormal pauses of median 20 s and sigma 1, ten an hour; one hang a day; R = 300 s, tau = 1,200 s.
MEAN = 20.0 * math.exp(0.5)
CV = math.sqrt(math.expm1(1.0))
PAUSES = {"rate": "10 per job-hour", "law": "lognormal", "mean": f"{MEAN!r}s", "cv": CV}


def paused(**sections: Any) -> Scenario:
    return validate(
        {
            "horizon": "60d",
            "checkpoint": {"interval": "20min"},
            "restart": {"duration": "5min"},
            "faults": {"hang": {"effect": "hang", "rate": "1 per job-day"}},
            "pauses": PAUSES,
            "detection": {"delay": "10min"},
            **sections,
        }
    )


def test_best_limit_of_one_hang_a_day_and_ten_pauses_an_hour() -> None:
    """About 495 s; the closed form with half an interval lost, and ours with the exact lost work, agree to 1 %."""
    best, (low, high) = best_limit(timeout_model(paused()))
    half_interval = best_timeout(1 / 86400.0, 10 / 3600.0, 20.0, 1.0, 300.0 + 600.0)
    assert best == pytest.approx(half_interval, rel=0.01)
    assert best == pytest.approx(495.0, abs=5.0)
    assert low < best < high


def test_the_cost_rises_on_both_sides() -> None:
    model = timeout_model(paused())
    best, _ = best_limit(model)
    costs = [model.cost(best * factor) for factor in (0.1, 0.3, 1.0, 3.0, 10.0)]
    assert costs[0] > costs[1] > costs[2] < costs[3] < costs[4]
    assert model.cost(200.0) == pytest.approx(timeout_cost(200.0, 1 / 86400.0, 10 / 3600.0, 20.0, 1.0, 900.0), rel=0.02)


def test_simulated_costs_agree_with_the_closed_form() -> None:
    """Within 4 standard errors at each of three limits (an interval's half width is 2 of them)."""
    plan = plan_timeout(paused(), [150.0, 500.0, 1500.0], replications=30, seed=3)
    for cost in plan.tried:
        half = cost.simulated.half_width
        assert half is not None
        assert abs(cost.simulated.value - cost.closed_form) <= 2.0 * half
    assert plan.simulated_best == 500.0


def test_what_cannot_be_planned_is_refused_with_every_reason() -> None:
    layers = [{"kind": "people", "delay": "1h"}]
    faults = {"crash": {"mtbf": "12h per job"}}
    with pytest.raises(ScenarioError) as caught:
        plan_timeout(paused(pauses=None, detection={"layers": layers}, faults=faults))
    assert {problem.path for problem in caught.value.problems} == {"pauses", "detection.layers", "faults"}


def test_without_false_alarms_the_shortest_limit_is_best() -> None:
    model = timeout_model(paused())
    silent = TimeoutModel(model.hangs, model.others, 0.0, model.pause, model.restart, model.cycle)
    assert best_limit(silent)[0] == pytest.approx(1.0, rel=0.01)
