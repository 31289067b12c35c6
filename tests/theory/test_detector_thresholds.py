"""The bounds behind the thresholds: false alarms of the tests on noise are below what was promised."""

import math

import numpy as np
import pytest

from c4sim.detector import Budget
from c4sim.detector import budget as constants
from c4sim.detector.budget import Thresholds, thresholds
from c4sim.detector.flapping import bursts
from c4sim.detector.screen import SHIFTS, Screen
from c4sim.detector.series import Limits, shifts, without_memory
from c4sim.detector.variogram import noise_variance

ROWS = 64


def autoregressive(rng, rows, series, rho, sigma=0.01):
    """AR(1) of standard deviation ``sigma`` whose innovations are Student's t with 5 degrees of freedom."""
    z = rng.standard_t(5, (rows, series)) * math.sqrt(3 / 5) * sigma
    z[1:] *= math.sqrt(1 - rho**2)
    for row in range(1, rows):
        z[row] += rho * z[row - 1]
    return z


def limits(nats):
    return Limits(Thresholds(nats, math.inf), math.inf, 1e-6, 1e-6, noise_floor=1e-6)


def test_threshold_is_the_logarithm_of_tests_over_budget():
    got = thresholds(4096, 64, 10.0, Budget(0.1))
    assert got.change == pytest.approx(math.log(4096 * 259_200 / (0.1 / constants.FAMILIES)))
    assert got.level == pytest.approx(math.log(4096 / (0.1 / constants.FAMILIES)))
    assert thresholds(4096, 64, 5.0, Budget(0.1)).change == pytest.approx(got.change + math.log(2))
    for wrong in (0.0, -1.0, math.inf, math.nan):
        with pytest.raises(ValueError, match="false_alarms"):
            Budget(wrong)
        with pytest.raises(ValueError, match="step_time_s"):
            Budget(step_time_s=wrong)


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.8])
def test_change_test_keeps_its_bound_under_correlation(rho):
    """P(a series alarms) <= splits exp(-h) (union of Chernoff bounds), with the long-run variance."""
    series, nats = 6000, 6.0
    y = autoregressive(np.random.default_rng(7), ROWS, series, rho)
    found = shifts(y, np.full(series, -1), limits(nats)).found.mean()
    bound = (ROWS - 2 * constants.MIN_ROWS + 1) * math.exp(-nats)
    assert found <= bound + 4 * math.sqrt(bound / series)


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.8])
def test_rows_without_memory_keep_levels_and_confine_a_disturbance(rho):
    """Of an AR(1): a shift stays, the variance of a row is the long-run one, a disturbance stays in its row."""
    inflation = (1 + rho) / (1 - rho)
    y = autoregressive(np.random.default_rng(14), 400, 500, rho)
    quiet = without_memory(y, inflation)
    assert quiet[1:].var() == pytest.approx(0.01**2 * inflation, rel=0.05)
    assert np.mean(quiet[2:] * quiet[1:-1]) == pytest.approx(0, abs=4 * 0.01**2 * inflation / math.sqrt(quiet.size))
    shifted, disturbed = y.copy(), y.copy()
    shifted[200:] += 1
    disturbed[200:] += rho ** np.arange(200.0)[:, None]
    changes = [np.delete(without_memory(x, inflation) - quiet, 200, axis=0) for x in (shifted, disturbed)]
    assert changes[0][200:] == pytest.approx(1)
    assert np.abs(changes[0][:200]).max() == 0
    assert np.abs(changes[1]).max() < 1e-9
    y[300] = np.nan
    assert np.isfinite(without_memory(y, inflation)[301]).all()


@pytest.mark.parametrize("rho", [0.5, 0.8])
def test_a_disturbance_that_noise_carries_on_is_no_change_and_a_lasting_shift_is(rho):
    """One innovation of 5 to 100 standard deviations, 8 to 16 rows before the end; or a shift of 1.2 times."""
    series, rng = 2000, np.random.default_rng(15)
    y = autoregressive(rng, ROWS, series, rho)
    onset = ROWS - rng.integers(8, 17, series)
    since = np.arange(ROWS)[:, None] - onset
    size = 0.01 * 5 * 20 ** rng.random(series)
    at = thresholds(4096, ROWS, 10.0, Budget(0.1))
    needed = Limits(Thresholds(at.change, math.inf), math.inf, constants.MIN_CHANGE, math.inf)
    nobody = np.full(series, -1)
    pulse = np.where(since >= 0, size * rho ** np.maximum(since, 0.0), 0.0)
    assert not shifts(y + pulse, nobody, needed).found.any()
    sixteen = ROWS - 16 + np.zeros(series, int)
    assert shifts(y + math.log(1.2) * (np.arange(ROWS)[:, None] >= sixteen), nobody, needed).found.mean() > 0.95


def test_without_the_inflation_correlated_noise_would_break_the_bound():
    """The test above has power: with the variance of one row instead, rho = 0.8 exceeds the bound widely."""
    series, nats = 3000, 6.0
    y = autoregressive(np.random.default_rng(8), ROWS, series, 0.8)
    variance, inflation = noise_variance(y, 1e-6)
    assert inflation > 4
    means = np.stack([y[:32].mean(axis=0), y[32:].mean(axis=0)])
    naive = 16 * (means[1] - means[0]) ** 2 / (2 * variance) > nats
    honest = 16 * (means[1] - means[0]) ** 2 / (2 * variance * inflation) > nats
    assert naive.mean() > 20 * math.exp(-nats)
    assert honest.mean() < 4 * math.exp(-nats)


@pytest.mark.parametrize("rho", [0.0, 0.3, 0.6, 0.8])
def test_long_run_variance_of_an_autoregression(rho):
    """What lag 8 still carries is taken for level, so rho_h counts as (rho^h - rho^8) / (1 - rho^8).

    A shift in a part of the series does not matter.
    """
    y = np.random.default_rng(9).standard_normal((400, 2000)) * math.sqrt(1 - rho**2)
    y[0] /= math.sqrt(1 - rho**2)
    for row in range(1, 400):
        y[row] += rho * y[row - 1]
    sill = 1 - rho**8
    exact = 1 + 2 * sum((rho**lag - rho**8) / sill for lag in range(1, 9))
    for shift in (0.0, 50.0):
        y[200:, :100] += shift
        variance, inflation = noise_variance(y)
        assert np.median(variance) == pytest.approx(sill, rel=0.05)
        assert inflation == pytest.approx(exact, rel=0.2)


def test_cumulative_sum_keeps_its_mean_time_between_alarms():
    """Page's sum of a log-likelihood ratio alarms at most once in exp(h) rows on the mean (Lorden 1971)."""
    series, rows, nats = 500, 4000, 5.0
    rng = np.random.default_rng(10)
    one = np.ones(series, dtype=np.float32)
    screen = Screen(None, np.array([0, series]), np.zeros(series, int), None, one, 0.01 * one, None, 0 * one)
    screen.sums, screen.buffers = np.zeros((len(SHIFTS), series), np.float32), np.empty((2, series), np.float32)
    alarms = np.zeros(len(SHIFTS))
    for _ in range(rows):
        screen.update((1 + 0.01 * rng.standard_normal(series)).astype(np.float32), None)
        above = screen.sums > nats
        alarms += above.sum(axis=1)
        screen.sums[above] = 0
    expected = series * rows * math.exp(-nats)
    assert np.all(alarms <= expected + 4 * math.sqrt(expected))
    assert alarms.sum() > 0


def test_flapping_test_keeps_its_bound():
    """P(some run of an edge exceeds h) <= rows exp(-h) for each duty, at the estimated chance of a bad row."""
    rng = np.random.default_rng(11)
    y = 0.03 * rng.standard_normal((200, 4000))
    y[rng.random(y.shape) < 0.01] += math.log(4)
    nats = 9.0
    found = bursts(y, nats).found.mean()
    bound = 3 * 200 * math.exp(-nats)
    assert found <= bound + 4 * math.sqrt(bound / 4000)
    y[rng.permutation(200)[:20], 0] += math.log(4)
    assert bursts(y, nats).found[0]


def test_level_test_keeps_its_budget_among_healthy_parts():
    """With 1.5 % spread among peers, K tests at ln(K / A): about A false findings in K, whatever the minimum."""
    rng = np.random.default_rng(12)
    alarms, budget, jobs, workers = 0, 0.5, 200, 64
    at = Limits(Thresholds(math.inf, math.log(workers / budget)), 1e-6, 1.0, 1.0)
    for _ in range(jobs):
        y = 0.015 * rng.standard_normal(workers) + 0.01 * rng.standard_normal((32, workers))
        alarms += int(shifts(y, np.zeros(workers, int), at).found.sum())
    expected = jobs * budget
    assert alarms <= expected + 4 * math.sqrt(expected)
