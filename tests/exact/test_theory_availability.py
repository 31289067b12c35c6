"""Alternating renewal: other routes to the same numbers, and a month drawn failure by failure."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.integrate import quad
from scipy.linalg import expm
from scipy.special import beta

from c4sim.theory.availability import (
    availability,
    downtime_deficit,
    downtime_share_sd,
    mean_availability,
    mean_of_ratios,
)
from c4sim.theory.fleet import transient_law


def test_limit() -> None:
    assert availability(9, 1) == 0.9
    assert availability(9, 0) == 1
    slow = availability(10_800, 300), availability(10_800, 120)
    assert slow[1] - slow[0] == pytest.approx(0.016, abs=5e-4)


def test_mean_availability_is_a_fleet_of_one_without_spares() -> None:
    averaged = transient_law(1, 0, 1 / 40, 6.0, 30.0)[1]
    assert mean_availability(40, 6, 30) == pytest.approx(averaged[0], rel=1e-9)


def test_deficit_is_what_the_limit_misses() -> None:
    missing = mean_availability(40, 6, 900) - availability(40, 6)
    assert downtime_deficit(40, 6, 1.0, 900) == pytest.approx(missing, rel=1e-12)


def test_deficit_of_two_stage_down_times() -> None:
    """Down times of two exponential stages (cv^2 = 1/2) as a chain of three states, integrated."""
    q = np.array([[-1 / 40, 1 / 40, 0], [0, -1 / 3, 1 / 3], [1 / 3, 0, -1 / 3]])
    augmented = np.block([[q, np.eye(3)], [np.zeros((3, 6))]])
    time_up = expm(900.0 * augmented)[0, 3]
    missing = time_up / 900 - availability(40, 6)
    assert downtime_deficit(40, 6, math.sqrt(0.5), 900) == pytest.approx(missing, rel=1e-9)


def test_deficit_of_the_record() -> None:
    """A June that starts healthy: M = 10.86 h, p = .237, 720 h: .08 points at cv 1."""
    down = 10.86 * 0.237 / (1 - 0.237)
    assert downtime_deficit(10.86, down, 1.0, 720) == pytest.approx(0.0008, abs=6e-5)


@pytest.mark.parametrize(("cycles", "printed"), [(1, 0.816), (3, 0.873)])
def test_mean_of_ratios(cycles: int, printed: float) -> None:
    exact = quad(lambda b: 9 * b / (1 + 8 * b) * (b * (1 - b)) ** (cycles - 1) / beta(cycles, cycles), 0, 1)[0]
    assert mean_of_ratios(9, 1, cycles) == pytest.approx(exact, rel=1e-9)
    assert exact == pytest.approx(printed, abs=5e-4)
    assert mean_of_ratios(9, 1, 400) == pytest.approx(0.9, abs=1e-3)


def drawn_months(cv: float, months: int, seed: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Share of 720 h lost to rollback and down time: M = 10.86 h, cycle 2.22 h, down 3.37 h."""
    rng = default_rng(seed)
    sigma = math.sqrt(math.log1p(cv * cv))
    lost = np.zeros(months)
    for month in range(months):
        clock = 0.0
        while True:
            up = rng.exponential(10.86)
            down = 0.57 + 2.8 * (rng.lognormal(-sigma * sigma / 2, sigma) if cv else 1.0)
            if clock + up >= 720:
                break
            lost[month] += up % 2.22 + min(down, 720 - clock - up)
            clock += up + down
            if clock >= 720:
                break
    return lost / 720


@pytest.mark.parametrize(("cv", "points"), [(0.0, 3.4), (1.0, 3.9)])
def test_standard_deviation_of_a_month(cv: float, points: float) -> None:
    """The limit theorem's value against months drawn one by one (the record's June)."""
    exact = downtime_share_sd(10.86, 2.22, 3.37, (2.8 * cv) ** 2, 720)
    assert 100 * exact == pytest.approx(points, abs=0.1)
    shares = drawn_months(cv, 3_000, seed=17)
    kurtosis = float(((shares - shares.mean()) ** 4).mean() / shares.var() ** 2)
    error = shares.std() * math.sqrt((kurtosis - 1) / 4 / shares.size)
    assert abs(shares.std() - exact) < 4 * error + 0.02 * exact  # the limit is not reached in 50 failures
