"""Laws by inversion: quantile and cdf invert each other; means, spreads, residual and equilibrium lives."""

import math

import numpy as np
import pytest

from c4sim.distributions import (
    Empirical,
    Exponential,
    Fixed,
    Gamma,
    Law,
    Lognormal,
    Uniform,
    Weibull,
    equilibrium_life,
    law_of,
    residual_life,
    weibull_shape,
)
from c4sim.scenario.values import LawSpec

CONTINUOUS: list[tuple[Law, float]] = [  # law, coefficient of variation
    (Exponential(3.0), 1.0),
    (Weibull(3.0, 0.7), math.sqrt(math.gamma(1 + 2 / 0.7) / math.gamma(1 + 1 / 0.7) ** 2 - 1)),
    (Weibull(3.0, 2.0), math.sqrt(4 / math.pi - 1)),
    (Lognormal(3.0, 1.3), 1.3),
    (Gamma(3.0, 4.0), 0.5),
    (Uniform(3.0, 0.4), 0.4),
]
# Midpoints of a fine grid in the uniform, finer towards 1 where the long lives are.
_EDGES = np.concatenate([np.linspace(0.0, 0.9, 40_001), 1.0 - 0.1 * np.exp(-np.linspace(0.0, 30.0, 40_001))[1:]])
MIDDLES = 0.5 * (_EDGES[1:] + _EDGES[:-1])
WEIGHTS = np.diff(_EDGES)


@pytest.mark.parametrize(("law", "cv"), CONTINUOUS)
def test_quantiles_have_the_mean_and_the_spread_of_the_law(law: Law, cv: float) -> None:
    lives = law.quantile(MIDDLES)
    mean = float(lives @ WEIGHTS)
    assert mean == pytest.approx(law.mean, rel=2e-4)
    assert math.sqrt(float((lives - mean) ** 2 @ WEIGHTS)) / mean == pytest.approx(cv, rel=5e-3)


@pytest.mark.parametrize(("law", "cv"), CONTINUOUS)
def test_the_cdf_inverts_the_quantile(law: Law, cv: float) -> None:
    u = np.linspace(0.001, 0.999, 997)
    np.testing.assert_allclose(law.cdf(law.quantile(u)), u, rtol=1e-9)


@pytest.mark.parametrize(("law", "cv"), CONTINUOUS)
@pytest.mark.parametrize("age", [0.0, 0.5, 3.5])
def test_residual_lives_are_those_of_units_that_old(law: Law, cv: float, age: float) -> None:
    """P(X - a > x | X > a) = (1 - F(a + x)) / (1 - F(a))."""
    u = np.linspace(0.01, 0.99, 99)
    rest = residual_life(law, u, np.full(u.shape, age))
    exact = 1.0 - (1.0 - law.cdf(age + rest)) / (1.0 - law.cdf(np.array([age])))
    np.testing.assert_allclose(exact, u, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize(("law", "cv"), CONTINUOUS)
def test_equilibrium_lives_have_mean_half_the_second_moment_over_the_mean(law: Law, cv: float) -> None:
    """E = E[X^2] / (2 E[X]) (Cox 1962): U times a length-biased life, so twice that is the length-biased mean."""
    biased = equilibrium_life(law, np.ones_like(MIDDLES), MIDDLES) if not isinstance(law, Exponential) else None
    if biased is None:  # memoryless: the rest of a life is a life
        u = np.linspace(0.01, 0.99, 99)
        np.testing.assert_array_equal(equilibrium_life(law, u, u), law.quantile(u))
        return
    assert float(biased @ WEIGHTS) == pytest.approx(law.mean * (1.0 + cv**2), rel=5e-3)


def test_discrete_laws() -> None:
    values = Empirical((1.0, 2.0, 6.0))
    assert values.mean == 3.0
    assert values.quantile(np.array([0.1, 0.5, 0.99])).tolist() == [1.0, 2.0, 6.0]
    assert values.cdf(np.array([0.5, 1.0, 5.0, 6.0])).tolist() == [0.0, 1 / 3, 2 / 3, 1.0]
    # Length biased: 1/9, 2/9, 6/9 of the time falls into a life of 1, 2, 6.
    assert equilibrium_life(values, np.ones(3), np.array([0.1, 0.2, 0.5])).tolist() == [1.0, 2.0, 6.0]
    assert Fixed(4.0).quantile(np.array([0.3])).tolist() == [4.0]
    assert equilibrium_life(Fixed(4.0), np.array([0.25]), np.array([0.5])).tolist() == [1.0]
    assert residual_life(Fixed(4.0), np.array([0.5]), np.array([5.0])).tolist() == [0.0]


def test_a_delay_of_mean_0_is_a_fixed_0_whatever_its_law() -> None:
    assert law_of(LawSpec(law="lognormal", mean="0s", cv=1.0)) == Fixed(0.0)  # type: ignore[arg-type]


@pytest.mark.parametrize("cv", [0.1, 0.5, 1.0, 2.0, 10.0])
def test_the_weibull_shape_of_a_coefficient_of_variation(cv: float) -> None:
    k = weibull_shape(cv)
    assert math.gamma(1 + 2 / k) / math.gamma(1 + 1 / k) ** 2 - 1 == pytest.approx(cv**2, rel=1e-9)


@pytest.mark.parametrize("cv", [1e-6, 1e12])
def test_a_spread_that_no_weibull_law_has_is_refused(cv: float) -> None:
    with pytest.raises(ValueError, match="coefficient of variation"):
        weibull_shape(cv)
