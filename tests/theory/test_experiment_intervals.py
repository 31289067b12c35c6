"""Printed intervals cover the truth as often as they say.

1,000 trials, nominal 95 %: the share covered has a standard error of sqrt(.95 x .05 / 1000) = .69 points. The bounds
92.7 and 97.3 are 3.3 of them away, a false alarm in 1,000 for each test of an exact interval.
"""

import numpy as np
import pytest
from numpy.typing import NDArray

from c4sim.experiment.tables import Totals

TRIALS, REPLICATIONS = 1000, 50


class Definition:
    numerator: tuple[str, ...] = ("up",)
    denominator: str | None = "all"
    complement = False
    unit = "1"


class PerReplication(Definition):
    denominator = None


def covered(rows: NDArray[np.float64], definition: Definition, truth: float) -> float:
    """Share of the trials whose interval holds the truth; rows of shape (trials, replications, 2)."""
    values = [Totals(("up", "all"), trial).metric(definition) for trial in rows]
    return sum(v.low <= truth <= v.high for v in values if v.low is not None and v.high is not None) / len(rows)


@pytest.mark.parametrize("cycles", [1, 3])
def test_the_interval_of_an_availability_covers_it(cycles: int) -> None:
    """Cycles of exponential up (mean 9) and down (mean 1): availability 9 / (9 + 1) = .9 by renewal-reward."""
    random = np.random.default_rng(45)
    up, down = (random.exponential(m, (TRIALS, REPLICATIONS, cycles)).sum(axis=2) for m in (9.0, 1.0))
    share = covered(np.stack([up, up + down], axis=2), Definition(), 0.9)
    assert 0.927 <= share <= 0.973


def test_the_ratio_of_sums_and_not_the_mean_of_ratios() -> None:
    """Three cycles: the mean of the replications' own ratios is .873, the ratio of sums .9; to 4 standard errors."""
    random = np.random.default_rng(46)
    up, down = (random.exponential(m, (20_000, 3)).sum(axis=1) for m in (9.0, 1.0))
    value = Totals(("up", "all"), np.stack([up, up + down], axis=1)).metric(Definition())
    assert value.mean is not None
    assert value.half_width is not None
    assert abs(value.mean - 0.9) < 4 * value.half_width / 1.96
    assert abs((up / (up + down)).mean() - 0.873) < 4 * (up / (up + down)).std() / 20_000**0.5


def test_the_interval_of_a_mean_covers_it() -> None:
    """Totals of a replication near normal, as a month's are."""
    random = np.random.default_rng(47)
    values = random.gamma(16.0, 1.0, (TRIALS, REPLICATIONS, 1))
    rows = np.concatenate([values, np.ones_like(values)], axis=2)
    assert 0.927 <= covered(rows, PerReplication(), 16.0) <= 0.973


def test_a_bias_of_two_percent_is_seen() -> None:
    """The tolerance of these tests is not so wide that a 2 % error of the mean would pass."""
    random = np.random.default_rng(48)
    values = 1.02 * random.gamma(400.0, 1.0, (TRIALS, REPLICATIONS, 1))
    rows = np.concatenate([values, np.ones_like(values)], axis=2)
    assert covered(rows, PerReplication(), 400.0) < 0.927
