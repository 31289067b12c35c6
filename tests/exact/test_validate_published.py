"""The published figures, by arithmetic of their own: what ships must be what the records say."""

import numpy as np
import pytest

from c4sim.configure import load_scenario
from c4sim.faults.places import Topology
from c4sim.faults.rates import event_rate
from c4sim.scenario import Scenario
from c4sim.studies.validate_case import KnownMiss, read_clusters
from c4sim.studies.validate_quantities import dispersion, empty_share, largest
from c4sim.theory.segments import efficiency

HOUR, DAY = 3600.0, 86400.0
CLUSTERS = read_clusters()
SCENARIOS = (
    "acme_kalos",
    "acme_seren",
    "bloom_176b",
    "delta_a100",
    "delta_h100",
    "fire_flyer2",
    "hpn_links",
    "llama3_405b",
    "opt_175b",
    "rsc1",
    "rsc2",
)


def published(file: str, case: str) -> float:
    value = CLUSTERS[file].cases[case].published
    assert isinstance(value, float)
    return value


def events(scenario: Scenario, seconds: float) -> dict[str, float]:
    topology = Topology.of(scenario)
    return {name: seconds * event_rate(fault, topology) for name, fault in scenario.faults.items()}


def test_bloom_iterations_over_the_days_of_the_chronicle() -> None:
    assert pytest.approx(published("bloom_176b", "goodput"), abs=5e-4) == (94_767 - 12_695) * 105.4 / (108 * DAY)
    bloom = load_scenario("bloom_176b")
    assert (bloom.horizon, bloom.checkpoint.interval, bloom.checkpoint.write) == (108 * DAY, 100 * 105.4, 40.0)
    assert bloom.evaluation is not None
    assert (bloom.evaluation.every, bloom.evaluation.duration) == (1000 * 105.4, 12 * 60.0)


def test_bloom_named_losses_are_whole_losses() -> None:
    """Hours lost = time to find out + restart + work since the last save, half an interval on average."""
    bloom = load_scenario("bloom_176b")
    delays = [law.mean / HOUR for law in (bloom.isolation.by_cause or {}).values() if law.mean is not None]
    assert np.array(delays) + 0.75 + 10_540 / 2 / HOUR == pytest.approx(np.array([7.3, 18, 6, 11]), abs=0.01)


def test_bloom_human_delay_has_its_assumed_range_as_central_95_percent() -> None:
    layers = load_scenario("bloom_176b").detection.layers
    assert layers is not None
    law = layers[1].delay
    assert law.mean is not None
    assert law.cv is not None
    sigma = np.sqrt(np.log1p(law.cv**2))
    median = law.mean / np.exp(sigma**2 / 2)
    ends = median * np.exp(np.array([-1.96, 1.96]) * sigma)
    assert ends == pytest.approx([0.5 * HOUR, 8 * HOUR], rel=2e-3)


def test_bloom_fixed_delays_of_8_h_leave_less_than_92_percent() -> None:
    """Restarts at once: what named losses and 15.4 deaths of 8 h leave, evaluation, saves and lost work share."""
    work = 105_400.0
    unavoidable = (42.3 + 108 / 7 * 8) * HOUR / (108 * DAY)
    kept = (1 - unavoidable) / (1 + 720 / work + 40 / 10_540 + (10_540 / 2) / (7 * DAY))
    assert 0.90 < kept < 0.92


def test_llama_interruptions_add_up_and_one_printed_share_does_not() -> None:
    counts = [148, 72, 54, 35, 32, 19, 17, 7, 7, 6, 6, 3, 3, 2, 2, 2, 2, 2]
    assert sum(counts) == published("llama3_405b", "interruptions") == 419
    assert round(100 * 148 / 419, 1) == 35.3
    assert events(load_scenario("llama3_405b"), 54 * DAY)["unexpected"] == pytest.approx(419)


def test_rsc_rates() -> None:
    """Failures per 1,000 node-days, and what they give for jobs of other sizes."""
    for name, wanted in (("rsc1", 719), ("rsc2", 259)):
        job = load_scenario(name, "job.nodes=2048")
        assert events(job, 54 * DAY)["node"] == pytest.approx(wanted, abs=0.5)
    assert pytest.approx(published("rsc", "mttf_16384") / HOUR, rel=0.03) == 24 / (2.048 * 6.5)
    assert pytest.approx(published("rsc", "mttf_131072") / HOUR, rel=0.03) == 24 / (16.384 * 6.5)
    assert pytest.approx(28.8, abs=0.05) == 24 / (0.128 * 6.5)
    assert pytest.approx(8.94, abs=0.005) == 47.7 * 24 / 128


@pytest.mark.parametrize(
    ("case", "minutes", "clock"),
    [("ettr_60min", 60, "operating"), ("ettr_5min", 5, "operating"), ("ettr_restart_clock", 60, "restart")],
)
def test_rsc_ettr_is_the_exact_closed_form(case: str, minutes: int, clock: str) -> None:
    mtbf = DAY / (2.0 * 6.5)
    exact = efficiency(minutes * 60.0, 0.0, mtbf, restart=300.0, clock=clock)  # type: ignore[arg-type]
    assert exact == pytest.approx(published("rsc", case), abs=5e-4)


def test_delta_counts_over_node_hours() -> None:
    errors = {"gsp": 3857, "nvlink": 1922, "pmu_spi": 77, "mmu": 8863}
    delta = load_scenario("delta_a100")
    assert events(delta, 895 * DAY) == pytest.approx(errors)
    share = sum(errors.values()) * 0.88 / (106 * 895 * 24)
    assert share == pytest.approx(0.0057, abs=5e-5)
    assert share == pytest.approx(published("delta", "unavailability_a100"), rel=0.1)
    assert pytest.approx(published("delta", "memory_errors_a100"), abs=0.01) == 448 * 895 * 24 / 283_271
    assert pytest.approx(published("delta", "memory_errors_h100"), abs=0.01) == 608 * 146 * 24 / 88_768


def test_fire_flyer_counts() -> None:
    records = CLUSTERS["fire_flyer2"].records
    daily = np.array(records["link_flash_cuts_daily"], dtype=float)
    assert (len(daily), daily.sum(), largest(daily)) == (348, 213, 10)
    assert empty_share(daily) == 248 / 348
    scenario = load_scenario("fire_flyer2")
    assert events(scenario, 348 * DAY)["link_flash_cut"] == pytest.approx(213)
    clustering = scenario.faults["link_flash_cut"].clustering
    assert clustering is not None
    assert clustering.dispersion == pytest.approx(dispersion(daily), abs=5e-4)
    assert sum(records["hardware_monthly"]) == 292
    assert events(scenario, 183 * DAY)["hardware"] == pytest.approx(292)


def test_hpn_and_opt() -> None:
    assert events(load_scenario("hpn_links"), 30 * DAY)["link"] == pytest.approx(3072 * 0.00057)
    assert published("hpn", "link_failures_point") == pytest.approx(3072 * 0.00057, abs=0.005)
    assert events(load_scenario("opt_175b"), 56 * DAY)["host"] == pytest.approx(112)


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_scenario_says_where_its_numbers_come_from(name: str) -> None:
    scenario = load_scenario(name)
    for key, origin in scenario.provenance.items():
        assert origin.source or origin.note or origin.range, f"{name}: {key}"
    known = set(scenario.provenance)
    assert {"job.nodes"} <= known
    for fault, spec in scenario.faults.items():
        if spec.rate is not None or spec.mtbf is not None:
            assert known & {f"faults.{fault}.rate", f"faults.{fault}.mtbf"}, f"{name}: {fault}"


def test_every_known_miss_says_what_is_left_out() -> None:
    for cluster in CLUSTERS.values():
        for case in cluster.cases.values():
            if isinstance(case.expect, KnownMiss):
                assert case.leaves_out
