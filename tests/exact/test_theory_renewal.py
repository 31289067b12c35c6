"""Renewals: printed figures, a power series, and lives drawn one after another."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.integrate import quad
from scipy.special import gammaln

from c4sim.theory.renewal import expected_renewals, mean_first_failure, renewal_function, weibull_cdf


def series(shape: float, time: float, terms: int = 30) -> float:
    """Renewal function of a Weibull law of scale 1 as a power series in ``time ** shape``.

    Source: Smith and Leadbetter, Technometrics 5 (1963) 393; converges for small times.
    """
    gammas = [math.exp(gammaln(1 + n * shape) - gammaln(n + 1)) for n in range(terms + 1)]
    a = [0.0]
    for n in range(1, terms + 1):
        a.append(gammas[n] - sum(gammas[j] * a[n - j] for j in range(1, n)))
    signs = [(-1) ** (n - 1) for n in range(terms + 1)]
    return math.fsum(signs[n] * a[n] * time ** (n * shape) / math.gamma(1 + n * shape) for n in range(1, terms + 1))


@pytest.mark.parametrize(("shape", "failures"), [(0.7, 104.6), (1.0, 40.0), (1.5, 9.55), (2.0, 2.45), (3.0, 0.174)])
def test_fresh_fleet_of_512_nodes_for_30_days(shape: float, failures: float) -> None:
    """Mean life 384 days, every failed node replaced by a new one."""
    found = 512 * expected_renewals(weibull_cdf(shape, 384.0), 30.0)
    assert found == pytest.approx(failures, rel=5e-3)
    scale = 384 / math.gamma(1 + 1 / shape)
    assert found == pytest.approx(512 * series(shape, 30 / scale), rel=1e-6)


def test_renewal_function_of_long_windows_by_drawn_lives() -> None:
    rng = default_rng(8)
    shape, horizon = 2.0, 5.0
    ends = np.cumsum(rng.weibull(shape, (40_000, 40)) / math.gamma(1.5), axis=1)
    counts = (ends <= horizon).sum(axis=1)
    error = counts.std() / math.sqrt(counts.size)
    assert abs(counts.mean() - expected_renewals(weibull_cdf(shape, 1.0), horizon)) < 4 * error


def test_renewal_function_grows_from_zero_and_is_linear_for_exponential_lives() -> None:
    times, renewals = renewal_function(weibull_cdf(1.0, 2.0), 10.0, steps=500)
    assert times[0] == renewals[0] == 0
    np.testing.assert_allclose(renewals, times / 2, rtol=1e-4)
    assert (np.diff(renewals) > 0).all()


@pytest.mark.parametrize(("shape", "days"), [(0.5, 0.0001), (0.7, 0.00518), (1.0, 0.1), (1.5, 1.0)])
def test_first_failure_of_a_thousand_fresh_nodes(shape: float, days: float) -> None:
    found = mean_first_failure(shape, 100.0, 1_000)
    assert found == pytest.approx(days, rel=1e-3)
    cdf = weibull_cdf(shape, 100.0)
    survival = quad(lambda x: float((1 - cdf(np.array([x * found]))[0]) ** 1_000), 0, 200, limit=500)[0]
    assert survival == pytest.approx(1.0, rel=1e-4)
