"""Ratios of sums: the unbiased one is printed, and its intervals cover."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.random import default_rng

from c4sim.estimate import ratio_of_sums
from c4sim.estimate.ratios import Method
from c4sim.theory.availability import mean_of_ratios

METHODS: tuple[Method, ...] = ("delta", "jackknife", "fieller")


def cycles(trials: int, n: int, seed: int) -> tuple[np.ndarray[tuple[int, int]], np.ndarray[tuple[int, int]]]:
    """Time up and total time of three exponential cycles (means 9 and 1) per replication."""
    rng = default_rng(seed)
    up = rng.exponential(9.0, (trials, n, 3)).sum(axis=2)
    return up, up + rng.exponential(1.0, (trials, n, 3)).sum(axis=2)


@pytest.mark.parametrize("method", METHODS)
def test_intervals_cover_in_a_thousand_trials_of_fifty(method: Method) -> None:
    hits = 0
    for up, total in zip(*cycles(1_000, 50, seed=47), strict=True):
        found = ratio_of_sums(up, total, method=method)
        assert found is not None
        hits += found.covers(0.9)
    assert 927 <= hits <= 973


def test_ratio_of_sums_is_not_the_mean_of_ratios() -> None:
    up, total = (part[0] for part in cycles(1, 40_000, seed=9))
    found = ratio_of_sums(up, total)
    assert found is not None
    assert found.value == pytest.approx(up.sum() / total.sum(), rel=1e-12)
    assert abs(found.value - 0.9) < 4 * (found.half_width or 0) / 1.96
    shares = up / total
    error = shares.std() / math.sqrt(shares.size)
    assert abs(shares.mean() - mean_of_ratios(9, 1, 3)) < 4 * error
    assert abs(shares.mean() - 0.9) > 4 * error


def test_fieller_set_by_its_definition() -> None:
    a, b = np.array([1.0, 2.0, 4.0, 3.0]), np.array([2.0, 3.0, 5.0, 6.0])
    found = ratio_of_sums(a, b)
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    for edge in (found.low, found.high):
        residual = a - edge * b
        t = abs(residual.mean()) / (residual.std(ddof=1) / 2)
        assert t == pytest.approx(3.182446, rel=1e-6)
    assert found.low < found.value < found.high


def test_jackknife_by_leaving_out_each() -> None:
    a, b = np.array([1.0, 2.0, 4.0, 3.0]), np.array([2.0, 3.0, 5.0, 6.0])
    pseudo = [4 * 10 / 16 - 3 * (10 - x) / (16 - y) for x, y in zip(a, b, strict=True)]
    found = ratio_of_sums(a, b, method="jackknife")
    assert found is not None
    assert found.value == pytest.approx(np.mean(pseudo))
    assert found.half_width == pytest.approx(3.182446 * np.std(pseudo, ddof=1) / 2, rel=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_ratio_without_spread_or_data(method: Method) -> None:
    b = np.array([5.0, 6.0, 7.0])
    found = ratio_of_sums(0.25 * b, b, method=method)
    assert found is not None
    assert found.low == found.value == found.high == 0.25
    constant = ratio_of_sums([0.1] * 49, [0.3] * 49, method=method)
    assert constant is not None
    assert constant.half_width == 0
    assert constant.value == pytest.approx(1 / 3)
    alone = ratio_of_sums([3.0], [4.0], method=method)
    assert alone is not None
    assert (alone.value, alone.low, alone.high) == (0.75, None, None)
    assert ratio_of_sums([1.0, 2.0], [0.0, 0.0], method=method) is None
    with pytest.raises(ValueError, match="same replications"):
        ratio_of_sums([1.0], [1.0, 2.0], method=method)


def test_no_interval_where_the_denominator_may_be_zero() -> None:
    rare = np.array([0.0, 0.0, 0.0, 5.0])
    for method in METHODS[1:]:
        found = ratio_of_sums([1.0, 1.0, 2.0, 1.0], rare, method=method)
        assert found is not None
        assert (found.value, found.low) == (1.0, None)
