"""Equivalence: decisions by construction, error rates by counting, sizes by the power they give."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.special import ndtr, stdtrit

from c4sim.estimate import (
    Decision,
    Estimate,
    Moments,
    equivalence_margin,
    equivalence_test,
    mean_interval,
    paired_difference,
    replications_for_equivalence,
)

MARGIN, CV = 0.015, 0.125  # the gate's margin; spread of one month of a job that loses 31 %


def drawn(rng: np.random.Generator, n: int, mean: float = 1.0) -> Moments:
    """Skewed replications (gamma) of relative spread CV."""
    return Moments.of(rng.gamma(CV**-2, mean * CV**2, n))


def trials(change: float, baseline: Moments, n: int, rng: np.random.Generator) -> Counter[Decision]:
    runs = (equivalence_test(baseline, drawn(rng, n, 1 + change), MARGIN) for _ in range(200))
    return Counter(run.decision for run in runs)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_unchanged_is_equivalent_and_two_percent_is_not(seed: int) -> None:
    """200 trials against one baseline sized for power .9995: at least 198, and at most 1."""
    rng = default_rng(seed)
    n = replications_for_equivalence(CV, MARGIN)
    assert n is not None
    baseline = drawn(rng, n)
    assert trials(0.0, baseline, n, rng)[Decision.EQUIVALENT] >= 198
    assert trials(0.02, baseline, n, rng)[Decision.EQUIVALENT] <= 1


def test_at_the_margin_equivalence_errs_at_its_level() -> None:
    """Both sides redrawn each time: at a true change of the margin alpha of the trials pass."""
    rng = default_rng(7)
    alpha, n = 0.05, 400
    passed = 0
    for _ in range(2_000):
        base = Moments.of(rng.normal(1.0, 0.05, n))
        run = Moments.of(rng.normal(1 + MARGIN, 0.05, n))
        passed += equivalence_test(base, run, MARGIN, alpha=alpha).decision is Decision.EQUIVALENT
    assert abs(passed / 2_000 - alpha) < 4 * math.sqrt(alpha * (1 - alpha) / 2_000)


def test_interval_within_the_margin_is_equivalence() -> None:
    rng = default_rng(4)
    seen = set()
    for change in np.linspace(-0.03, 0.03, 61).tolist():
        found = equivalence_test(drawn(rng, 900), drawn(rng, 700, 1 + change), MARGIN)
        assert found.ratio is not None
        assert found.ratio.low is not None
        assert found.ratio.high is not None
        if abs(found.p_equivalent / 0.01 - 1) < 0.1:
            continue  # degrees of freedom differ slightly between the two constructions
        inside = found.ratio.low > 1 - MARGIN and found.ratio.high < 1 + MARGIN
        assert inside == (found.decision is Decision.EQUIVALENT)
        seen.add(found.decision)
    assert Decision.CHANGED in seen
    assert Decision.UNDECIDED in seen


def test_p_values_by_hand() -> None:
    """Known variances 4 and 9, n 10 and 20, means 100 and 101, margin 5 %."""
    base, run = Moments(10, 100.0, 4.0 * 9), Moments(20, 101.0, 9.0 * 19)
    found = equivalence_test(base, run, 0.05, alpha=0.05)
    upper = (101 - 105) / math.sqrt(9 / 20 + 1.05**2 * 4 / 10)
    freedom = (9 / 20 + 1.05**2 * 0.4) ** 2 / ((9 / 20) ** 2 / 19 + (1.05**2 * 0.4) ** 2 / 9)
    assert stdtrit(freedom, found.p_equivalent) == pytest.approx(upper)
    assert found.decision is Decision.EQUIVALENT
    assert found.ratio is not None
    assert found.ratio.value == pytest.approx(1.01)
    same = (9 / 20 + 0.4) ** 2 / ((9 / 20) ** 2 / 19 + 0.4**2 / 9)
    assert stdtrit(same, 1 - found.p_changed / 2) == pytest.approx(1 / math.sqrt(9 / 20 + 0.4))


def test_ratio_interval_by_its_definition() -> None:
    """Its ends are the factors f for which ``mean - f base`` is t standard errors off zero."""
    base, run = Moments(10, 100.0, 4.0 * 9), Moments(20, 101.0, 9.0 * 19)
    found = equivalence_test(base, run, 0.05, alpha=0.05).ratio
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    freedom = (9 / 20 + 1.01**2 * 0.4) ** 2 / ((9 / 20) ** 2 / 19 + (1.01**2 * 0.4) ** 2 / 9)
    for edge in (found.low, found.high):
        statistic = (101 - edge * 100) / math.sqrt(9 / 20 + edge**2 * 0.4)
        assert abs(statistic) == pytest.approx(stdtrit(freedom, 0.95), rel=1e-9)


def test_constant_metrics_are_compared_as_numbers() -> None:
    base = Moments.of([0.25] * 5)
    assert equivalence_test(base, Moments.of([0.25] * 9), MARGIN).decision is Decision.EQUIVALENT
    moved = equivalence_test(base, Moments.of([0.26] * 9), MARGIN)
    assert moved.decision is Decision.CHANGED
    assert moved.ratio == Estimate(1.04, 1.04, 1.04, 9)
    assert equivalence_test(base, Moments.of([0.2501] * 9), MARGIN).decision is Decision.CHANGED
    zero = Moments.of([0.0] * 5)
    assert equivalence_test(zero, zero, MARGIN).decision is Decision.EQUIVALENT
    assert equivalence_test(zero, base, MARGIN).decision is Decision.CHANGED


def test_a_baseline_of_zero_cannot_have_a_relative_margin() -> None:
    run = Moments.of(default_rng(1).random(400))
    found = equivalence_test(Moments.of([0.0] * 400), run, MARGIN)
    assert (found.decision, found.ratio) == (Decision.CHANGED, None)


def test_negative_means_are_the_mirror_image() -> None:
    rng = default_rng(5)
    base, run = drawn(rng, 2_000), drawn(rng, 2_000, 1.004)
    mirrored = equivalence_test(
        Moments(base.n, -base.mean, base.squares), Moments(run.n, -run.mean, run.squares), MARGIN
    )
    plain = equivalence_test(base, run, MARGIN)
    assert mirrored.p_equivalent == pytest.approx(plain.p_equivalent)
    assert mirrored.decision is plain.decision


def test_too_few_replications_say_how_many_would_decide() -> None:
    rng = default_rng(6)
    base = drawn(rng, 20_000, mean=0.3)
    spread = base.squares / (base.n - 1)
    for change, decision in ((1.001, Decision.EQUIVALENT), (1.03, Decision.CHANGED)):
        few = equivalence_test(base, Moments(50, change * base.mean, spread * 49), MARGIN)
        assert few.decision is Decision.UNDECIDED
        assert few.replications is not None
        runs = [drawn(rng, few.replications, 0.3 * change) for _ in range(400)]
        decided = [equivalence_test(base, run, MARGIN).decision is decision for run in runs]
        assert abs(np.mean(decided) - 0.9) < 0.1  # power .9; the baseline's own error is in common


def test_no_number_decides_against_a_small_baseline() -> None:
    small = Moments(20, 1.0, CV**2 * 19)
    found = equivalence_test(small, Moments(5_000, 1.001, CV**2 * 4_999), MARGIN)
    assert (found.decision, found.replications) == (Decision.UNDECIDED, None)
    assert replications_for_equivalence(CV, MARGIN, baseline=20) is None
    assert equivalence_test(small, Moments(1, 1.0, 0.0), MARGIN).replications == 2


@pytest.mark.parametrize("baseline", [None, 20_000.0])
@pytest.mark.parametrize("change", [0.0, 0.004])
def test_size_gives_its_power(baseline: float | None, change: float) -> None:
    """Power by the normal law at the size found, and one per cent fewer replications too few."""

    def power(n: float) -> float:
        error = CV * math.sqrt(1 / n + 1 / (baseline or n))
        z = 2.326348
        return float(ndtr((MARGIN - change) / error - z) - ndtr(z - (MARGIN + change) / error))

    n = replications_for_equivalence(CV, MARGIN, power=0.99, baseline=baseline, change=change)
    assert n is not None
    assert power(n) >= 0.99 - 1e-6
    assert power(0.99 * n) < 0.99


def test_a_change_of_the_margin_cannot_be_shown_to_be_within_it() -> None:
    assert replications_for_equivalence(CV, MARGIN, change=MARGIN) is None


def test_smallest_margin_of_a_paired_difference() -> None:
    found = paired_difference([1.0, 2.0, 3.0], [1.1, 2.0, 3.1], confidence=0.98)
    assert found.high is not None
    assert equivalence_margin(found) == found.high
    assert equivalence_margin(Estimate(0.0, -3.0, 1.0, 5)) == 3.0
    assert equivalence_margin(mean_interval([1.0])) is None


@pytest.mark.parametrize("bad", [0.0, 1.0, -0.1, float("nan")])
def test_margin_and_level_are_shares(bad: float) -> None:
    base = Moments.of([1.0, 2.0])
    with pytest.raises(ValueError, match="margin must lie between 0 and 1"):
        equivalence_test(base, base, bad)
    with pytest.raises(ValueError, match="confidence must lie between 0 and 1"):
        equivalence_test(base, base, MARGIN, alpha=bad)
