"""Rules of judgement on values made by hand."""

import numpy as np
import pytest

from c4sim.estimate import mean_interval
from c4sim.studies.validate_quantities import dispersion, empty_share, is_share, largest
from c4sim.studies.validate_rules import BROKEN, EDGE, HELD, INSIDE, OUTSIDE, RULES, Judgement, Point


def point(*runs: float) -> Point:
    values = np.array(runs)
    return Point(mean_interval(values), values)


def judge(kind: str, published: object, *points: Point, tolerance: float = 0.0) -> Judgement:
    return RULES[kind].judge(published, points, tolerance)


LOW, HIGH = point(1.0, 2.0, 3.0), point(5.0, 6.0, 7.0)


@pytest.mark.parametrize(("tolerance", "word"), [(0.5, INSIDE), (0.49, OUTSIDE)])
def test_within_takes_its_tolerance_as_allowed(tolerance: float, word: str) -> None:
    found = judge("within", 2.5, LOW, tolerance=tolerance)
    assert (found.mean, found.verdict, found.good) == (2.0, word, word == INSIDE)


def test_within_is_judged_by_the_worst_variant() -> None:
    assert judge("within", 2.0, LOW, HIGH, tolerance=1.0).mean == 6.0
    assert not judge("within", 2.0, LOW, HIGH, tolerance=1.0).good


def test_runs_hold_a_published_run_against_single_runs_not_the_mean() -> None:
    runs = point(*np.linspace(0.0, 1.0, 1001))
    found = judge("runs", 0.9, runs)
    assert (found.low, found.high) == pytest.approx((0.025, 0.975))
    assert found.verdict == INSIDE
    assert judge("runs", 0.999, runs).verdict == OUTSIDE
    assert judge("runs", 0.001, runs).verdict == OUTSIDE


def test_runs_that_are_too_few_to_tell_put_a_value_at_the_edge() -> None:
    """Of 1,000 runs 25 +- 20 (4 standard errors) lie beyond the ends of the central 95 %."""
    runs = point(*np.linspace(0.0, 1.0, 1001))
    found = judge("runs", 0.97, runs)
    assert (found.verdict, found.good) == ("at the edge: 3.1% of the runs lie beyond", True)
    assert judge("runs", 0.02, runs).verdict.startswith(EDGE)
    assert not judge("runs_reject", 0.02, runs).good
    few = point(*np.linspace(0.0, 1.0, 101))
    assert judge("runs", 2.0, few).verdict.startswith(EDGE)


def test_one_variant_that_reaches_the_value_is_enough() -> None:
    low, high = (point(*np.linspace(start, start + 1.0, 1001)) for start in (0.0, 2.0))
    assert judge("runs", 0.5, low, high).verdict == INSIDE
    assert judge("runs", 1.5, low, high).verdict == INSIDE
    assert judge("runs", 3.5, low, high).verdict == OUTSIDE


def test_rejecting_a_model_is_good_when_the_record_lies_outside() -> None:
    many = point(*np.linspace(1.0, 3.0, 1001))
    inside, outside = judge("runs_reject", 2.0, many), judge("runs_reject", 9.0, many)
    assert (inside.verdict, inside.good) == (INSIDE, False)
    assert (outside.verdict, outside.good) == (OUTSIDE, True)


def test_a_band_lies_in_a_range_only_as_a_whole() -> None:
    assert judge("runs_in_range", (1.0, 7.0), LOW, HIGH).verdict == HELD
    assert judge("runs_in_range", (1.1, 7.0), LOW, HIGH).verdict == BROKEN
    assert judge("in_range", (2.0, 6.0), LOW, HIGH).verdict == HELD
    assert judge("in_range", (2.1, 6.0), LOW, HIGH).verdict == BROKEN
    assert judge("in_range", (1.0, 3.0), LOW).verdict == INSIDE


def test_between_spans_the_means_of_the_variants() -> None:
    assert judge("between", 4.0, HIGH, LOW).good
    assert not judge("between", 1.9, HIGH, LOW).good


def test_a_bound_is_checked_on_its_side_only() -> None:
    assert judge("at_least", 2.0, LOW, HIGH).verdict == HELD
    assert judge("at_least", 2.1, LOW, HIGH).verdict == BROKEN
    assert judge("at_most", 6.0, LOW, HIGH).verdict == HELD
    assert judge("at_most", 5.9, LOW, HIGH).verdict == BROKEN


def test_a_direction_is_judged_on_paired_differences() -> None:
    noisy = np.array([0.0, 100.0, 50.0, 7.0])
    before, after = point(*noisy), point(*(noisy + np.array([1.0, 1.1, 0.9, 1.0])))
    assert judge("rises", None, before, after).verdict == HELD
    assert judge("rises", None, before, after).mean == pytest.approx(1.0)
    assert judge("rises", None, after, before).verdict == BROKEN


def test_what_cannot_be_tested_is_not_judged() -> None:
    assert judge("not_testable", None).good is None
    found = judge("region", 5.0, LOW, HIGH)
    assert (found.verdict, found.good) == ("not testable: 1 of 2 variants reach it", None)


def test_statistics_of_counts() -> None:
    counts = np.array([0.0, 0.0, 1.0, 3.0])
    assert empty_share(counts) == 0.5
    assert dispersion(counts) == pytest.approx(2.0)
    assert dispersion(np.zeros(3)) == 1.0
    assert largest(counts) == 3.0


def test_shares_are_told_from_counts_and_times() -> None:
    assert all(map(is_share, ("ettr", "unavailability", "downtime_fraction/isolation", "empty_days")))
    assert not any(map(is_share, ("faults", "mtbf_s", "daily_dispersion", "failures")))
