"""Arrivals: enumeration, convolution, and events thrown into windows."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from numpy.random import default_rng

from c4sim.theory.arrivals import (
    batch_spares_needed,
    complete_gaps_mean,
    compound_poisson_law,
    event_rate,
    job_mtbf,
    lemon_failure_share,
    negative_binomial_empty_share,
    neighbour_loss_probability,
)
from c4sim.theory.fleet import poisson_spares_needed


def test_scales() -> None:
    assert job_mtbf(50_000, 16_384) == pytest.approx(3.05, abs=5e-3)
    assert job_mtbf(24 / 6.5e-3, 2_048) == pytest.approx(1.80, abs=5e-3)
    assert job_mtbf(24 / 6.5e-3, 128) == pytest.approx(28.8, abs=0.05)


def test_counts_without_units_are_refused() -> None:
    assert job_mtbf(5.0, 1) == 5
    assert event_rate(1, 0.5, [1], [1.0]) == 0.5
    with pytest.raises(ValueError, match="units must be at least 1"):
        job_mtbf(5.0, 0)
    with pytest.raises(ValueError, match="nodes must be at least 1"):
        event_rate(0, 0.5, [1], [1.0])
    with pytest.raises(ValueError, match="nodes must be at least 3"):
        lemon_failure_share(2, 3, 5.0)


def test_lemons() -> None:
    """One of 100 nodes at five times the rate takes 5/104 of the failures."""
    assert lemon_failure_share(100, 1, 5) == pytest.approx(5 / 104)
    assert lemon_failure_share(100, 0, 5) == 0
    assert lemon_failure_share(100, 100, 5) == 1


def test_events_that_take_several_nodes() -> None:
    rate = event_rate(1_024, 0.01, [1, 8], [0.9, 0.1])
    assert rate == pytest.approx(6.02, abs=5e-3)
    assert 24 / rate == pytest.approx(3.98, abs=5e-3)
    assert 1 * rate * 0.9 + 8 * rate * 0.1 == pytest.approx(10.24)
    with pytest.raises(ValueError, match="sum to 1"):
        event_rate(10, 0.01, [1, 8], [0.9, 0.2])


def test_compound_law_by_convolution() -> None:
    sizes = np.array([0.0, 0.7, 0.0, 0.3])
    exact, power = np.zeros(41), np.ones(1)
    for n in range(60):
        weight = math.exp(-2.5 + n * math.log(2.5) - math.lgamma(n + 1))
        exact[: min(power.size, 41)] += weight * power[:41]
        power = np.convolve(power, sizes)
    np.testing.assert_allclose(compound_poisson_law(2.5, sizes[1:], 40), exact, rtol=1e-10, atol=1e-15)


def test_batches_need_more_spares() -> None:
    single = batch_spares_needed(20.48, np.array([1.0]), 0.95)
    assert single == poisson_spares_needed(20.48, 0.95)
    shares = np.array([0.9, 0, 0, 0, 0, 0, 0, 0.1])
    batched = batch_spares_needed(20.48 / 1.7, shares, 0.95)
    counts = default_rng(4).poisson([20.48 / 1.7 * 0.9, 20.48 / 1.7 * 0.1], (400_000, 2)) @ np.array([1, 8])
    assert batched == np.quantile(counts, 0.95, method="inverted_cdf")
    assert batched > single


def test_over_dispersed_counts() -> None:
    """213 events in 348 days, variance / mean 3.3: 54 % empty days if Poisson, near 71 % observed."""
    mean = 213 / 348
    assert negative_binomial_empty_share(mean, 1.0) == pytest.approx(0.542, abs=5e-4)
    assert negative_binomial_empty_share(mean, 1 + 1e-9) == pytest.approx(math.exp(-mean), rel=1e-6)
    rng = default_rng(2)
    days = rng.poisson(rng.gamma(mean / 2.3, 2.3, 400_000))
    empty = negative_binomial_empty_share(mean, 3.3)
    assert abs((days == 0).mean() - empty) < 4 * math.sqrt(empty * (1 - empty) / days.size)
    with pytest.raises(ValueError, match="at least 1"):
        negative_binomial_empty_share(mean, 0.9)


@pytest.mark.parametrize(("from_start", "hours"), [(False, 77.71), (True, 96.42)])
def test_complete_gaps_are_short(from_start: bool, hours: float) -> None:
    """True 200 h, windows of 300 h."""
    exact = complete_gaps_mean(200, 300, from_start=from_start)
    assert exact == pytest.approx(hours, abs=5e-3)
    times = np.cumsum(default_rng(6).exponential(200, (200_000, 16)), axis=1)
    assert (times[:, -1] > 300).all()
    first = np.zeros(len(times)) if from_start else np.minimum(times[:, 0], 300)
    last = np.where(times <= 300, times, 0).max(axis=1)
    seen = (times <= 300).sum(axis=1)
    number = seen if from_start else np.maximum(seen - 1, 0)
    length = np.where(number > 0, last - first, 0)
    residual = length - exact * number
    assert abs(residual.mean()) < 4 * residual.std() / math.sqrt(residual.size)


@pytest.mark.parametrize("nodes", [3, 8, 33])
def test_ring_neighbours_by_enumeration(nodes: int) -> None:
    pairs = list(combinations(range(nodes), 2))
    neighbours = [(a, b) for a, b in pairs if (b - a) % nodes in (1, nodes - 1)]
    assert neighbour_loss_probability(nodes) == pytest.approx(len(neighbours) / len(pairs))
