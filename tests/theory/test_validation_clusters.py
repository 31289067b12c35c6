"""The published clusters' scenarios against closed forms: |mean - exact| within 4 standard errors, seeds fixed."""

import math

import pytest

from c4sim import simulate
from c4sim.configure import load_scenario
from c4sim.experiment import Result
from c4sim.studies.validate_case import read_clusters
from c4sim.studies.validate_quantities import Replays, quantity
from c4sim.studies.validate_rules import Point
from c4sim.theory.arrivals import negative_binomial_empty_share
from c4sim.theory.segments import efficiency

HOUR, DAY = 3600.0, 86400.0
STANDARD_ERRORS = 4.0
REPLICATIONS = 120


def point(result: Result, name: str) -> Point:
    found = quantity(name, result.scenario)
    assert not hasattr(found, "message")
    return found.point(result, Replays())


def run(name: str, quantity_name: str, *overrides: str, replications: int) -> Point:
    return point(simulate(load_scenario(name, *overrides), replications, seed=11), quantity_name)


def near(found: Point, exact: float) -> bool:
    error = float(found.runs.std(ddof=1)) / math.sqrt(len(found.runs))
    assert error < 0.03 * abs(exact), "too few replications to tell"
    return abs(found.estimate.value - exact) < STANDARD_ERRORS * error


@pytest.mark.parametrize(("per_week", "restart_h"), [(2, 1.0), (1, 0.0), (1.5, 0.75)])
def test_bloom_without_hangs(per_week: float, restart_h: float) -> None:
    """Long-run efficiency of segments of 100 iterations; evaluation counts as a tenth of it in each segment.

    Source: Bougeret et al., SC'11, with the evaluation as part of the save; over 108 days the open end adds 5e-4.
    """
    mtbf = 7 * DAY / per_week
    exact = efficiency(10_540.0, 40.0 + 72.0, mtbf, restart=restart_h * HOUR)
    found = run(
        "bloom_176b",
        "goodput",
        "faults.gpu.effect=crash",
        "fault_list=null",
        f"faults.gpu.mtbf={mtbf / HOUR}h per job",
        f"restart.duration={restart_h}h",
        replications=REPLICATIONS,
    )
    assert abs(found.estimate.value - exact) < 4 * found.runs.std(ddof=1) / math.sqrt(REPLICATIONS) + 5e-4


def test_bloom_losses_of_the_named_hangs() -> None:
    """Four named losses take 42.3 h of 108 days, less the share of that time in which nothing would have been kept."""
    plain = run("bloom_176b", "goodput", "faults.gpu.mtbf=null", "fault_list=null", replications=2)
    named = run("bloom_176b", "goodput", "faults.gpu.mtbf=null", replications=2)
    lost = (plain.estimate.value - named.estimate.value) / plain.estimate.value
    assert lost == pytest.approx(42.3 / (108 * 24), rel=0.2)


def test_delta_unavailability_is_errors_times_repair_over_node_hours() -> None:
    found = run("delta_a100", "unavailability", "horizon=90d", replications=8)
    assert near(found, 14_719 / 895 * 0.88 / (106 * 24))
    assert float(found.runs.mean()) == pytest.approx(found.estimate.value)


@pytest.mark.parametrize(("clustering", "dispersion"), [("null", 1.0), ("{dispersion: 3.318, window: 1d}", 3.318)])
def test_fire_flyer_empty_days(clustering: str, dispersion: float) -> None:
    """Share of days without an event: exp(-m) for Poisson counts, d^(-m / (d - 1)) for negative binomial ones."""
    found = run(
        "fire_flyer2",
        "empty_days",
        f"faults.link_flash_cut.clustering={clustering}",
        "faults.hardware.rate=null",
        replications=24,
    )
    assert near(found, negative_binomial_empty_share(213 / 348, dispersion))


def test_fire_flyer_record_refutes_poisson_and_not_clustering() -> None:
    """248 of 348 days are empty; Poisson arrivals leave 54 % empty, with a standard error of 2.2 points."""
    counts = read_clusters()["fire_flyer2"].records["link_flash_cuts_daily"]
    empty = sum(count == 0 for count in counts) / len(counts)
    days, mean = len(counts), sum(counts) / len(counts)
    poisson, clustered = math.exp(-mean), negative_binomial_empty_share(mean, 3.318)
    assert (empty - poisson) / math.sqrt(poisson * (1 - poisson) / days) > 6
    assert abs(empty - clustered) / math.sqrt(clustered * (1 - clustered) / days) < 1.96


def test_opt_direction_of_the_spare_pool_effect_is_that_of_every_run() -> None:
    """On common random numbers more spares never keep less work."""
    runs = [
        run("opt_175b", "ettr", f"spares.total={spares}", "repair.duration=3d", replications=12).runs
        for spares in (4, 12, 18)
    ]
    assert (runs[1] > runs[0]).all()
    assert (runs[2] >= runs[1]).all()


def test_lemons_of_a_cluster_take_their_share_of_failures() -> None:
    """RSC-1 with 1 node of 100 failing 5 times as often: the failure rate grows by the factor 1.04."""
    options = ("job.nodes=100", "horizon=300d", "restart.duration=0s")
    plain = run("rsc1", "failures", *options, replications=30)
    lemons = run("rsc1", "failures", *options, "cluster.lemons={share: 0.01, multiplier: 5.0}", replications=30)
    assert near(plain, 195.0)
    assert near(lemons, 195.0 * 1.04)
