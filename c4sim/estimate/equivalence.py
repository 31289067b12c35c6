"""Is a metric still the same?  Two one-sided tests against a baseline that is itself uncertain."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

from scipy.special import ndtr, ndtri, stdtr, stdtrit

from c4sim.estimate._data import level
from c4sim.estimate.intervals import Estimate
from c4sim.estimate.moments import Moments

ALPHA = 0.01
"""Level of each test.  At equal power .01 needs 1.3 times the replications of .05, and buys safety
against an unlucky baseline: where all runs are judged by one baseline that lies 2.5 of its standard
errors off, sized for power .9995, a change of 4/3 of the margin passes with probability 2e-4 (at
.05: 1e-2)."""

_ROUNDING = 1e-12  # relative; constant metrics may differ by this between processors


class Decision(Enum):
    """Outcome of :func:`equivalence_test`."""

    EQUIVALENT = "equivalent"
    CHANGED = "changed"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Equivalence:
    """Decision, relative change with its interval, p values, and what would decide.

    ``ratio`` is the new mean over the baseline's; ``None`` for a baseline of zero.  ``low`` and
    ``high`` bound it at ``1 - 2 alpha``, so that equivalence means they lie within the margin.
    ``p_equivalent`` is the larger p value of the one-sided tests, ``p_changed`` the two-sided one
    of no change.  ``replications`` would decide if the change is as seen: ``None`` when decided or
    when no number would, because the baseline is too small.
    """

    decision: Decision
    ratio: Estimate | None
    p_equivalent: float
    p_changed: float
    replications: int | None


def equivalence_test(
    baseline: Moments,
    current: Moments,
    margin: float,
    *,
    alpha: float = ALPHA,
    power: float = 0.9,
) -> Equivalence:
    """Test whether the mean is within ``margin`` (relative) of the baseline's.

    Equivalent: both ``mean < (1 + margin) base`` and ``mean > (1 - margin) base`` are shown at
    level ``alpha``, the baseline's own error included: the statistic of each side is
    ``(mean - f base) / sqrt(s^2 / n + f^2 s_b^2 / n_b)`` with Welch's degrees of freedom.
    Changed: not equivalent, and the difference from the baseline is significant at ``alpha`` (two
    sided).  Undecided: neither.  Means without any variance are compared as numbers.

    ``power`` is the chance of a decision at the replications that :class:`Equivalence` names.

    Source: Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15 (1987) 657; Sasabuchi,
    Biometrika 67 (1980) 429, for margins proportional to an unknown mean; Welch (1947).
    """
    if not 0 < margin < 1:
        raise ValueError(f"margin must lie between 0 and 1 (got {margin!r})")
    level(alpha)
    if baseline.n < 2 or current.n < 2:
        return Equivalence(Decision.UNDECIDED, None, 1.0, 1.0, max(2, current.n))
    if baseline.squares == 0 == current.squares:
        return _compare_constants(baseline.mean, current.mean, current.n)
    over, under = (_p_below(baseline, current, 1 + margin), _p_above(baseline, current, 1 - margin))
    if baseline.mean < 0:
        over, under = _p_above(baseline, current, 1 + margin), _p_below(baseline, current, 1 - margin)
    p_equivalent = max(over, under)
    p_changed = 2 * min(_p_below(baseline, current, 1.0), _p_above(baseline, current, 1.0))
    decision = Decision.UNDECIDED
    if p_equivalent <= alpha:
        decision = Decision.EQUIVALENT
    elif p_changed <= alpha:
        decision = Decision.CHANGED
    needed = None
    if decision is Decision.UNDECIDED:
        needed = _replications_to_decide(baseline, current, margin, alpha, power)
    ratio = _ratio_estimate(baseline, current, alpha)
    return Equivalence(decision, ratio, p_equivalent, p_changed, needed)


def replications_for_equivalence(
    relative_sd: float,
    margin: float,
    *,
    power: float = 0.9995,
    alpha: float = ALPHA,
    baseline: float | None = None,
    change: float = 0.0,
) -> int | None:
    """Replications that show equivalence with the wanted power when the true change is ``change``.

    Parameters
    ----------
    relative_sd
        Standard deviation of one replication over the mean.
    baseline
        Replications of the baseline; ``None`` for as many as are returned.
    change
        True relative change, within the margin.

    Returns ``None`` when no number is enough, because the baseline alone is too uncertain.

    Normal approximation, with the standard error as at no change.
    """
    allowed = _allowed_error(margin, abs(change), power, alpha) ** 2
    spread = relative_sd**2
    if baseline is None:
        return max(2, math.ceil(2 * spread / allowed)) if allowed > 0 else None
    left = allowed - spread / baseline
    return max(2, math.ceil(spread / left)) if left > 0 else None


def equivalence_margin(difference: Estimate) -> float | None:
    """Smallest margin within which the difference's interval lies: ``max(|low|, |high|)``.

    Give an interval of confidence ``1 - 2 alpha`` for equivalence at level ``alpha``.
    """
    if difference.low is None or difference.high is None:
        return None
    return max(abs(difference.low), abs(difference.high))


def _compare_constants(base: float, mean: float, n: int) -> Equivalence:
    same = math.isclose(base, mean, rel_tol=_ROUNDING)
    decision = Decision.EQUIVALENT if same else Decision.CHANGED
    ratio = None if base == 0 else Estimate(mean / base, mean / base, mean / base, n)
    return Equivalence(decision, ratio, 0.0 if same else 1.0, 1.0 if same else 0.0, None)


def _welch(baseline: Moments, current: Moments, factor: float) -> tuple[float, float]:
    """Statistic of ``mean - factor * base`` and its degrees of freedom (Welch-Satterthwaite)."""
    ours = current.squares / (current.n - 1) / current.n
    theirs = factor**2 * baseline.squares / (baseline.n - 1) / baseline.n
    gap, total = current.mean - factor * baseline.mean, ours + theirs
    if total == 0:
        return math.copysign(math.inf, gap) if gap else 0.0, 1.0
    freedom = total**2 / (ours**2 / (current.n - 1) + theirs**2 / (baseline.n - 1))
    return gap / math.sqrt(total), freedom


def _p_below(baseline: Moments, current: Moments, factor: float) -> float:
    """P value against ``mean >= factor * base``."""
    statistic, freedom = _welch(baseline, current, factor)
    return float(stdtr(freedom, statistic))


def _p_above(baseline: Moments, current: Moments, factor: float) -> float:
    """P value against ``mean <= factor * base``."""
    statistic, freedom = _welch(baseline, current, factor)
    return float(stdtr(freedom, -statistic))


def _ratio_estimate(baseline: Moments, current: Moments, alpha: float) -> Estimate | None:
    """The factors f for which ``mean - f base`` is not significantly off zero, at ``1 - 2 alpha``."""
    if baseline.mean == 0:
        return None
    ratio = current.mean / baseline.mean
    ours = current.squares / (current.n - 1) / current.n
    theirs = baseline.squares / (baseline.n - 1) / baseline.n
    t = float(stdtrit(_welch(baseline, current, ratio)[1], 1 - alpha))
    square = baseline.mean**2 - t * t * theirs
    if not square > 0:
        return Estimate(ratio, None, None, current.n)
    middle = current.mean * baseline.mean
    root = t * math.sqrt(theirs * current.mean**2 + ours * square)
    return Estimate(ratio, (middle - root) / square, (middle + root) / square, current.n)


def _replications_to_decide(
    baseline: Moments, current: Moments, margin: float, alpha: float, power: float
) -> int | None:
    """Replications that decide with ``power``, if the change is as seen."""
    if baseline.mean == 0:
        return None
    change = abs(current.mean / baseline.mean - 1)
    ours = current.squares / (current.n - 1) / baseline.mean**2
    theirs = baseline.squares / (baseline.n - 1) / baseline.n / baseline.mean**2
    equivalent = _allowed_error(margin, change, power, alpha)
    changed = change / float(ndtri(1 - alpha / 2) + ndtri(power))
    left = max(equivalent, changed) ** 2 - theirs
    return max(current.n + 1, math.ceil(ours / left)) if left > 0 else None


def _allowed_error(margin: float, change: float, power: float, alpha: float) -> float:
    """Largest standard error e of the relative change c that shows equivalence with the power.

    Both sides hold with probability ``Phi((m - c) / e - z) - Phi(z - (m + c) / e)``, which falls
    with e: solved by bisection; 0 when the change is not within the margin.
    """
    if not change < margin:
        return 0.0
    z = float(ndtri(1 - level(alpha)))

    def shown(error: float) -> float:
        inside = ndtr((margin - change) / error - z) - ndtr(z - (margin + change) / error)
        return float(inside)

    low, high = 0.0, margin / z
    while high - low > 1e-9 * margin:
        middle = (low + high) / 2
        low, high = (middle, high) if shown(middle) >= power else (low, middle)
    return low
