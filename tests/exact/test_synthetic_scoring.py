"""Scoring of verdicts and the public rules, on cases worked out by hand."""

from pathlib import Path

import numpy as np
import pytest

from c4sim.detector import Host, Telemetry, Verdict
from c4sim.synthetic import Fault, Truth

EXPERIMENTS = Path(__file__).parents[2] / "experiments"


@pytest.fixture
def scoring(monkeypatch):
    monkeypatch.syspath_prepend(EXPERIMENTS)
    return __import__("detector_scoring")


@pytest.fixture
def rules(monkeypatch):
    monkeypatch.syspath_prepend(EXPERIMENTS)
    return __import__("public_rules")


def verdict(kind, entity):
    return Verdict(kind, entity, 2.0, 1.5, 0, "")


def slow(worker, victims=(5,)):
    return Fault("slow_compute", "worker", (worker,), (worker,), 2.0, 0, (0, 1), victims)


RACK = Fault("slow_compute", "host", (1,), (4, 5, 6, 7), 1.5, 0, (0, 1), (0, 1))
HOSTS = (0, 0, 0, 0, 1, 1, 1, 1)


def judge(scoring, faults, verdicts):
    truth = Truth("clean", 0, faults=tuple(faults), host=HOSTS, expected=frozenset({"job_wide"}))
    return scoring.outcome(truth, verdicts, [[True] * 3] * len(faults), 100.0, True)


def test_right_worker_and_kind_is_true(scoring):
    result = judge(scoring, [slow(3)], [verdict("slow_compute", 3), verdict("job_wide", None)])
    assert result.faults[0].named
    assert result.false == []
    assert result.expected == {"job_wide": True}


def test_right_worker_of_the_wrong_kind_is_false_but_blames_no_victim(scoring):
    result = judge(scoring, [slow(3)], [verdict("input_stall", 3)])
    assert not result.faults[0].named
    assert not result.faults[0].kind_reported
    assert len(result.false) == 1
    assert not result.victim_blamed


def test_a_victim_that_is_accused_is_blamed(scoring):
    result = judge(scoring, [slow(3)], [verdict("slow_compute", 3), verdict("slow_compute", 5)])
    assert result.faults[0].named
    assert len(result.false) == 1
    assert result.victim_blamed


def test_edges_have_a_direction(scoring):
    fault = Fault("slow_path", "edge", (1, 2), (1, 2), 2.0, 0, (0, 1))
    assert judge(scoring, [fault], [verdict("slow_path", (1, 2))]).faults[0].named
    turned = judge(scoring, [fault], [verdict("slow_path", (2, 1))])
    assert not turned.faults[0].named
    assert turned.faults[0].kind_reported


@pytest.mark.parametrize(("workers", "named"), [((4, 5, 6, 7), True), ((4, 5, 6), True), ((4, 5), False)])
def test_a_host_is_named_by_most_of_its_workers(scoring, workers, named):
    result = judge(scoring, [RACK], [verdict("slow_compute", w) for w in workers])
    assert result.faults[0].named == named
    assert len(result.false) == (0 if named else len(workers))


def test_a_host_is_named_by_its_label_but_a_worker_is_not(scoring):
    assert judge(scoring, [RACK], [verdict("slow_compute", Host(1))]).faults[0].named
    blunt = judge(scoring, [slow(5, ())], [verdict("slow_compute", Host(1))])
    assert not blunt.faults[0].named
    assert len(blunt.false) == 1


def test_summary_counts(scoring):
    """Three jobs: found; missed with one false alarm on a victim; healthy with a false alarm."""
    jobs = [
        judge(scoring, [slow(3)], [verdict("slow_compute", 3)]),
        judge(scoring, [slow(3)], [verdict("slow_compute", 5)]),
        judge(scoring, [], [verdict("slow_path", (0, 1))]),
    ]
    figures = scoring.summary(jobs, ["slow_compute", "slow_path"])
    row = figures["per_kind"]["slow_compute"]
    assert (row["true"], row["false"], row["precision"], row["recall"]) == (1, 1, 0.5, 0.5)
    assert row["exact_localisation"] == 0.5
    assert figures["per_kind"]["slow_path"]["f1"] == 0.0
    assert figures["macro_f1"] == 0.25
    assert figures["victim_blame"] == 0.5
    assert figures["clean_jobs_accused"] == 1.0
    assert figures["false_per_month"]["rate"] == pytest.approx(30 * 86400 / 100)


def test_exact_poisson_bounds(scoring):
    """No event: upper 95 % bound ln 20, interval to ln 40; one event: 4.7439 (chi-square tables).

    Garwood (1936), Fiducial limits for the Poisson distribution.
    """
    none, one = scoring.poisson_interval(0, 3.0), scoring.poisson_interval(1, 1.0)
    assert none["upper_95"] == pytest.approx(np.log(20) / 3)
    assert none["high"] == pytest.approx(np.log(40) / 3)
    assert none["low"] == 0
    assert one["upper_95"] == pytest.approx(4.7439, abs=1e-4)
    assert one["low"] == pytest.approx(-np.log(0.975))


def test_public_rules_by_hand(rules):
    seconds = np.array([1.0, 1.0, 1.1, 1.3, 2.5])
    flagged = {name: np.flatnonzero(rule(seconds)).tolist() for name, rule in rules.RULES.items()}
    assert flagged == {
        "fastest_75": [4],
        "median_2x": [4],
        "median_1_2x": [4],
        "three_sigma": [],
        "mad_3_5": [4],
    }


def test_normalisation_takes_role_and_load_out(rules):
    load = np.array([[1.0, 2.0, 1.0, 3.0], [2.0, 1.0, 3.0, 2.0]])
    role = np.array([0, 0, 1, 1])
    work = (0.5 + load) * np.array([1.0, 1.0, 2.0, 2.0])
    telemetry = Telemetry(compute_s=work, load=load, role=role)
    assert rules.normalised(telemetry) == pytest.approx(np.ones((2, 4)))


def test_rules_report_once_per_worker_over_all_intervals(rules):
    seconds = np.ones((48, 8))
    seconds[16:, 2] = 3.0
    given = rules.accuse(rules.median_2x, seconds)
    assert [(v.entity, v.first_step) for v in given] == [(2, 16)]
