"""Means, moments, paired differences and quantiles: exact values and counted coverage."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.special import bdtr

from c4sim.estimate import (
    Moments,
    mean_interval,
    paired_difference,
    prediction_interval,
    quantile_interval,
    replications_for_half_width,
    variance_ratio,
)

BAND = (0.927, 0.973)  # of 95 % intervals over 1,000 trials: 3.3 standard errors either side


def test_t_interval_by_hand() -> None:
    """Data 1, 2, 3: standard error 1 / sqrt(3), t(2, .975) = 4.302653."""
    found = mean_interval([1.0, 2.0, 3.0])
    assert (found.value, found.n) == (2.0, 3)
    assert found.half_width == pytest.approx(4.302653 / math.sqrt(3), rel=1e-6)
    wider = prediction_interval([1.0, 2.0, 3.0])
    assert wider.half_width == pytest.approx(4.302653 * math.sqrt(4 / 3), rel=1e-6)


@pytest.mark.parametrize("value", [0.0, 0.1, 1 / 3, 1e300, -7.7])
def test_constant_data_has_half_width_exactly_zero(value: float) -> None:
    for found in (mean_interval([value] * 49), prediction_interval([value] * 49)):
        assert found.low == found.value == found.high == value


def test_one_replication_has_no_interval() -> None:
    for found in (mean_interval([3.0]), prediction_interval([3.0]), quantile_interval([3.0], 0.5)):
        assert (found.value, found.low, found.high, found.half_width) == (3.0, None, None, None)
        assert not found.covers(3.0)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([], "at least 1 replications"),
        ([1.0, float("nan")], "finite .got .*nan.* in replication 1"),
        ([[1.0, 2.0]], "one value per replication"),
    ],
)
def test_refused_data(values: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        mean_interval(values)


def test_confidence_is_a_probability() -> None:
    for bad in (0.0, 1.0, 95.0, float("nan")):
        with pytest.raises(ValueError, match="confidence must lie between 0 and 1"):
            mean_interval([1.0, 2.0], bad)


def test_mean_intervals_cover() -> None:
    data = default_rng(20).gamma(6.0, 1.0, (1_000, 50))
    share = np.mean([mean_interval(row).covers(6.0) for row in data])
    assert BAND[0] <= share <= BAND[1]


def test_prediction_intervals_hold_one_more_replication() -> None:
    data = default_rng(21).normal(5.0, 2.0, (1_000, 51))
    share = np.mean([prediction_interval(row[:-1]).covers(row[-1]) for row in data])
    assert BAND[0] <= share <= BAND[1]


def test_quantile_interval_takes_the_ranks_of_the_binomial_law() -> None:
    """Ten values, the median: ranks 2 and 9, coverage .9785 (David and Nagaraja, table 7.1)."""
    found = quantile_interval(np.arange(1.0, 11.0), 0.5)
    assert (found.value, found.low, found.high) == (5.5, 2.0, 9.0)
    assert bdtr(8, 10, 0.5) - bdtr(1, 10, 0.5) == pytest.approx(0.9785, abs=5e-5)
    ends = quantile_interval(np.arange(1.0, 7.0), 0.5)  # P(B < 1) = 1/64: the ends themselves
    assert (ends.low, ends.high) == (1.0, 6.0)
    assert quantile_interval(np.arange(5.0), 0.5).low is None
    assert quantile_interval(np.arange(10.0), 0.975).high is None


@pytest.mark.parametrize("q", [0.1, 0.5, 0.9])
def test_quantile_intervals_cover_at_least_as_promised(q: float) -> None:
    data = default_rng(22).exponential(1.0, (2_000, 60))
    share = np.mean([quantile_interval(row, q).covers(-math.log1p(-q)) for row in data])
    assert share >= 0.95 - 4 * math.sqrt(0.95 * 0.05 / 2_000)
    assert share < 0.99


def test_merged_moments_are_those_of_all_values() -> None:
    data = default_rng(1).normal(1e6, 1e-3, 1_001)
    merged = Moments()
    for chunk in np.array_split(data, [1, 2, 300, 300, 999]):
        merged = merged.merge(Moments.of(chunk))
    assert merged.n == 1_001
    assert merged.mean == pytest.approx(data.mean(), rel=1e-15)
    assert merged.variance == pytest.approx(data.var(ddof=1), rel=1e-6)
    assert merged.standard_error == pytest.approx(data.std(ddof=1) / math.sqrt(1_001), rel=1e-6)
    assert Moments.of([1.0]).variance is None
    assert Moments.of([1.0]).standard_error is None
    assert mean_interval(merged).half_width == pytest.approx(mean_interval(data).half_width, rel=1e-6)


def test_a_change_without_effect_differs_by_exactly_zero() -> None:
    data = default_rng(2).random(50)
    found = paired_difference(data, data.copy())
    assert (found.value, found.low, found.high) == (0.0, 0.0, 0.0)
    assert variance_ratio(data, data.copy()) == 0.0


def test_pairing_removes_common_noise() -> None:
    rng = default_rng(3)
    common = rng.normal(0, 3, 20_000)
    base, other = common + rng.normal(0, 1, 20_000), common + 0.5 + rng.normal(0, 1, 20_000)
    found = paired_difference(base, other)
    assert found.covers(0.5)
    assert found.value > 0  # other - base
    assert variance_ratio(base, other) == pytest.approx(2 / 20, rel=0.05)
    assert variance_ratio([1.0], [2.0]) is None
    assert variance_ratio([1.0, 1.0], [2.0, 2.0]) is None
    with pytest.raises(ValueError, match="same replications"):
        paired_difference([1.0, 2.0], [1.0])


@pytest.mark.parametrize(("variance", "half_width"), [(4.0, 0.5), (1.0, 10.0), (1.0, 0.01), (0.0, 0.1)])
def test_fewest_replications_for_a_half_width(variance: float, half_width: float) -> None:
    def width(n: int) -> float:
        found = mean_interval(Moments(n, 0.0, variance * (n - 1))).half_width
        assert found is not None
        return found

    n = replications_for_half_width(variance, half_width)
    assert width(n) <= half_width
    assert n == 2 or width(n - 1) > half_width


def test_half_width_must_be_positive() -> None:
    for bad in (0.0, -1.0, float("nan")):
        with pytest.raises(ValueError, match="half_width"):
            replications_for_half_width(1.0, bad)
