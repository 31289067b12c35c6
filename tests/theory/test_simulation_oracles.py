"""The engine against closed forms: every estimate within 4 standard errors of the exact value.

A check at 4 standard errors fails for one fresh seed in 15,800. Each test names the mechanism
that a forgotten term would break.
"""

import math
from typing import Any

import numpy as np
import pytest

from c4sim import metrics
from c4sim.ledger import Phase
from c4sim.scenario import Scenario, validate
from c4sim.simulation import run
from c4sim.theory.availability import availability
from c4sim.theory.fleet import mean_time_to_exhaustion, probability_job_has_nodes
from c4sim.theory.segments import efficiency, makespan, mean_lost_work


def estimate(scenario: Scenario, name: str, replications: int, seed: int = 1) -> tuple[float, float]:
    """Ratio of sums over the replications and its standard error (delta method)."""
    rows = np.array([metrics.totals(run(scenario, seed, 0, r), scenario) for r in range(replications)])
    columns = metrics.columns(scenario)
    metric = metrics.definitions(scenario)[name]
    above = rows[:, [columns.index(c) for c in metric.numerator]].sum(axis=1)
    below = rows[:, columns.index(metric.denominator)] if metric.denominator else np.ones(replications)
    ratio = above.sum() / below.sum()
    error = np.std(above - ratio * below, ddof=1) / math.sqrt(replications) / below.mean()
    return (1.0 - ratio if metric.complement else ratio), float(error)


def agrees(scenario: Scenario, name: str, exact: float, replications: int, bias: float = 0.0) -> None:
    """`bias`: known bound of what a finite window shifts."""
    mean, error = estimate(scenario, name, replications)
    assert error > 0.0
    assert abs(mean - exact) <= 4.0 * error + bias, f"{name}: {mean:.6g} +- {error:.2g}, exact {exact:.6g}"


HOUR = 3600.0
SEGMENT: dict[str, Any] = {
    "horizon": "100d",
    "checkpoint": {"interval": "1700s", "write": "600s"},
    "detection": {"delay": "300s"},
    "restart": {"duration": "600s"},
}


@pytest.mark.parametrize(("clock", "rounded"), [("operating", 0.4224), ("restart", 0.4126)])
def test_efficiency_of_segments_on_both_clocks(clock: Any, rounded: float) -> None:
    """tau / ((M + D + R)(e^((tau+C)/M) - 1)), or (M + D) e^(R/M) in place of M + D + R with faults in restart."""
    exact = efficiency(1700.0, 600.0, HOUR, 300.0, 600.0, clock)
    assert round(exact, 4) == rounded
    faults = {"hang": {"mtbf": "1h per job", "effect": "hang", "clock": clock}}
    # The window ends in mid segment: work not yet saved counts, at most one segment of 1,700 s.
    agrees(validate({**SEGMENT, "faults": faults}), "ettr", exact, 24, bias=1700.0 / (100 * 86400.0))


def test_mean_lost_work_per_failure() -> None:
    """M - s / (e^(s/M) - 1) with s = tau + C."""
    faults = {"crash": {"mtbf": "1h per job"}}
    exact = mean_lost_work(2300.0, HOUR)
    agrees(validate({**SEGMENT, "faults": faults}), "mean_lost_work_s", exact, 24)


@pytest.mark.parametrize(
    "delay",
    [
        "2h",
        {"law": "exponential", "mean": "2h"},
        {"law": "lognormal", "mean": "2h", "cv": 2.0},
        {"law": "gamma", "mean": "2h", "cv": 0.5},
        {"law": "weibull", "mean": "2h", "shape": 0.8},
        {"law": "uniform", "mean": "2h", "cv": 0.5},
        {"law": "empirical", "values": ["1h", "1h", "4h"]},
    ],
)
def test_availability_with_repairs_of_any_law(delay: Any) -> None:
    """M / (M + R) whatever the law of R (Barlow and Proschan 1965, chapter 5)."""
    scenario = validate(
        {
            "horizon": "500d",
            "checkpoint": {"interval": "1h", "write": "0s"},
            "isolation": {"delay": delay},
            "faults": {"crash": {"mtbf": "10h per job"}},
        }
    )
    columns = metrics.columns(scenario)
    rows = np.array([metrics.totals(run(scenario, 2, 0, r), scenario) for r in range(16)])
    up = rows[:, columns.index("operating_s")] / rows[:, columns.index("wall_s")]
    error = up.std(ddof=1) / 4.0
    # Starting healthy lifts a window of T by at most E[cycle excess] / T.
    assert abs(up.mean() - availability(10.0, 2.0)) <= 4.0 * error + 10.0 * HOUR / (500 * 86400.0)


def test_fixed_work_takes_its_expected_time() -> None:
    """Sum of the segments' expected times, the last one without a save."""
    scenario = validate(
        {
            "horizon": None,
            "work": "20h",
            "checkpoint": {"interval": "30min", "write": "2min"},
            "detection": {"delay": "5min"},
            "restart": {"duration": "10min"},
            "faults": {"hang": {"mtbf": "3h per job", "effect": "hang"}},
        }
    )
    exact = makespan(20 * HOUR, 1800.0, 120.0, 3 * HOUR, 300.0, 600.0)
    agrees(scenario, "makespan_s", exact, 1000)


@pytest.mark.parametrize(("clock", "spares"), [("calendar", 10), ("operating", 9)])
def test_spares_of_512_nodes(clock: Any, spares: int) -> None:
    """Birth-death of nodes down: Poisson on the calendar clock, Erlang's loss system on the operating clock."""
    scenario = _fleet(512, spares, "2d", clock)
    exact = probability_job_has_nodes(512, spares, 6.5e-3 / 86400.0, 2 * 86400.0, clock=clock)
    agrees(scenario, "probability_job_has_nodes", exact, 12)


@pytest.mark.parametrize("clock", ["calendar", "operating"])
def test_two_crews_cannot_keep_up(clock: Any) -> None:
    """128 nodes, 7 spares, 2 crews, exponential repairs of 3 days; offered load 2.5 > 2 after two years of warm-up."""
    scenario = _fleet(128, 7, "3d", clock, crews=2, horizon="2500d", warmup="730d")
    exact = probability_job_has_nodes(128, 7, 6.5e-3 / 86400.0, 3 * 86400.0, crews=2, clock=clock)
    assert exact == pytest.approx(0.0077 if clock == "calendar" else 0.765, rel=0.01)
    agrees(scenario, "probability_job_has_nodes", exact, 24)


def _fleet(nodes: int, spares: int, repair: str, clock: str, crews: Any = "unlimited", **window: str) -> Scenario:
    return validate(
        {
            "horizon": "2000d",
            "warmup": "30d",
            **window,
            "job": {"nodes": nodes},
            "checkpoint": {"interval": "1h"},
            "spares": {"per_pool": None, "total": spares},
            "repair": {"duration": {"law": "exponential", "mean": repair}, "crews": crews},
            "faults": {"crash": {"rate": "6.5 per 1000 node-days", "clock": clock}},
        }
    )


def test_time_until_ten_machines_run_out_of_spares() -> None:
    """Ross's repair problem: 10 working, each mean life 100, one repairer of mean 1: 120 until the crash with one
    spare.
    """
    scenario = validate(
        {
            "job": {"nodes": 10},
            "checkpoint": {"interval": "1h"},
            "spares": {"per_pool": None, "total": 1},
            "repair": {"duration": {"law": "exponential", "mean": "1s"}, "crews": 1},
            "faults": {"crash": {"mtbf": "100s per node"}},
        }
    )
    exact = mean_time_to_exhaustion(10, 1, 0.01, 1.0)
    assert exact == pytest.approx(120.0)
    times = [_first_wait(scenario, replication) for replication in range(2000)]
    error = np.std(times, ddof=1) / math.sqrt(len(times))
    assert abs(np.mean(times) - exact) <= 4.0 * error


def _first_wait(scenario: Scenario, replication: int) -> float:
    """When the job first waits for a spare, s. Windows double until it does: a longer window begins like a shorter
    one.
    """
    horizon = 200.0
    while True:
        ledger = run(scenario.model_copy(update={"horizon": horizon}), 3, 0, replication)
        first = next((row.start for row in ledger.intervals if row.phase == Phase.SPARE_WAIT), None)
        if first is not None:
            return first
        horizon *= 4.0
