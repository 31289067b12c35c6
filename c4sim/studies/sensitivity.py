"""Which input deserves measuring? Each goes to the ends of its range alone; what that does to a metric ranks it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from c4sim.estimate import Estimate, paired_difference
from c4sim.experiment import Comparison, Precision, Progress, Result, compare
from c4sim.experiment.kernel import Kernel
from c4sim.experiment.manifest import SCHEMA_VERSION
from c4sim.experiment.variation import value_at, vary
from c4sim.scenario import Provenance, Scenario, ScenarioError

Ends = tuple[Any, Any]


@dataclass(frozen=True)
class Effect:
    """What one input does: name (with * where several keys move together), keys, ends of its range, value between them.

    at_low, at_high: difference from the base at either end; effect: high end against low end; all paired over
    replications, with 95 % intervals. swing: from the lowest to the highest of low end, base and high end.
    """

    name: str
    keys: tuple[str, ...]
    base: Any
    low: Any
    high: Any
    at_low: Estimate
    at_high: Estimate
    effect: Estimate

    @property
    def swing(self) -> float:
        """Width of the band that the range spans, in the metric's unit."""
        places = (0.0, self.at_low.value, self.at_high.value)
        return max(places) - min(places)

    def as_document(self) -> dict[str, Any]:
        """Plain data for JSON."""
        estimates = {"at_low": self.at_low, "at_high": self.at_high, "effect": self.effect}
        return {
            "name": self.name,
            "keys": list(self.keys),
            "base": self.base,
            "low": self.low,
            "high": self.high,
            **{name: {"difference": e.value, "low": e.low, "high": e.high} for name, e in estimates.items()},
            "swing": self.swing,
        }


@dataclass(frozen=True)
class Sensitivity:
    """The effects on one metric, largest swing first, and the comparison that they come from."""

    metric: str
    rows: tuple[Effect, ...]
    comparison: Comparison

    def as_document(self) -> dict[str, Any]:
        """Plain data for JSON."""
        base = self.comparison.base
        return {
            "schema_version": SCHEMA_VERSION,
            "scenario": base.scenario.name,
            "digest": base.scenario.digest(),
            "seed": base.seed,
            "replications": base.n,
            "metric": self.metric,
            "base": base.metrics[self.metric].as_document(),
            "inputs": [row.as_document() for row in self.rows],
        }


def assumed_ranges(scenario: Scenario) -> dict[str, tuple[tuple[str, ...], Ends]]:
    """Name -> (keys, ends) of every assumed input that has a range.

    Keys that differ in one step only and carry the same assumption (one value used for every class) move together:
    faults.*.confined.
    """
    groups: dict[tuple[str, str], list[str]] = {}
    for key, origin in scenario.provenance.items():
        if origin.kind == "assumed" and origin.range is not None:
            groups.setdefault((_pattern(key), _assumption(origin)), []).append(key)
    named: dict[str, tuple[tuple[str, ...], Ends]] = {}
    for (pattern, _), keys in groups.items():
        ends = scenario.provenance[keys[0]].range
        assert ends is not None
        name = pattern if len(keys) > 1 and pattern not in named else ", ".join(keys)
        named[name] = (tuple(keys), ends)
    return named


def _pattern(key: str) -> str:
    steps = key.split(".")
    return ".".join([steps[0], "*", *steps[2:]]) if steps[0] == "faults" and len(steps) > 2 else key


def _assumption(origin: Provenance) -> str:
    return f"{origin.source} {origin.range} {origin.note}"


def sensitivity(
    scenario: Scenario,
    ranges: Mapping[str, Ends] | None = None,
    *,
    replications: int | Precision = 200,
    seed: int = 0,
    workers: int = 1,
    metric: str = "downtime_fraction",
    progress: Progress | None = None,
    kernel: Kernel | None = None,
) -> Sensitivity:
    """Move one input at a time to the ends of its range, on common random numbers, and rank the inputs by their swing.

    ranges: key -> (low, high), written as in a configuration; None takes the assumed inputs and their own ranges.

    Raises ValueError without any range or for an unknown metric, ScenarioError for ends that cannot be.
    """
    inputs = (
        assumed_ranges(scenario)
        if ranges is None
        else {key: ((key,), (ends[0], ends[1])) for key, ends in ranges.items()}
    )
    if not inputs:
        raise ValueError(f"ranges: {scenario.name} has no assumed input with a range; name keys and their ranges")
    comparison = compare(
        scenario,
        _ends(scenario, inputs),
        replications=replications,
        seed=seed,
        workers=workers,
        progress=progress,
        kernel=kernel,
    )
    if metric not in comparison.base.metrics:
        raise ValueError(f"metric: there is no metric {metric!r} here")
    results = [alternative.result for alternative in comparison.alternatives]
    pairs = zip(inputs.items(), results[::2], results[1::2], strict=True)
    rows = [
        _effect(scenario, name, keys, ends, (comparison.base, low, high), metric)
        for (name, (keys, ends)), low, high in pairs
    ]
    return Sensitivity(metric, tuple(sorted(rows, key=lambda row: -row.swing)), comparison)


def _ends(scenario: Scenario, inputs: Mapping[str, tuple[tuple[str, ...], Ends]]) -> dict[str, Scenario]:
    """Both ends of every input, low before high."""
    found, problems = {}, []
    empty = [name for name, (_, ends) in inputs.items() if ends[0] == ends[1]]
    if empty:
        raise ValueError(f"ranges: {', '.join(empty)}: both ends are the same")
    for name, (keys, ends) in inputs.items():
        for end in ends:
            try:
                found[f"{name}={end}"] = vary(scenario, dict.fromkeys(keys, end))
            except ScenarioError as error:
                problems += error.problems
    if problems:
        raise ScenarioError(problems)
    return found


def _effect(
    scenario: Scenario,
    name: str,
    keys: tuple[str, ...],
    ends: Ends,
    results: tuple[Result, Result, Result],
    metric: str,
) -> Effect:
    base, low, high = (_values(result, metric) for result in results)
    return Effect(
        name,
        keys,
        value_at(scenario, keys[0]),
        ends[0],
        ends[1],
        paired_difference(base, low),
        paired_difference(base, high),
        paired_difference(low, high),
    )


def _values(result: Result, metric: str) -> Any:
    definition = result.kernel.definitions(result.scenario)[metric]
    values = result.totals.values(definition)
    if values is None:
        raise ValueError(f"metric: {metric} is undefined in {result.n} replications of {result.scenario.name}")
    return values
