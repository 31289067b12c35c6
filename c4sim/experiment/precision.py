"""How many replications: as many as a wanted half width needs, within a budget."""

import math
from dataclasses import dataclass

from c4sim.estimate import Moments, replications_for_half_width
from c4sim.experiment.tables import FloatArray

# A second look rarely falls short when it runs a little more than the first look's variance asks for.
MARGIN = 1.1
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Missed:
    """A target that the budget ended before: the half width reached with `replications` (None: no interval at all)."""

    metric: str
    wanted: float
    reached: float | None
    replications: int


@dataclass(frozen=True)
class Precision:
    """Run until the 95 % interval of `metric` has at most `half_width` (in its unit), at most `budget` replications.

    The `first` replications give the variance that says how many are needed; that is looked at again until the interval
    is narrow enough. Each decision looks only at the replications that the one before asked for, so it is the same
    whatever the number of workers and however often the run was interrupted.
    """

    half_width: float
    metric: str = "downtime_fraction"
    budget: int = 10_000
    first: int = 50

    def __post_init__(self) -> None:
        if not 0.0 < self.half_width < math.inf:
            raise ValueError(f"target: must be a finite half width above 0 (got {self.half_width!r})")
        if not 2 <= self.first <= self.budget:
            raise ValueError(f"budget: must be at least the first {self.first} replications (got {self.budget})")

    def more(self, values: FloatArray | None, n: int) -> int:
        """Replications wanted in all after `n` of them gave these pseudo-values; `n` itself means enough.

        A metric that is still undefined asks for twice as many.
        """
        if n >= self.budget:
            return n
        if values is None:
            return min(self.budget, 2 * n)
        needed = replications_for_half_width(Moments.of(values).variance or 0.0, self.half_width)
        if needed <= n:
            return n
        return min(self.budget, max(n + 1, math.ceil(MARGIN * needed)))

    def missed(self, n: int, low: float | None, high: float | None) -> Missed | None:
        """What is to be told when `n` replications gave the interval low .. high; None if that is good enough."""
        if n < self.budget:
            return None
        reached = None if low is None or high is None else (high - low) / 2
        if reached is not None and reached <= self.half_width * (1.0 + _ROUNDING):
            return None
        return Missed(self.metric, self.half_width, reached, n)


def first_count(replications: "int | Precision") -> int:
    """Replications that run before anything is known; refuses a count below 1."""
    if isinstance(replications, Precision):
        return replications.first
    if isinstance(replications, bool) or not isinstance(replications, int) or replications < 1:
        raise ValueError(f"replications: must be a whole number of at least 1 (got {replications!r})")
    return replications
