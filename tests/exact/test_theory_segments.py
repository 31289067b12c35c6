"""Segments: published figures, numerical integrals, and a plain second simulation of retries."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from numpy.random import Generator, default_rng
from scipy.integrate import quad

from c4sim.theory.intervals import young_interval
from c4sim.theory.segments import (
    Clock,
    async_cycle,
    async_efficiency,
    efficiency,
    lost_work,
    lost_work_variance,
    makespan,
    mean_lost_work,
    segment_time,
)


def retried_segment(rng: Generator, length: float, mtbf: float, down: float, restart: float, clock: Clock) -> float:
    """Wall time of one segment, simulated attempt by attempt."""
    wall = 0.0
    while (failure := rng.exponential(mtbf)) < length:
        wall += failure + down
        while clock == "restart" and (again := rng.exponential(mtbf)) < restart:
            wall += again + down
        wall += restart
    return wall + length


@pytest.mark.parametrize("clock", ["operating", "restart"])
def test_segment_time_by_simulated_retries(clock: Clock) -> None:
    rng = default_rng(11)
    args = (2_300.0, 3_600.0, 300.0, 600.0)
    walls = np.array([retried_segment(rng, *args, clock) for _ in range(40_000)])
    error = walls.std(ddof=1) / math.sqrt(walls.size)
    exact = segment_time(1_700.0, 600.0, 3_600.0, 300.0, 600.0, clock)
    assert abs(walls.mean() - exact) < 4 * error
    other = segment_time(1_700.0, 600.0, 3_600.0, 300.0, 600.0, "restart" if clock == "operating" else "operating")
    assert abs(walls.mean() - other) > 4 * error


@pytest.mark.parametrize(
    ("value", "printed"),
    [
        (efficiency(1_700, 600, 3_600, 300, 600), 0.4224),
        (efficiency(1_700, 600, 3_600, 300, 600, "restart"), 0.4126),
        (efficiency(young_interval(60, 10_800), 60, 10_800, 15, 300), 0.8727),
        (efficiency(young_interval(60, 10_800), 60, 10_800, 600, 300), 0.8291),
        (efficiency(young_interval(60, 10_800), 60, 10_800, 1_800, 300), 0.7520),
        (efficiency(young_interval(60, 10_800), 60, 10_800, 2_286, 300), 0.7247),
        (efficiency(3_600, 0, 86_400e3 / (2_000 * 6.5), 0, 300), 0.7210),
        (efficiency(300, 0, 86_400e3 / (2_000 * 6.5), 0, 300), 0.9354),
        (efficiency(3_600, 0, 86_400e3 / (2_000 * 6.5), 0, 300, "restart"), 0.7202),
        (efficiency(300, 0, 86_400e3 / (2_000 * 6.5), 0, 300, "restart"), 0.9345),
    ],
)
def test_efficiency_figures(value: float, printed: float) -> None:
    assert value == pytest.approx(printed, abs=5e-5)


def test_mtbf_of_one_gpu_read_as_the_jobs() -> None:
    """50,000 h per GPU and 16,384 GPUs: right scope .899, wrong scope 2e-5 (Young, C = 60 s)."""
    per_gpu = 50_000 * 3_600.0
    job = per_gpu / 16_384
    assert efficiency(young_interval(60, job), 60, job) == pytest.approx(0.899, abs=5e-4)
    assert efficiency(young_interval(60, per_gpu), 60, job) == pytest.approx(2e-5, rel=0.05)


@pytest.mark.parametrize(("cycle", "mtbf", "lag"), [(600.0, 36_000.0, 240.0), (600.0, 900.0, 1_500.0), (8e3, 4e4, 0.0)])
def test_mean_lost_work_is_the_mean_over_failure_ages(cycle: float, mtbf: float, lag: float) -> None:
    def density(age: float) -> float:
        return lost_work(age, cycle, lag) * math.exp(-age / mtbf) / mtbf

    edges = [0.0, *(lag + cycle * np.arange(1, int(40 * mtbf / cycle)))]
    exact = math.fsum(quad(density, a, b)[0] for a, b in pairwise(edges))
    assert mean_lost_work(cycle, mtbf, lag) == pytest.approx(exact, rel=1e-9)


def test_saved_is_not_durable() -> None:
    assert mean_lost_work(600, 36_000, 240) == pytest.approx(536, abs=0.5)
    assert mean_lost_work(600, 36_000) == pytest.approx(299, abs=0.5)
    assert lost_work(839, 600, 240) == 839
    assert lost_work(841, 600, 240) == 241
    assert lost_work(840, 600, 240) == 240  # a failure at the instant of durability comes after it


def test_first_cycle_of_another_length() -> None:
    rng = default_rng(5)
    age = rng.exponential(5_000.0, 400_000)
    since = age - (700.0 + 100.0)
    lost = np.where(since < 0, age, age - 700.0 - 500.0 * np.floor(since / 500.0))
    error = lost.std() / math.sqrt(lost.size)
    assert abs(lost.mean() - mean_lost_work(500, 5_000, 100, first_cycle=700)) < 4 * error


@pytest.mark.parametrize("ratio", [1e-9, 1e-5, 0.99e-4, 1.01e-4, 1e-3, 2.01e-3, 0.1, 1.0, 20.0])
def test_truncated_exponential_moments(ratio: float) -> None:
    """Mean and variance by quadrature of the density on [0, s]."""
    mass = -math.expm1(-ratio)

    def moment(power: int, centre: float) -> float:
        return quad(lambda x: (x - centre) ** power * math.exp(-x) / mass, 0, ratio, epsabs=0, epsrel=1e-12)[0]

    mean = moment(1, 0.0)
    assert mean_lost_work(ratio, 1.0) == pytest.approx(mean, rel=1e-9)
    assert lost_work_variance(ratio, 1.0) == pytest.approx(moment(2, mean), rel=1e-8)


def test_async_saves_that_block_are_blocking_saves() -> None:
    blocking = efficiency(1_700, 600, 3_600, 300, 600)
    assert async_efficiency(1_700, 3_600, stall=600, lag=600, detection=300, restart=600) == pytest.approx(blocking)


def test_async_efficiency_by_simulated_stretches() -> None:
    """Stretches of operation walked through save by save: work until each snapshot, kept if durable."""
    rng = default_rng(3)
    interval, stall, lag, slow, mtbf, down = 600.0, 20.0, 240.0, 0.3, 5_000.0, 400.0
    kept, wall = np.zeros(60_000), np.zeros(60_000)
    for i in range(kept.size):
        failure = rng.exponential(mtbf)
        snapshot = interval
        while snapshot + lag <= failure:
            kept[i] += interval
            slow_work = (lag - stall) * (1 - slow)
            snapshot += stall + (lag - stall) + (interval - slow_work)
        wall[i] = failure + down
    exact = async_efficiency(interval, mtbf, stall=stall, lag=lag, slowdown=slow, restart=down)
    residual = kept - exact * wall
    assert abs(residual.mean()) < 4 * residual.std(ddof=1) / math.sqrt(residual.size)


def test_async_saving_is_not_free() -> None:
    assert async_cycle(600, 0, 240, 0.1) - 600 == pytest.approx(24)
    assert async_cycle(600, 0, 240, 1 - 1 / 1.1) - 600 == pytest.approx(21.8, abs=0.05)
    with pytest.raises(ValueError, match="outlasts"):
        async_cycle(600, 0, 700)
    with pytest.raises(ValueError, match="slowdown must be below 1"):
        async_cycle(600, 0, 240, 1.0)


def test_unnamed_costs_are_zero() -> None:
    assert segment_time(100, 10, 500) == pytest.approx(500 * math.expm1(0.22), rel=1e-14)
    assert efficiency(100, 10, 500) == pytest.approx(100 / segment_time(100, 10, 500, 0, 0), rel=1e-14)
    assert async_efficiency(100, 500) == pytest.approx(efficiency(100, 0, 500), rel=1e-12)
    assert lost_work(601, 600) == 1
    assert lost_work(600, 600) == 0


def test_makespan_adds_segments() -> None:
    full, last = segment_time(100, 10, 500, 5, 20), segment_time(50, 0, 500, 5, 20)
    assert makespan(250, 100, 10, 500, 5, 20) == pytest.approx(2 * full + last)
    assert makespan(300, 100, 10, 500, 5, 20) == pytest.approx(2 * full + segment_time(100, 0, 500, 5, 20))
    assert makespan(300, 100, 10, 500, 5, 20, final_save=True) == pytest.approx(3 * full)
    assert makespan(0.3, 0.1, 10, 500) == pytest.approx(makespan(0.3, 0.3 / 3, 10, 500))
    assert makespan(300, 1e9, 10, 500, 5, 20) == pytest.approx(525 * math.expm1(300 / 500))


def test_intervals_beyond_the_range_of_floats() -> None:
    assert efficiency(1e9, 10, 500) == 0
    assert mean_lost_work(1e9, 500) == mean_lost_work(1e9, 500, 10) == 500
    assert lost_work_variance(1e9, 500) == 500**2


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), 0.0, -1.0])
def test_arguments_without_meaning_are_named(bad: float) -> None:
    with pytest.raises(ValueError, match="mtbf must be finite and above zero"):
        efficiency(600, 5, bad)
    with pytest.raises(ValueError, match="interval must be finite and above zero"):
        efficiency(bad, 5, 3_600)
