"""From totals per replication to metrics with intervals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from c4sim.estimate import mean_interval
from c4sim.experiment.kernel import Definition

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Value:
    """A metric: the ratio of sums over replications and the 95 % interval around it (jackknife), in `unit`.

    mean is None where the metric is undefined (an MTBF without failures); low and high with one replication.
    """

    mean: float | None
    low: float | None
    high: float | None
    unit: str

    @property
    def half_width(self) -> float | None:
        """Half the length of the interval."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2

    def as_document(self) -> dict[str, float | str | None]:
        """Plain data for JSON."""
        return {"mean": self.mean, "low": self.low, "high": self.high, "unit": self.unit}


class Totals:
    """The totals of one point: shape (replications, columns), rows in the order of replications."""

    def __init__(self, columns: Sequence[str], rows: FloatArray) -> None:
        self.columns = tuple(columns)
        self.rows = rows
        self._place = {name: i for i, name in enumerate(self.columns)}

    @property
    def n(self) -> int:
        """Number of replications."""
        return len(self.rows)

    def first(self, count: int) -> "Totals":
        """The first `count` replications."""
        return Totals(self.columns, self.rows[:count])

    def column(self, name: str) -> FloatArray:
        """One column, a value per replication."""
        values: FloatArray = self.rows[:, self._place[name]]
        return values

    def parts(self, definition: Definition) -> tuple[FloatArray, FloatArray]:
        """Numerator and denominator of a metric, a value per replication."""
        if not definition.numerator:
            top = np.zeros(self.n)
        else:
            top = np.sum([self.column(name) for name in definition.numerator], axis=0)
        bottom = np.ones(self.n) if definition.denominator is None else self.column(definition.denominator)
        return top, bottom

    def values(self, definition: Definition) -> FloatArray | None:
        """Pseudo-values of a metric, one a replication; None where they do not exist."""
        values = pseudo_values(*self.parts(definition))
        return values if values is None or not definition.complement else 1.0 - values

    def metric(self, definition: Definition) -> Value:
        """A metric with its interval."""
        top, bottom = self.parts(definition)
        ratio = _ratio(top, bottom)
        if ratio is not None and definition.complement:
            ratio = 1.0 - ratio
        values = self.values(definition)
        if values is None:
            return Value(ratio, None, None, definition.unit)
        estimate = mean_interval(values)
        # With a constant denominator both are the mean; that of equal values is then exact.
        mean = estimate.value if _constant(bottom) else ratio
        return Value(mean, estimate.low, estimate.high, definition.unit)

    def metrics(self, definitions: Mapping[str, Definition]) -> dict[str, Value]:
        """Every metric, in the order of the definitions."""
        return {name: self.metric(definition) for name, definition in definitions.items()}


def pseudo_values(top: FloatArray, bottom: FloatArray) -> FloatArray | None:
    """Jackknife pseudo-values of sum(top) / sum(bottom), one a replication.

    Their mean estimates the ratio without bias of order 1/n and they may be treated as independent: intervals, paired
    differences and variances of ratios are those of the pseudo-values. With a constant denominator they are the
    replications' own ratios. None where leaving one out leaves no denominator.

    Source: Law, Simulation Modeling and Analysis (2015), section 9.5.3.
    """
    n = len(top)
    if n == 0 or not bottom.any():
        return None
    if _constant(bottom):
        own: FloatArray = top / bottom[0]
        return own
    left = bottom.sum() - bottom
    if not left.all():
        return None
    ratio = top.sum() / bottom.sum()
    pseudo: FloatArray = n * ratio - (n - 1) * ((top.sum() - top) / left)
    return pseudo


def _constant(values: FloatArray) -> bool:
    return bool((values == values[0]).all())


def _ratio(top: FloatArray, bottom: FloatArray) -> float | None:
    total = float(bottom.sum())
    return float(top.sum()) / total if total != 0.0 else None
