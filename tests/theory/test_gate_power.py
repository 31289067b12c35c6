"""The gate's promises on skewed data: sized for power .9995, and no change of 4/3 of the margin let pass.

Monthly totals are drawn as gamma variables with the coefficients of variation of the record's scenarios. An unchanged
check is called otherwise with probability .0005, so 3 or more of 200 happen by chance once in 6,000; a planted change
of 2 % passes with probability below 1e-4 for the typical baseline.
"""

import experiment_fakes as fakes
import numpy as np
import pytest

from c4sim.estimate import Moments
from c4sim.experiment import Result, Totals
from c4sim.gate import Gate, Verdict
from c4sim.gate.checking import DEFAULT_MARGIN, compare_metrics
from c4sim.gate.update import PILOT, baseline_of, sizes
from c4sim.scenario import Scenario

TRIALS = 200
MEAN = 0.3
GATES = (Gate(metric="downtime_fraction", margin=DEFAULT_MARGIN),)


def months(random: np.random.Generator, cv: float, count: int, factor: float = 1.0) -> Result:
    """So many months whose downtime has this mean and coefficient of variation."""
    down = factor * random.gamma(1 / cv**2, MEAN * cv**2, count)
    rows = np.stack([np.ones(count), down, 1 - down, np.ones(count)], axis=1)
    return Result(Scenario(), 1, Totals(fakes.COLUMNS, rows), fakes.FAST, 0.0)


def downtime(result: Result) -> Moments:
    return Moments.of(result.totals.column("lost_s"))


@pytest.mark.parametrize("cv", [0.122, 0.327])
def test_unchanged_passes_and_two_percent_does_not(cv: float) -> None:
    random = np.random.default_rng(49)
    replications, check = sizes(downtime(months(random, cv, PILOT)), DEFAULT_MARGIN)
    baseline = baseline_of(months(random, cv, replications), GATES, None, check)
    verdicts = {
        factor: [compare_metrics(baseline, months(random, cv, check, factor))[0].verdict for _ in range(TRIALS)]
        for factor in (1.0, 1.02)
    }
    assert verdicts[1.0].count(Verdict.EQUIVALENT) >= 198
    assert verdicts[1.02].count(Verdict.EQUIVALENT) <= 1
    assert verdicts[1.02].count(Verdict.CHANGED) >= 198


def test_the_sizes_are_what_the_power_needs() -> None:
    """Standard error margin / (z(.99) + z(.99975)) = .015 / (2.326 + 3.481): both sides hold with .9995 together."""
    pilot = downtime(months(np.random.default_rng(50), 0.1, 100_000))
    replications, check = sizes(pilot, 0.015)
    error = 0.1 * np.sqrt(1 / replications + 1 / check)
    assert error * np.sqrt(1.2) == pytest.approx(0.015 / (2.326 + 3.481), rel=0.02)
