"""Fleets: balance equations solved as a dense linear system, Erlang's sum, and printed figures."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import quad_vec
from scipy.linalg import expm

from c4sim.theory.fleet import (
    Clock,
    erlang_loss,
    mean_nodes_down,
    mean_time_to_exhaustion,
    nodes_down_law,
    offered_load,
    poisson_spares_needed,
    probability_job_has_nodes,
    spares_needed,
    stability_warning,
    transient_law,
)

RATE = 6.5e-3  # per node-day


def generator(nodes: int, spares: int, repair: float, crews: int | None, clock: Clock) -> NDArray[np.float64]:
    """Generator of the nodes down, written out node by node."""
    states = nodes + spares + 1 if clock == "calendar" else spares + 2
    matrix = np.zeros((states, states))
    for down in range(states):
        in_job = min(nodes, nodes + spares - down)
        if down + 1 < states:
            matrix[down, down + 1] = in_job * RATE
        if down:
            matrix[down, down - 1] = min(down, crews or down) / repair
        matrix[down, down] = -matrix[down].sum()
    return matrix


@pytest.mark.parametrize("clock", ["calendar", "operating"])
@pytest.mark.parametrize("crews", [None, 1, 2])
def test_stationary_law_solves_the_balance_equations(crews: int | None, clock: Clock) -> None:
    q = generator(12, 3, 25.0, crews, clock)
    balance = np.vstack([q.T, np.ones(len(q))])
    solved = np.linalg.lstsq(balance, np.append(np.zeros(len(q)), 1.0), rcond=None)[0]
    law = nodes_down_law(12, 3, RATE, 25.0, crews=crews, clock=clock)
    np.testing.assert_allclose(law, solved, atol=1e-12)
    assert mean_nodes_down(law) == pytest.approx(sum(k * p for k, p in enumerate(solved)))


@pytest.mark.parametrize(
    ("nodes", "repair", "calendar", "operating"),
    [(2_048, 3.0, (48, 51, 55, 61), (41, 45, 52, 58)), (512, 2.0, (10, 11, 13, 16), (9, 10, 13, 15))],
)
def test_spares_at_a_probability(
    nodes: int, repair: float, calendar: tuple[int, ...], operating: tuple[int, ...]
) -> None:
    wanted = (0.90, 0.95, 0.99, 0.999)
    load = offered_load(nodes, RATE, repair)
    assert tuple(poisson_spares_needed(load, p) for p in wanted) == calendar
    assert tuple(spares_needed(nodes, RATE, repair, p) for p in wanted) == calendar
    assert tuple(spares_needed(nodes, RATE, repair, p, clock="operating") for p in wanted) == operating


@pytest.mark.parametrize(("spares", "calendar", "operating"), [(5, 0.9584, 0.9719), (7, 0.9958, 0.9969)])
def test_small_fleet(spares: int, calendar: float, operating: float) -> None:
    assert probability_job_has_nodes(128, spares, RATE, 3.0) == pytest.approx(calendar, abs=5e-5)
    has = probability_job_has_nodes(128, spares, RATE, 3.0, clock="operating")
    assert has == pytest.approx(operating, abs=5e-5)
    assert has == pytest.approx(1 - erlang_loss(spares + 1, 128 * RATE * 3), rel=1e-12)


def test_nine_spares() -> None:
    assert probability_job_has_nodes(128, 9, RATE, 3.0) == pytest.approx(0.99973, abs=5e-6)
    assert probability_job_has_nodes(128, 9, RATE, 3.0, clock="operating") == pytest.approx(0.99979, abs=5e-6)


def test_two_crews_are_too_few() -> None:
    load = offered_load(128, RATE, 3.0)
    assert load == pytest.approx(2.496)
    assert stability_warning(load, 2) == "repair shop unstable: offered load 2.5 with 2 crews"
    assert stability_warning(load, 3) is None
    assert stability_warning(1e9, None) is None
    assert probability_job_has_nodes(128, 7, RATE, 3.0, crews=2) == pytest.approx(0.0077, abs=5e-5)
    assert probability_job_has_nodes(128, 7, RATE, 3.0, crews=2, clock="operating") == pytest.approx(0.765, abs=5e-4)
    assert spares_needed(128, RATE, 3.0, 0.95, crews=2, clock="operating", most=1_000) is None


def test_spares_needed_is_the_first_that_is_enough() -> None:
    for crews in (3, None):
        found = spares_needed(128, RATE, 3.0, 0.99, crews=crews)
        scan = next(s for s in range(99) if probability_job_has_nodes(128, s, RATE, 3.0, crews=crews) >= 0.99)
        assert found == scan
    assert spares_needed(4, RATE, 0.01, 0.5) == 0


def test_poisson_quantile_by_summing_its_terms() -> None:
    for mean in (0.0, 0.3, 6.656, 39.94):
        total, k = math.exp(-mean), 0
        while total < 0.99:
            k += 1
            total += math.exp(k * math.log(mean) - mean - math.lgamma(k + 1))
        assert poisson_spares_needed(mean, 0.99) == k


def test_erlang_loss_by_its_sum() -> None:
    load = Fraction(5, 2)
    terms = [load**k / math.factorial(k) for k in range(9)]
    assert erlang_loss(8, 2.5) == pytest.approx(float(terms[-1] / sum(terms)), rel=1e-14)
    assert erlang_loss(0, 2.5) == 1


def test_ross_repair_problem() -> None:
    """Ten working, one repairer, mean life 100, mean repair 1: crash after 12,340, 120 and 10."""
    times = [mean_time_to_exhaustion(10, spares, 0.01, 1.0) for spares in (3, 1, 0)]
    assert times == pytest.approx([12_340, 120, 10])


def test_time_to_exhaustion_by_a_linear_system() -> None:
    q = generator(12, 3, 25.0, 2, "operating")[:4, :4]
    exact = np.linalg.solve(q, -np.ones(4))[0]
    assert mean_time_to_exhaustion(12, 3, RATE, 25.0, crews=2) == pytest.approx(exact)


@pytest.mark.parametrize("clock", ["calendar", "operating"])
def test_transient_law_by_matrix_exponential(clock: Clock) -> None:
    q = generator(12, 3, 25.0, 1, clock)
    at_time, averaged = transient_law(12, 3, RATE, 25.0, 60.0, crews=1, clock=clock)
    np.testing.assert_allclose(at_time, expm(60.0 * q)[0], atol=1e-12)

    def law(time: float) -> NDArray[np.float64]:
        return np.asarray(expm(time * q)[0], dtype=np.float64)

    integral = quad_vec(law, 0.0, 60.0, epsrel=1e-10)[0]
    np.testing.assert_allclose(averaged, integral / 60.0, atol=1e-9)


def test_first_month_looks_better_than_the_long_run() -> None:
    month = transient_law(128, 7, RATE, 3.0, 30.0, crews=2)[1][:8].sum()
    late = transient_law(128, 7, RATE, 3.0, 3_000.0, crews=2)[0][:8].sum()
    assert month == pytest.approx(0.777, abs=1e-3)
    assert late == pytest.approx(0.0077, abs=5e-5)
