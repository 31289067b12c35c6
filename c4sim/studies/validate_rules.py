"""Published against simulated: the rules by which a case is judged.

A simulated quantity has a mean with its 95 % interval, and a value in every single run. Published outcomes of one run
of one cluster are held against single runs (`runs`), results of closed forms and long records against means (`within`).
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from c4sim.estimate import Estimate, paired_difference

Floats = NDArray[np.float64]
Published = float | tuple[float, float] | None
SINGLE_RUNS = (0.025, 0.975)  # the central 95 % of single runs
_CHANCE = 3.2e-5  # of being 4 standard errors off on one side

INSIDE, OUTSIDE, EDGE = "inside", "outside", "at the edge"
HELD, BROKEN = "bound held", "bound broken"
NOT_TESTABLE = "not testable"


@dataclass(frozen=True)
class Point:
    """One simulated variant: the mean with its interval, and the quantity in every run, shape (n,)."""

    estimate: Estimate
    runs: Floats

    @property
    def band(self) -> tuple[float, float]:
        """The central 95 % of single runs."""
        low, high = np.quantile(self.runs, SINGLE_RUNS)
        return float(low), float(high)


@dataclass(frozen=True)
class Judgement:
    """What was simulated, in one line, and the verdict; good: it is as a true model would have it (None: not judged).

    spread: what low and high are.
    """

    mean: float | None
    low: float | None
    high: float | None
    spread: str
    verdict: str
    good: bool | None


@dataclass(frozen=True)
class Rule:
    """judge(published, points, tolerance); what the rule takes: a pair, a tolerance, how many points, which keys."""

    judge: Callable[[Any, Sequence[Point], float], Judgement]
    takes_pair: bool = False
    takes_tolerance: bool = False
    least_points: int = 1
    simulates: bool = True
    needs: frozenset[str] = field(default_factory=lambda: frozenset({"published"}))


MEAN = "95 % interval of the mean"
RUNS = "central 95 % of single runs"
POINTS = "lowest and highest mean of the variants"
PAIRED = "95 % interval of the paired difference"


def _word(inside: bool) -> str:
    return INSIDE if inside else OUTSIDE


def _span(points: Sequence[Point]) -> tuple[float, float, float]:
    """(mean, lowest, highest) of the variants' means."""
    means = [point.estimate.value for point in points]
    return float(np.mean(means)), min(means), max(means)


def _runs_span(points: Sequence[Point]) -> tuple[float, float, float]:
    """(mean, lowest, highest) of the variants' bands of single runs."""
    bands = [point.band for point in points]
    return _span(points)[0], min(low for low, _ in bands), max(high for _, high in bands)


def within(published: float, points: Sequence[Point], tolerance: float) -> Judgement:
    """The simulated mean of each variant lies within the tolerance of the published value."""
    worst = max((point.estimate for point in points), key=lambda estimate: abs(estimate.value - published))
    good = abs(worst.value - published) <= tolerance
    return Judgement(worst.value, worst.low, worst.high, MEAN, _word(good), good)


def runs(published: float, points: Sequence[Point], _: float) -> Judgement:
    """The published value lies in the band of single runs, over all variants.

    The share of runs beyond the value is known to 1 / sqrt(runs) only: where 4 standard errors do not tell whether it
    reaches 2.5 %, the value is at the edge, which is not held against the model.
    """
    mean, low, high = _runs_span(points)
    share, runs_ = _beyond(published, points), min(len(point.runs) for point in points)
    count = round(share * runs_)
    if binom.cdf(count, runs_, SINGLE_RUNS[0]) < _CHANCE:
        verdict = OUTSIDE
    elif binom.sf(count - 1, runs_, SINGLE_RUNS[0]) < _CHANCE:
        verdict = INSIDE
    else:
        verdict = f"{EDGE}: {share:.1%} of the runs lie beyond"
    return Judgement(mean, low, high, RUNS, verdict, verdict != OUTSIDE)


def _beyond(published: float, points: Sequence[Point]) -> float:
    """Share of runs that lie as far out as the value or further, on its side, in the variant that reaches furthest."""
    below = max(float((point.runs <= published).mean()) for point in points)
    above = max(float((point.runs >= published).mean()) for point in points)
    return min(below, above)


def runs_reject(published: float, points: Sequence[Point], _: float) -> Judgement:
    """As `runs`, for a model that must be refused: the published value has to lie outside."""
    found = runs(published, points, 0.0)
    return Judgement(found.mean, found.low, found.high, RUNS, found.verdict, not found.good)


def runs_in_range(published: tuple[float, float], points: Sequence[Point], _: float) -> Judgement:
    """The whole band of single runs lies between the two published values."""
    mean, low, high = _runs_span(points)
    good = published[0] <= low and high <= published[1]
    return Judgement(mean, low, high, RUNS, HELD if good else BROKEN, good)


def between(published: float, points: Sequence[Point], _: float) -> Judgement:
    """The published value lies between the lowest and the highest mean of the variants."""
    mean, low, high = _span(points)
    good = low <= published <= high
    return Judgement(mean, low, high, POINTS, _word(good), good)


def in_range(published: tuple[float, float], points: Sequence[Point], _: float) -> Judgement:
    """The means of all variants lie between the two published values."""
    mean, low, high = _span(points)
    good = published[0] <= low and high <= published[1]
    if len(points) == 1:
        estimate = points[0].estimate
        return Judgement(mean, estimate.low, estimate.high, MEAN, _word(good), good)
    return Judgement(mean, low, high, POINTS, HELD if good else BROKEN, good)


def at_least(published: float, points: Sequence[Point], _: float) -> Judgement:
    """The means of all variants reach a published lower bound."""
    return _bound(points, lambda value: value >= published)


def at_most(published: float, points: Sequence[Point], _: float) -> Judgement:
    """The means of all variants stay below a published upper bound."""
    return _bound(points, lambda value: value <= published)


def _bound(points: Sequence[Point], holds: Callable[[float], bool]) -> Judgement:
    mean, low, high = _span(points)
    good = holds(low) and holds(high)
    if len(points) == 1:
        estimate = points[0].estimate
        return Judgement(mean, estimate.low, estimate.high, MEAN, HELD if good else BROKEN, good)
    return Judgement(mean, low, high, POINTS, HELD if good else BROKEN, good)


def rises(_: None, points: Sequence[Point], __: float) -> Judgement:
    """From the first variant to the last the quantity rises, on common random numbers."""
    steps = [paired_difference(a.runs, b.runs) for a, b in itertools.pairwise(points)]
    good = all(step.low is not None and step.low > 0.0 for step in steps)
    whole = paired_difference(points[0].runs, points[-1].runs)
    return Judgement(whole.value, whole.low, whole.high, PAIRED, HELD if good else BROKEN, good)


def region(published: float, points: Sequence[Point], _: float) -> Judgement:
    """Which of the variants reach the published bound; inputs that are not published leave nothing to judge."""
    mean, low, high = _span(points)
    reached = sum(point.estimate.value >= published for point in points)
    verdict = f"{NOT_TESTABLE}: {reached} of {len(points)} variants reach it"
    return Judgement(mean, low, high, POINTS, verdict, None)


def not_testable(_: Published, __: Sequence[Point], ___: float) -> Judgement:
    """Inputs from which the outcome would follow are not published."""
    return Judgement(None, None, None, "", NOT_TESTABLE, None)


_FREE: frozenset[str] = frozenset()
RULES = {
    "within": Rule(within, takes_tolerance=True),
    "runs": Rule(runs),
    "runs_reject": Rule(runs_reject),
    "runs_in_range": Rule(runs_in_range, takes_pair=True),
    "between": Rule(between, least_points=2),
    "in_range": Rule(in_range, takes_pair=True),
    "at_least": Rule(at_least),
    "at_most": Rule(at_most),
    "rises": Rule(rises, least_points=2, needs=_FREE),
    "region": Rule(region, least_points=2, needs=frozenset({"published", "reason"})),
    "not_testable": Rule(not_testable, simulates=False, needs=frozenset({"reason"})),
}
