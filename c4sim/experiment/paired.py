"""`compare`: alternatives against a base on common random numbers, difference by difference."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from c4sim.estimate import Estimate, equivalence_margin, mean_interval, paired_difference, variance_ratio
from c4sim.experiment import documents
from c4sim.experiment.chunks import Span
from c4sim.experiment.kernel import Kernel, simulator
from c4sim.experiment.manifest import SCHEMA_VERSION, scenario_entry, versions
from c4sim.experiment.precision import Missed, Precision, first_count
from c4sim.experiment.result import COMMON_POINT, Result, check_scenario, check_seed
from c4sim.experiment.running import Progress, collect
from c4sim.experiment.tables import FloatArray, Totals
from c4sim.scenario import Scenario

# Two one-sided tests at 5 % each: equivalence is shown by the interval of 90 %.
EQUIVALENCE_CONFIDENCE = 0.9
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Difference:
    """alternative - base of one metric, in its unit.

    difference, low, high: paired over replications, with the 95 % interval (None with one replication).
    variance_ratio: variance of the paired difference over that of independent runs. equivalent_within: the smallest
    margin within which base and alternative are shown to be equal (two one-sided tests at 5 %).
    """

    difference: float
    low: float | None
    high: float | None
    unit: str
    variance_ratio: float | None
    equivalent_within: float | None

    def equivalent(self, margin: float) -> bool:
        """Whether equality within +-margin is shown."""
        return self.equivalent_within is not None and self.equivalent_within <= margin


@dataclass(frozen=True)
class Alternative:
    """One alternative: its label, what it gave, and the difference of every metric that both have."""

    label: str
    result: Result
    differences: Mapping[str, Difference]


@dataclass(frozen=True)
class Comparison:
    """A base and its alternatives, run on the same random numbers. precision: what was to be reached, if anything."""

    base: Result
    alternatives: tuple[Alternative, ...]
    margin: float | None = None
    precision: Precision | None = None

    @property
    def missed(self) -> list[tuple[str, Missed]]:
        """Label and target of every alternative for which the budget ended before the target was reached."""
        found = ((alternative.label, self._missed(alternative)) for alternative in self.alternatives)
        return [(label, missed) for label, missed in found if missed is not None]

    def _missed(self, alternative: Alternative) -> Missed | None:
        if self.precision is None:
            return None
        found = alternative.differences.get(self.precision.metric)
        low, high = (None, None) if found is None else (found.low, found.high)
        return self.precision.missed(self.base.n, low, high)

    def as_document(self) -> dict[str, Any]:
        """Plain data for JSON: differences are alternative - base; what does not exist is None."""
        return {
            "schema_version": SCHEMA_VERSION,
            "scenario": self.base.scenario.name,
            "digest": self.base.scenario.digest(),
            "seed": self.base.seed,
            "replications": self.base.n,
            "margin": self.margin,
            **({} if self.precision is None else {"target_reached": not self.missed}),
            "base": {name: value.as_document() for name, value in self.base.metrics.items()},
            "alternatives": [self._alternative(alternative) for alternative in self.alternatives],
        }

    def _alternative(self, alternative: Alternative) -> dict[str, Any]:
        found = alternative.differences
        document: dict[str, Any] = {
            "with": alternative.label,
            "digest": alternative.result.scenario.digest(),
            "paired": {n: {"difference": d.difference, "low": d.low, "high": d.high} for n, d in found.items()},
            "variance_ratio": {name: d.variance_ratio for name, d in found.items()},
            "equivalent_within": {name: d.equivalent_within for name, d in found.items()},
        }
        if self.precision is not None:
            document["target_reached"] = self._missed(alternative) is None
        if self.margin is not None:
            document["equivalent"] = {name: d.equivalent(self.margin) for name, d in found.items()}
        return document

    def manifest(self) -> dict[str, Any]:
        """How this comparison was made, enough to make it again."""
        base = self.base.scenario.as_document()
        return {
            "schema_version": SCHEMA_VERSION,
            "kind": "compare",
            "base": scenario_entry(self.base.scenario),
            "alternatives": [
                {"with": a.label, "change": documents.change(base, a.result.scenario.as_document())}
                for a in self.alternatives
            ],
            "seed": self.base.seed,
            "replications": [0, self.base.n],
            "versions": versions(),
        }


def compare(
    base: Scenario,
    alternatives: Mapping[str, Scenario] | Sequence[Scenario],
    *,
    replications: int | Precision = 200,
    seed: int = 0,
    workers: int = 1,
    margin: float | None = None,
    progress: Progress | None = None,
    kernel: Kernel | None = None,
) -> Comparison:
    """Run a base and alternatives on common random numbers and pair every metric, replication by replication.

    alternatives: label -> scenario, or scenarios, labelled by what they change. replications: a number, or a Precision
    that the paired difference of its metric must reach in every alternative. margin: for `equivalent`, in the metric's
    unit.

    Raises ValueError for a base without alternatives or a metric that is not there, ReplicationError.
    """
    kernel = kernel or simulator()
    check_seed(seed)
    labels, scenarios = _labelled(base, alternatives)
    runs = _Runs((base, *scenarios), seed, workers, kernel, progress)
    wanted = first_count(replications)
    while wanted > runs.n:
        runs.extend(wanted)
        if isinstance(replications, Precision):
            wanted = runs.more(replications)
    first, *others = runs.results()
    found = tuple(
        Alternative(label, other, _differences(first, other)) for label, other in zip(labels, others, strict=True)
    )
    return Comparison(first, found, margin, replications if isinstance(replications, Precision) else None)


def _labelled(
    base: Scenario, alternatives: Mapping[str, Scenario] | Sequence[Scenario]
) -> tuple[list[str], list[Scenario]]:
    if not alternatives:
        raise ValueError("alternatives: at least one is needed")
    for scenario in alternatives.values() if isinstance(alternatives, Mapping) else alternatives:
        check_scenario(scenario)
    if isinstance(alternatives, Mapping):
        return list(alternatives), list(alternatives.values())
    document = base.as_document()
    return [_label(document, scenario.as_document()) for scenario in alternatives], list(alternatives)


def _label(base: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """What `other` changes, as overrides."""
    before, after = documents.flatten(base), documents.flatten(other)
    keys = [key for key in after if after[key] != before.get(key) and not key.startswith(("name", "provenance."))]
    return " ".join(f"{key}={after[key]}" for key in keys) or "no change"


class _Runs:
    """Replications of several scenarios, all under the key of the first."""

    def __init__(
        self, scenarios: tuple[Scenario, ...], seed: int, workers: int, kernel: Kernel, progress: Progress | None
    ) -> None:
        self.scenarios, self.seed, self.workers = scenarios, seed, workers
        self.kernel, self.progress = kernel, progress
        self.rows: list[list[FloatArray]] = [[] for _ in scenarios]
        self.cpu_s = [0.0] * len(scenarios)
        self.n = 0

    def extend(self, wanted: int) -> None:
        """Run replications up to `wanted` of every scenario."""
        spans = [Span(number, s, COMMON_POINT, self.n, wanted) for number, s in enumerate(self.scenarios)]
        for result in collect(spans, self.seed, self.kernel, self.workers, progress=self.progress):
            self.rows[result.span.number].append(result.totals)
            self.cpu_s[result.span.number] += result.cpu_s
        self.n = wanted

    def totals(self, number: int) -> Totals:
        """Totals of one scenario."""
        return Totals(self.kernel.columns(self.scenarios[number]), np.concatenate(self.rows[number]))

    def values(self, number: int, metric: str) -> FloatArray | None:
        """Pseudo-values of a metric of one scenario."""
        definitions = self.kernel.definitions(self.scenarios[number])
        if metric not in definitions:
            raise ValueError(f"target: there is no metric {metric!r}")
        return self.totals(number).values(definitions[metric])

    def more(self, precision: Precision) -> int:
        """Replications wanted by the alternative whose difference is least certain."""
        base = self.values(0, precision.metric)
        wanted = []
        for number in range(1, len(self.scenarios)):
            other = self.values(number, precision.metric)
            paired = None if base is None or other is None else other - base
            wanted.append(precision.more(paired, self.n))
        return max(wanted)

    def results(self) -> list[Result]:
        """What each scenario gave."""
        return [
            Result(scenario, self.seed, self.totals(number), self.kernel, self.cpu_s[number])
            for number, scenario in enumerate(self.scenarios)
        ]


def _differences(base: Result, other: Result) -> dict[str, Difference]:
    before, after = (result.kernel.definitions(result.scenario) for result in (base, other))
    found = {}
    for name, definition in after.items():
        if name in before:
            first, second = base.totals.values(before[name]), other.totals.values(definition)
            if first is not None and second is not None:
                found[name] = _difference(first, second, definition.unit)
    return found


def _difference(first: FloatArray, second: FloatArray, unit: str) -> Difference:
    # What lies within the rounding of the totals behind two equal values is no difference.
    second = np.where(np.isclose(first, second, rtol=0.0, atol=_ROUNDING * np.abs(first).max()), first, second)
    paired: Estimate = paired_difference(first, second)
    narrow = mean_interval(second - first, EQUIVALENCE_CONFIDENCE)
    return Difference(
        paired.value, paired.low, paired.high, unit, variance_ratio(first, second), equivalence_margin(narrow)
    )
