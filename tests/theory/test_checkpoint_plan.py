"""The best interval: closed forms beside simulation, within 4 standard errors where efficiency has a closed form."""

from typing import Any

import pytest

from c4sim.scenario import Scenario, ScenarioError, validate
from c4sim.studies import plan_checkpoint as study
from c4sim.studies.checkpoint_model import checkpoint_model
from c4sim.studies.plan_checkpoint import plan_checkpoint


def scenario(checkpoint: dict[str, Any], **sections: Any) -> Scenario:
    faults = {"crash": {"mtbf": "1h per job"}}
    return validate({"faults": faults, "checkpoint": checkpoint, **sections})


def agree_with_closed_form(plan: study.CheckpointPlan) -> None:
    for tried in plan.tried:
        error = (tried.simulated.half_width or 0.0) / 2.0
        assert tried.closed_form is not None
        assert abs((tried.simulated.mean or 0.0) - tried.closed_form) <= 4.0 * error


def test_which_optimal_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    """C = 600 s, M = 3,600 s: exact 1,699 s, Daly 1,698, Young 2,078; efficiency .5280 and .5228.

    Left out: the save in the cost of an interval.
    """
    monkeypatch.setattr(study, "_FAILURES", 1_600.0)
    plan = plan_checkpoint(scenario({"write": "600s"}), replications=8)
    document = plan.as_document()
    assert [round(document[key]) for key in ("exact_s", "daly_s", "young_s")] == [1699, 1698, 2078]
    assert {name: round(x, 4) for name, x in plan.closed_form_at.items() if name != "simulated_best"} == {
        "exact": 0.528,
        "young": 0.5228,
        "daly": 0.528,
    }
    agree_with_closed_form(plan)
    low, high = plan.flat_region
    assert low < plan.simulated_best < high
    assert low < 1699.0 < high
    assert list(plan.efficiency_at) == ["exact", "young", "daly", "simulated_best"]


def test_asynchronous_saves_are_costed_by_what_they_slow_down(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stall of 20 s and 10 % for 240 s cost 44 s a save. Left out: the time until durable."""
    monkeypatch.setattr(study, "_FAILURES", 1_600.0)
    section = {"mode": "async", "stall": "20s", "persist": "240s", "slowdown": 0.1}
    plan = plan_checkpoint(scenario(section, restart={"duration": "300s"}), [400.0, 800.0], replications=8)
    assert plan.model.cost == pytest.approx(44.0)
    assert plan.down_s == pytest.approx(300.0, rel=0.01)  # the window may end in the last restart
    agree_with_closed_form(plan)


def test_each_tier_has_its_own_faults() -> None:
    """Single nodes are answered by the partner, the tenth of the events that takes two neighbours by remote storage."""
    tiers = [
        {"name": "partner", "stall": "2s", "persist": "0s", "lost_with": "neighbours"},
        {"name": "remote", "every": 10, "stall": "5s", "persist": "100s", "slowdown": 0.05},
    ]
    faults = {
        "node": {"rate": "11 per job-day", "scope": "node", "compound": {"share": 0.1, "nodes": 2}},
        "user": {"rate": "2 per job-day", "scope": "job"},
    }
    model = checkpoint_model(scenario({"mode": "async", "tiers": tiers}, faults=faults))
    partner, remote = model.needs
    # 11 hits a day in events of 1.1 nodes on average: 10 events a day, 1 of them of two nodes.
    assert partner.mtbf == pytest.approx(86_400.0 / (9.0 + 2.0))
    assert remote.mtbf == pytest.approx(86_400.0)
    assert (partner.cost, remote.cost) == (2.0, 10.0)
    assert model.cost == pytest.approx((9 * 2.0 + 5.0) / 10 + 0.5)
    assert not model.closed


@pytest.mark.parametrize(
    ("checkpoint", "faults", "path"),
    [
        ({"write": "0s"}, {"crash": {"mtbf": "1h per job"}}, "checkpoint.write"),
        ({"write": "60s"}, {"crash": {}}, "faults"),
    ],
)
def test_no_best_interval(checkpoint: dict[str, Any], faults: dict[str, Any], path: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        plan_checkpoint(scenario(checkpoint, faults=faults))
    assert [problem.path for problem in refused.value.problems] == [path]


def test_the_top_is_found_between_the_points() -> None:
    """Of the exact curve itself, from points that miss its top."""
    model = checkpoint_model(scenario({"write": "600s"}))
    points = [(f * 1500.0, model.efficiency(f * 1500.0, 0.0) or 0.0) for f in (0.5, 0.7, 0.9, 1.3, 1.6, 2.0)]
    assert study._top(points) == pytest.approx(model.exact, rel=0.02)
    low, high = study._flat_region([(x * 100.0, model.efficiency(x * 100.0, 0.0) or 0.0) for x in range(5, 60)])
    assert (low, high) == (pytest.approx(1378.0, rel=0.01), pytest.approx(2081.4, rel=0.01))
