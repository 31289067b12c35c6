"""compare(): common random numbers, paired differences; sensitivity ranks inputs; scenarios varied as data."""

import json

import experiment_fakes as fakes
import numpy as np
import pytest

from c4sim.experiment import Comparison, Precision, ReplicationError, compare, simulate
from c4sim.experiment.documents import apply, change, differences
from c4sim.experiment.variation import value_at, vary
from c4sim.scenario import Scenario, ScenarioError, validate
from c4sim.studies.sensitivity import assumed_ranges, sensitivity

HOUR = Scenario()
HALF = validate({"checkpoint": {"interval": "30min"}})
SPARES = validate({"repair": {"duration": "5d"}})


@pytest.fixture(scope="module")
def both() -> Comparison:
    return compare(HOUR, {"half": HALF, "repair": SPARES}, replications=40, seed=2, kernel=fakes.FAST)


def test_differences_are_those_of_the_runs_replication_by_replication(both: Comparison) -> None:
    alone = [simulate(s, 40, 2, kernel=fakes.FAST).totals.column("lost_s") for s in (HOUR, HALF)]
    paired = (alone[1] - alone[0]) / HOUR.horizon
    found = both.alternatives[0].differences["downtime_fraction"]
    assert found.difference == pytest.approx(paired.mean())
    half = 2.0226909200367604 * paired.std(ddof=1) / np.sqrt(40)  # t of 39 degrees of freedom
    assert (found.low, found.high) == pytest.approx((paired.mean() - half, paired.mean() + half))


def test_half_the_interval_loses_half_of_the_same_work(both: Comparison) -> None:
    # lost_half = lost_hour / 2 in every replication: Var(d) = v/4 against v + v/4
    assert both.alternatives[0].differences["downtime_fraction"].variance_ratio == pytest.approx(0.2)


def test_a_key_without_effect_gives_exactly_zero(both: Comparison) -> None:
    for found in both.alternatives[1].differences.values():
        assert (found.difference, found.low, found.high, found.equivalent_within) == (0.0, 0.0, 0.0, 0.0)
        assert found.equivalent(1e-12)


def test_the_margin_of_equivalence_is_that_of_two_one_sided_tests(both: Comparison) -> None:
    found = both.alternatives[0].differences["downtime_fraction"]
    assert found.equivalent_within is not None
    assert abs(found.difference) < found.equivalent_within < abs(found.low or 0.0)
    assert found.equivalent(found.equivalent_within)
    assert not found.equivalent(0.99 * found.equivalent_within)


def test_the_document_keeps_its_contract(both: Comparison) -> None:
    document = json.loads(json.dumps(both.as_document(), allow_nan=False))
    first = document["alternatives"][0]
    assert first["with"] == "half"
    assert set(first["paired"]["failures"]) == {"difference", "low", "high"}
    assert set(first["paired"]) == set(first["variance_ratio"]) == set(first["equivalent_within"])


def test_one_replication_has_a_difference_and_no_interval() -> None:
    found = compare(HOUR, [HALF], replications=1, kernel=fakes.FAST).alternatives[0].differences["downtime_fraction"]
    assert (found.low, found.high, found.variance_ratio, found.equivalent_within) == (None, None, None, None)


def test_unnamed_alternatives_are_named_by_what_they_change() -> None:
    labels = [a.label for a in compare(HOUR, [HALF, SPARES, HOUR], replications=2, kernel=fakes.FAST).alternatives]
    assert labels == ["checkpoint.interval=1800.0s", "repair.duration=432000.0s", "no change"]


def test_auto_reaches_the_paired_half_width() -> None:
    wanted = Precision(0.0005, budget=5000)
    comparison = compare(HOUR, [HALF], replications=wanted, kernel=fakes.FAST)
    found = comparison.alternatives[0].differences["downtime_fraction"]
    assert found.high is not None
    assert found.low is not None
    assert found.high - found.low <= 0.001
    assert comparison.base.n < simulate(HOUR, wanted, kernel=fakes.FAST).n


@pytest.mark.parametrize("workers", [2])
def test_workers_do_not_matter(both: Comparison, workers: int) -> None:
    again = compare(HOUR, {"half": HALF, "repair": SPARES}, replications=40, seed=2, workers=workers, kernel=fakes.FAST)
    assert again.as_document() == both.as_document()


def test_errors_name_the_input() -> None:
    with pytest.raises(ValueError, match="alternatives: at least one"):
        compare(HOUR, [])
    with pytest.raises(ValueError, match="target: there is no metric 'downtim'"):
        compare(HOUR, [HALF], replications=Precision(0.1, metric="downtim"), kernel=fakes.FAST)
    with pytest.raises(ReplicationError, match="replication 1"):
        compare(HOUR, [validate({"checkpoint": {"interval": "2h"}})], kernel=fakes.FAILING)


def test_sensitivity_ranks_by_swing() -> None:
    ranges = {"repair.duration": ("1d", "9d"), "checkpoint.interval": ("30min", "2h"), "faults.crash.mtbf": MTBF}
    study = sensitivity(HOUR, ranges, replications=30, kernel=fakes.FAST)
    assert [row.name for row in study.rows] == ["faults.crash.mtbf", "checkpoint.interval", "repair.duration"]
    interval = study.rows[1]
    down = study.comparison.base.metrics["downtime_fraction"].mean
    assert interval.at_high.value == pytest.approx(down)
    assert interval.at_low.value == pytest.approx(-down / 2)
    assert interval.effect.value == pytest.approx(1.5 * down)
    assert interval.swing == pytest.approx(1.5 * down)
    assert study.rows[2].swing == 0.0
    json.dumps(study.as_document(), allow_nan=False)


MTBF = ("2h per job", "40h per job")


def test_assumptions_shared_by_all_classes_move_together() -> None:
    assumed = {"kind": "assumed", "range": ["1h", "2h"]}
    confined = {"kind": "assumed", "range": [0.7, 0.9], "note": "one share for all"}
    scenario = validate(
        {
            "faults": {name: {"mtbf": "20h per job"} for name in ("a", "b", "c")},
            "provenance": {
                "checkpoint.interval": assumed,
                "faults.a.confined": confined,
                "faults.b.confined": confined,
                "faults.c.confined": {**confined, "note": "its own"},
                "horizon": {"kind": "published"},
            },
        }
    )
    assert assumed_ranges(scenario) == {
        "checkpoint.interval": (("checkpoint.interval",), ("1h", "2h")),
        "faults.*.confined": (("faults.a.confined", "faults.b.confined"), (0.7, 0.9)),
        "faults.c.confined": (("faults.c.confined",), (0.7, 0.9)),
    }


def test_sensitivity_refuses_what_it_cannot_do() -> None:
    with pytest.raises(ValueError, match="ranges: single_class has no assumed input"):
        sensitivity(HOUR, kernel=fakes.FAST)
    with pytest.raises(ScenarioError, match=r"checkpoint.intervall: unknown key; did you mean 'interval'\?"):
        sensitivity(HOUR, {"checkpoint.intervall": ("1h", "2h")}, kernel=fakes.FAST)
    with pytest.raises(ValueError, match="both ends are the same"):
        sensitivity(HOUR, {"checkpoint.interval": ("1h", "1h")}, kernel=fakes.FAST)
    with pytest.raises(ValueError, match="no metric 'downtim'"):
        sensitivity(HOUR, {"checkpoint.interval": ("1h", "2h")}, metric="downtim", kernel=fakes.FAST)


def test_vary_sets_keys_and_reports_every_mistake() -> None:
    lognormal = validate({"isolation": {"delay": {"law": "lognormal", "mean": "1h", "cv": 1}}})
    varied = vary(lognormal, {"isolation.delay.mean": "2h", "faults.crash.confined": 0.5})
    assert value_at(varied, "isolation.delay") == {"law": "lognormal", "mean": "7200.0s", "cv": 1.0}
    assert varied.faults["crash"].confined == 0.5
    assert value_at(vary(HOUR, {"isolation.delay.mean": "2h"}), "isolation.delay") == "7200.0s"
    with pytest.raises(ScenarioError) as caught:
        vary(HOUR, {"checkpoint.interval": "1", "spare.per_pool": 3, "faults.crash.mtbf.x": 1})
    assert [problem.path for problem in caught.value.problems] == ["spare.per_pool", "faults.crash.mtbf.x"]
    with pytest.raises(ScenarioError, match=r"checkpoint.interval"):
        vary(HOUR, {"checkpoint.interval": "1"})


def test_a_change_applied_gives_the_other_document() -> None:
    before = {"a": 1, "b": {"x": 1, "y": {"z": None}}, "c": [1, 2], "d": {}}
    after = {"a": 2, "b": {"x": 1, "y": {"z": 0, "new": {"deep": 1}}}, "c": [1], "e": {"f": 1}}
    assert apply(before, change(before, after)) == after
    assert change(before, before) == {}
    assert differences(before, after) == [
        "a: 1 -> 2",
        "b.y.z: None -> 0",
        "c: [1, 2] -> [1]",
        "d: {} -> (absent)",
        "b.y.new.deep: (absent) -> 1",
        "e.f: (absent) -> 1",
    ]
