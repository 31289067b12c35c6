"""Counts and families of tests: printed bounds, tails summed term by term, hand-made cases."""

from __future__ import annotations

import math

import numpy as np
import pytest

from c4sim.estimate import (
    bonferroni,
    false_alarms_at,
    family_standard_errors,
    holm,
    mtbf_interval,
    poisson_interval,
    share_interval,
)


def poisson_at_most(count: int, mean: float) -> float:
    return math.fsum(math.exp(-mean + k * math.log(mean) - math.lgamma(k + 1)) for k in range(count + 1))


def test_no_failure_in_a_million_hours() -> None:
    found = mtbf_interval(1e6, 0)
    assert found.low == pytest.approx(333_808, abs=1)
    assert found.value == found.high == math.inf


def test_five_failures_in_a_hundred_thousand_hours() -> None:
    found = mtbf_interval(1e5, 5, 0.90)
    assert found.value == 20_000
    assert found.low == pytest.approx(9_512, abs=1)
    assert found.high == pytest.approx(50_758, abs=1)


@pytest.mark.parametrize("count", [1, 5, 40, 419])
def test_poisson_ends_leave_half_the_error_in_each_tail(count: int) -> None:
    found = poisson_interval(count)
    assert found.low is not None
    assert found.high is not None
    assert poisson_at_most(count, found.high) == pytest.approx(0.025, rel=1e-9)
    assert 1 - poisson_at_most(count - 1, found.low) == pytest.approx(0.025, rel=1e-9)


def test_no_event() -> None:
    found = poisson_interval(0)
    assert found.value == found.low == 0
    assert found.high == pytest.approx(-math.log(0.025))


@pytest.mark.parametrize(("successes", "trials"), [(198, 200), (1, 10), (5, 10)])
def test_share_ends_leave_half_the_error_in_each_tail(successes: int, trials: int) -> None:
    def at_least(k: int, p: float) -> float:
        return math.fsum(math.comb(trials, j) * p**j * (1 - p) ** (trials - j) for j in range(k, trials + 1))

    found = share_interval(successes, trials)
    assert found.low is not None
    assert found.high is not None
    assert at_least(successes, found.low) == pytest.approx(0.025, rel=1e-9)
    assert 1 - at_least(successes + 1, found.high) == pytest.approx(0.025, rel=1e-9)


def test_shares_at_the_ends() -> None:
    none, every = share_interval(0, 20), share_interval(20, 20)
    assert (none.low, every.high) == (0.0, 1.0)
    assert none.high == pytest.approx(1 - 0.025 ** (1 / 20))
    assert every.low == pytest.approx(0.025 ** (1 / 20))


def test_refused_counts() -> None:
    with pytest.raises(ValueError, match="must not be negative"):
        poisson_interval(-1)
    with pytest.raises(ValueError, match="exposure"):
        mtbf_interval(0.0, 1)
    with pytest.raises(ValueError, match="between 0 and trials"):
        share_interval(3, 2)


def test_holm_by_hand() -> None:
    np.testing.assert_allclose(holm([0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02])
    np.testing.assert_array_equal(holm([0.9, 0.8]), [1.0, 1.0])
    np.testing.assert_array_equal(holm([0.0, 1.0]), [0.0, 1.0])
    assert holm([]).size == 0
    with pytest.raises(ValueError, match="between 0 and 1"):
        holm([1.5])


def test_budget_of_a_family() -> None:
    assert bonferroni(0.05, 10) == pytest.approx(0.005)
    assert family_standard_errors(1, 0.05) == pytest.approx(1.959964, abs=1e-6)
    assert false_alarms_at(family_standard_errors(40, 0.01), 40) == pytest.approx(0.01)
    assert false_alarms_at(4.0) == pytest.approx(6.33e-5, rel=1e-3)
    with pytest.raises(ValueError, match="at least 1"):
        bonferroni(0.05, 0)
