"""Coefficients of duration in load, estimated from data with faults and with wrong loads."""

import numpy as np
import pytest

from c4sim.detector import affine
from c4sim.detector.ratios import log_ratios

ROWS, WORKERS = 128, 32


def job(seed, persistent, wrong=0.0):
    """Loads (own share kept for ever, or drawn anew), durations 2 + 3 load with 1 % noise, reported loads."""
    rng = np.random.default_rng(seed)
    shape = (1, WORKERS) if persistent else (ROWS, WORKERS)
    load = np.broadcast_to(rng.lognormal(0, 0.4, shape), (ROWS, WORKERS)).copy()
    seconds = (2 + 3 * load) * np.exp(0.01 * rng.standard_normal(load.shape))
    return seconds, load, load * rng.uniform(1 - wrong, 1 + wrong, load.shape)


@pytest.mark.parametrize("persistent", [True, False])
@pytest.mark.parametrize("faulty", [0, 4])
def test_line_is_recovered_with_slow_workers_and_pauses_in_the_data(persistent, faulty):
    seconds, load, _ = job(1, persistent)
    seconds[:, :faulty] *= 2.5
    seconds[::20, 7] += 40
    line = affine.fit(seconds, load, np.zeros(WORKERS, int))
    at = np.array([0.5, 1.0, 2.0])
    predicted = line.at(np.tile(at[:, None], WORKERS), np.tile(at[:, None], WORKERS), np.zeros(WORKERS, int))[:, 0]
    np.testing.assert_allclose(predicted, 2 + 3 * at, rtol=0.02)


def test_wrong_loads_do_not_make_a_hot_worker_look_slow():
    """Errors of 20 % flatten the slope in the cell's own load; the mean load around the row makes up for it.

    Residual level against persistent load: slope 0 up to noise. With the cell's load alone (the naive
    regression) it is far from 0.
    """
    seconds, load, reported = job(2, persistent=True, wrong=0.2)
    ratios = log_ratios(seconds, np.zeros(WORKERS, int), reported)
    level, heat = np.median(ratios.y, axis=0), np.log(load[0])
    assert abs(np.polyfit(heat, level, 1)[0]) < 0.02
    naive = np.polyfit(reported.ravel(), seconds.ravel(), 1)
    left = np.median(np.log(seconds / np.polyval(naive, reported)), axis=0)
    assert abs(np.polyfit(heat, left, 1)[0]) > 0.03


def test_lines_of_different_roles_differ():
    seconds, load, _ = job(3, persistent=False)
    role = np.arange(WORKERS) % 2
    seconds[:, role == 1] = 7 + 0.5 * load[:, role == 1]
    coefficients = affine.fit(seconds, load, role).coefficients
    np.testing.assert_allclose(coefficients[0, 0], 2, rtol=0.05)
    np.testing.assert_allclose(coefficients[0, 1:].sum(), 3, rtol=0.05)
    np.testing.assert_allclose(coefficients[1, 0], 7, rtol=0.01)
    np.testing.assert_allclose(coefficients[1, 1:].sum(), 0.5, rtol=0.05)
