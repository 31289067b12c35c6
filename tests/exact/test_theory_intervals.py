"""Best intervals: published figures, a grid search, and the equation that the optimum solves."""

from __future__ import annotations

import math

import numpy as np
import pytest

from c4sim.theory.intervals import (
    daly_interval,
    daly_warning,
    exact_interval,
    flat_region,
    relative_efficiency,
    young_interval,
)
from c4sim.theory.segments import efficiency


@pytest.mark.parametrize(
    ("write", "mtbf", "exact", "daly", "young"),
    [
        (600, 3_600, 1_699.2, 1_697.7, 2_078.5),
        (120, 21_600, 2_197.6, 2_197.5, 2_276.8),
        (10, 6_000, 339.8, 339.8, 346.4),
    ],
)
def test_figures(write: float, mtbf: float, exact: float, daly: float, young: float) -> None:
    assert exact_interval(write, mtbf) == pytest.approx(exact, abs=0.06)
    assert daly_interval(write, mtbf) == pytest.approx(daly, abs=0.06)
    assert young_interval(write, mtbf) == pytest.approx(young, abs=0.06)


def test_efficiency_at_each() -> None:
    assert efficiency(exact_interval(600, 3_600), 600, 3_600) == pytest.approx(0.5280, abs=5e-5)
    assert efficiency(young_interval(600, 3_600), 600, 3_600) == pytest.approx(0.5228, abs=5e-5)
    assert relative_efficiency(2_078.46, 600, 3_600) == pytest.approx(0.5228 / 0.5280, abs=2e-4)


@pytest.mark.parametrize(("write", "mtbf"), [(600, 3_600), (5, 39_000), (9_000, 3_600)])
def test_exact_optimum_beats_a_grid(write: float, mtbf: float) -> None:
    best = exact_interval(write, mtbf)
    grid = best * np.linspace(0.5, 2.0, 3_001)
    values = [efficiency(tau, write, mtbf, 45, 300) for tau in grid.tolist()]
    assert grid[int(np.argmax(values))] == pytest.approx(best, rel=1e-3)


@pytest.mark.parametrize("c", [1e-12, 1e-8, 1e-4, 0.0099, 0.0101, 1.0, 2.0, 8.0])
def test_exact_optimum_solves_its_equation(c: float) -> None:
    u = exact_interval(c, 1.0)
    series = u * u / 2 + u**3 / 3 + u**4 / 4 if u < 1e-3 else -math.log1p(-u) - u
    assert series == pytest.approx(c, rel=1e-7)


def test_young_is_the_limit_of_cheap_writes() -> None:
    assert exact_interval(1e-10, 1.0) == pytest.approx(young_interval(1e-10, 1.0), rel=1e-5)


def test_daly_beyond_its_range() -> None:
    assert daly_interval(7_200, 3_600) == 3_600
    assert daly_interval(7_199.9, 3_600) == pytest.approx(3_200, rel=1e-4)  # the formula's own jump
    assert exact_interval(7_200, 3_600) / 3_600 == pytest.approx(0.948, abs=5e-4)
    assert daly_warning(7_199, 3_600) is None
    assert "at least twice the MTBF" in (daly_warning(7_200, 3_600) or "")


@pytest.mark.parametrize(("write", "mtbf", "within"), [(600, 3_600, 0.01), (5, 39_000, 0.001)])
def test_flat_region(write: float, mtbf: float, within: float) -> None:
    low, high = flat_region(write, mtbf, within)
    best = exact_interval(write, mtbf)
    assert low < best < high
    for edge in (low, high):
        share = efficiency(edge, write, mtbf) / efficiency(best, write, mtbf)
        assert share == pytest.approx(1 - within, rel=1e-9)
