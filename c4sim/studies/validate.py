"""Does the simulator tell the truth elsewhere? Published outcomes of other clusters beside what it gives for them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from c4sim.configure import load_scenario
from c4sim.experiment import Progress
from c4sim.scenario import Problem, Scenario, ScenarioError
from c4sim.studies.reproduce_batch import Batch, Results
from c4sim.studies.validate_case import GROUP, Case, Cluster, KnownMiss, read_clusters
from c4sim.studies.validate_quantities import Quantity, Replays, is_share, quantity
from c4sim.studies.validate_rules import RULES, Judgement, Point

SUBSETS = ("full", "ci")
_SCENARIO = "scenario="
_POWER_QUANTILE = 0.8416  # normal quantile of 0.8


@dataclass(frozen=True)
class Outcome:
    """One case judged.

    published: in the quantity's unit. points: the overrides of each variant with what it gave. detects: the smallest
    true distance from the published value that these replications call outside with probability 0.8 (rule within).
    """

    file: str
    cluster: str
    name: str
    case: Case
    published: float | tuple[float, float] | None
    unit: str
    judgement: Judgement
    points: tuple[tuple[tuple[str, ...], Point], ...]
    replications: int
    detects: float | None

    @property
    def expected(self) -> bool:
        """Whether the outcome is as the case says: only one that should hold and does not is unexpected."""
        return self.judgement.good is not False or isinstance(self.case.expect, KnownMiss)

    @property
    def verdict(self) -> str:
        """The verdict, with the reason where there is one."""
        said, reason = self.judgement.verdict, self.case.reason
        return said if reason is None else f"{said}{'; ' if ':' in said else ': '}{reason}"

    def as_document(self) -> dict[str, Any]:
        """Plain data for JSON."""
        found, case = self.judgement, self.case
        return {
            "cluster": self.cluster,
            "quantity": case.title,
            "source": case.source,
            "independent": case.independent,
            "published": list(self.published) if isinstance(self.published, tuple) else self.published,
            "simulated": {"mean": found.mean, "low": found.low, "high": found.high},
            "verdict": self.verdict,
            "case": f"{self.file}/{self.name}",
            "metric": case.quantity,
            "unit": self.unit,
            "share": case.quantity is not None and is_share(case.quantity),
            "interval": found.spread or None,
            "clock": case.clock,
            "put_in": case.put_in,
            "rule": case.rule.model_dump(exclude_none=True),
            "expect": case.expect if isinstance(case.expect, str) else f"known_miss: {case.expect.known_miss}",
            "as_expected": self.expected,
            "leaves_out": case.leaves_out,
            "replications": self.replications,
            "detects": self.detects,
            "points": [
                {"overrides": list(overrides), "mean": e.value, "low": e.low, "high": e.high, "runs": list(point.band)}
                for overrides, point in self.points
                for e in [point.estimate]
            ],
        }


@dataclass(frozen=True)
class Validation:
    """All cases judged, the clusters that they belong to, and what was simulated for them."""

    outcomes: tuple[Outcome, ...]
    clusters: dict[str, Cluster]
    results: Results
    seed: int
    subset: str

    @property
    def unexpected(self) -> list[Outcome]:
        """Cases that should hold and do not."""
        return [outcome for outcome in self.outcomes if not outcome.expected]

    def as_document(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "schema_version": 1,
            "seed": self.seed,
            "subset": self.subset,
            "cases": [outcome.as_document() for outcome in self.outcomes],
            "published_errors": {c.cluster: list(c.published_errors) for c in self.clusters.values()},
        }


@dataclass(frozen=True)
class Planned:
    """One case with its scenarios made, and its quantity in each of them."""

    file: str
    cluster: Cluster
    name: str
    case: Case
    quantities: tuple[Quantity, ...]
    scenarios: tuple[Scenario, ...]
    replications: int


def validate_clusters(
    config_dir: str | Path | None = None,
    *,
    only: list[str] | None = None,
    subset: str = "full",
    seed: int = 0,
    workers: int = 1,
    progress: Progress | None = None,
) -> Validation:
    """Judge every case of every cluster (or of the files named in `only`).

    config_dir: the user's own folder; `validation/NAME.yaml` in it adds a cluster, `scenario/NAME.yaml` what it runs.
    subset: `full`, or `ci` with fewer replications and cases. Raises ConfigError with everything that is wrong in the
    files, ReplicationError when a replication fails.
    """
    clusters = read_clusters(config_dir)
    problems = [Problem("clusters", _unknown(name, clusters), name) for name in only or [] if name not in clusters]
    chosen = {name: cluster for name, cluster in clusters.items() if only is None or name in only}
    planned = plan_cases(chosen, config_dir, subset, problems)
    batch = Batch()
    for plan in planned:
        batch.add(plan.scenarios, plan.replications)
    results, replays = batch.run(seed, workers, progress), Replays()
    return Validation(tuple(_judge(plan, results, replays) for plan in planned), chosen, results, seed, subset)


def plan_cases(
    clusters: Mapping[str, Cluster],
    config_dir: str | Path | None = None,
    subset: str = "full",
    problems: Sequence[Problem] = (),
) -> list[Planned]:
    """The cases of these clusters that the subset judges, each with its scenarios; nothing is simulated.

    Raises ScenarioError with `problems` and everything that is wrong with a case.
    """
    planned, found = [], list(problems)
    for file, cluster in clusters.items():
        for name, case in cluster.cases.items():
            if case.replications_of(subset) == 0:
                continue
            try:
                planned.append(_plan(file, cluster, name, case, config_dir, subset))
            except ScenarioError as error:
                at = f"{GROUP}/{file}.yaml: cases.{name}"
                found += [Problem(f"{at}: {p.path}", p.message, p.value) for p in error.problems]
    if found:
        raise ScenarioError(found)
    return planned


def _unknown(name: str, clusters: dict[str, Cluster]) -> str:
    from c4sim.scenario.checks import nearest

    return f"must be of {', '.join(clusters)}{nearest(name, list(clusters))}"


def _variant(name: str, texts: Sequence[str], config_dir: str | Path | None) -> Scenario:
    """One variant of a case: the case's scenario, unless its own overrides begin from another one."""
    others = [text.partition("=")[2] for text in texts if text.startswith(_SCENARIO)]
    keys = [text for text in texts if not text.startswith(_SCENARIO)]
    return load_scenario(others[0] if others else name, *keys, config_dir=config_dir)


def _plan(file: str, cluster: Cluster, name: str, case: Case, config_dir: str | Path | None, subset: str) -> Planned:
    if not RULES[case.rule.kind].simulates:
        return Planned(file, cluster, name, case, (), (), 0)
    assert case.scenario is not None
    assert case.quantity is not None
    scenarios = tuple(_variant(case.scenario, texts, config_dir) for texts in case.overrides)
    found = [quantity(case.quantity, scenario) for scenario in scenarios]
    problems = [entry for entry in found if isinstance(entry, Problem)]
    if problems:
        raise ScenarioError(problems[:1])
    quantities = tuple(entry for entry in found if isinstance(entry, Quantity))
    return Planned(file, cluster, name, case, quantities, scenarios, case.replications_of(subset))


def _judge(plan: Planned, results: Results, replays: Replays) -> Outcome:
    try:
        return _outcome(plan, _points(plan, results, replays))
    except ValueError as error:
        at = f"{GROUP}/{plan.file}.yaml: cases.{plan.name}"
        raise ScenarioError([Problem(f"{at}.quantity", str(error), plan.case.quantity)]) from error


def _points(plan: Planned, results: Results, replays: Replays) -> list[Point]:
    pairs = zip(plan.quantities, plan.scenarios, strict=True)
    return [found.point(results.of(scenario, plan.replications), replays) for found, scenario in pairs]


def _outcome(plan: Planned, points: list[Point]) -> Outcome:
    case, rule = plan.case, RULES[plan.case.rule.kind]
    unit = plan.quantities[0].unit if plan.quantities else "1"
    published = _published(plan)
    tolerance = _tolerance(case, published)
    judgement = rule.judge(published, points, tolerance)
    return Outcome(
        plan.file,
        plan.cluster.cluster,
        plan.name,
        case,
        published,
        unit,
        judgement,
        tuple(zip(case.overrides, points, strict=True)) if points else (),
        plan.replications,
        _detects(tolerance, points) if rule.takes_tolerance else None,
    )


def _published(plan: Planned) -> float | tuple[float, float] | None:
    case = plan.case
    if case.record is None:
        return case.published
    of_counts = plan.quantities[0].of_counts
    assert of_counts is not None
    return of_counts(np.array(plan.cluster.records[case.record], dtype=float))


def _tolerance(case: Case, published: float | tuple[float, float] | None) -> float:
    if not isinstance(published, float | int):
        return 0.0
    return max(case.rule.absolute or 0.0, (case.rule.relative or 0.0) * abs(published))


def _detects(tolerance: float, points: list[Point]) -> float | None:
    errors = [float(point.runs.std(ddof=1)) / math.sqrt(len(point.runs)) for point in points if len(point.runs) > 1]
    return tolerance + _POWER_QUANTILE * max(errors) if errors else None
