"""Detection: chains enumerated, heartbeats and timeouts by brute force."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from c4sim.theory.detection import best_timeout, expected_detection, heartbeat_delay, timeout_cost


def test_a_share_reaches_a_human() -> None:
    assert expected_detection([(0.95, 1_800), (1.0, 43_200)]) == pytest.approx(3_870)


def test_chain_by_enumerating_which_layers_see_the_fault() -> None:
    layers = [(0.5, 900.0), (0.9, 30.0), (0.2, 100.0), (1.0, 7_200.0)]
    total = 0.0
    for seen in product([True, False], repeat=4):
        weight = math.prod(c if s else 1 - c for s, (c, _) in zip(seen, layers, strict=True))
        if weight > 0:
            total += weight * min(d for s, (_, d) in zip(seen, layers, strict=True) if s)
    assert expected_detection(layers) == pytest.approx(total)


def test_chain_must_end() -> None:
    with pytest.raises(ValueError, match=r"0\.05 of the faults is never seen"):
        expected_detection([(0.95, 1_800)])
    with pytest.raises(ValueError, match="coverage must lie between 0 and 1"):
        expected_detection([(1.5, 1_800)])
    assert expected_detection([(1.0, 0.0), (0.5, 10.0)]) == 0


def test_heartbeats() -> None:
    assert heartbeat_delay(0.1, 1.0) == pytest.approx(0.95)
    faults = (np.arange(10_000) + 0.5) * 1e-3
    last_beat = np.floor(faults / 0.1) * 0.1
    assert (last_beat + 1.0 - faults).mean() == pytest.approx(heartbeat_delay(0.1, 1.0))
    with pytest.raises(ValueError, match="alarms without a fault"):
        heartbeat_delay(1.0, 0.5)


HANGS = (1 / 86_400, 10 / 3_600, 20.0, 1.0, 300 + 1_200 / 2)


def test_best_timeout_by_grid() -> None:
    """One hang a day, ten lognormal pauses an hour (median 20 s, sigma 1), R = 300 s, tau = 1,200 s."""
    grid = np.arange(1.0, 5_000.0, 0.5)
    costs = [timeout_cost(limit, *HANGS) for limit in grid.tolist()]
    best = best_timeout(*HANGS)
    assert best == pytest.approx(grid[int(np.argmin(costs))], abs=0.5)
    assert best == pytest.approx(495, abs=2)
    assert timeout_cost(0.0, *HANGS) > timeout_cost(best, *HANGS) < timeout_cost(1e6, *HANGS)


@pytest.mark.parametrize(("median", "sigma"), [(20.0, 0.6), (45.0, 1.5)])
def test_best_timeout_by_grid_for_other_pauses(median: float, sigma: float) -> None:
    others = (1 / 86_400, 10 / 3_600, median, sigma, 900.0)
    grid = np.arange(1.0, 6_000.0, 0.5)
    costs = [timeout_cost(limit, *others) for limit in grid.tolist()]
    assert best_timeout(*others) == pytest.approx(grid[int(np.argmin(costs))], abs=0.5)


def test_pauses_above_the_limit() -> None:
    rng = np.random.default_rng(12)
    pauses = rng.lognormal(math.log(20), 1.0, 1_000_000)
    share = float((pauses > 60).mean())
    cost = timeout_cost(60.0, 0.0, 1.0, 20.0, 1.0, 1.0)
    assert abs(share - cost) < 4 * math.sqrt(cost * (1 - cost) / pauses.size)
    assert timeout_cost(0.0, 1.0, 2.0, 20.0, 1.0, 3.0) == 6


def test_when_any_limit_costs_more_than_killing_every_pause() -> None:
    assert best_timeout(1.0, 1e-3, 20.0, 1.0, 1.0) == 0
    assert best_timeout(1.0, 0.2, 20.0, 0.1, 50.0) == 0  # a local minimum, but dearer than 0
    assert timeout_cost(0.0, 1.0, 0.2, 20.0, 0.1, 50.0) < min(
        timeout_cost(limit, 1.0, 0.2, 20.0, 0.1, 50.0) for limit in np.arange(0.5, 60, 0.5).tolist()
    )
