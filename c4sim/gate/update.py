"""Make baselines, and make them again when a change is meant."""

import math
from collections.abc import Sequence
from pathlib import Path

from c4sim.estimate import Moments, replications_for_equivalence
from c4sim.experiment import Progress, Result, simulate
from c4sim.experiment.documents import differences
from c4sim.experiment.kernel import Kernel
from c4sim.experiment.manifest import versions
from c4sim.gate.baseline import Baseline, BaselineError, Gate, Metric, write
from c4sim.gate.checking import DEFAULT_MARGIN, metric_values
from c4sim.scenario import Scenario

POWER = 0.9995
PILOT = 400
# A baseline this much larger than a check adds little to the check's error, and is run once.
BASELINE_FACTOR = 4
# The pilot's variance is uncertain and totals of a month are skewed: run this much more than it asks for.
SAFETY = 1.2


def sizes(moments: Moments, margin: float) -> tuple[int, int]:
    """(replications of the baseline, of a check) that show no change of a metric with power POWER.

    With m = k n for the baseline the squared error is s^2 (1 + 1/k) / n, against 2 s^2 / n for equal sizes.
    """
    relative_sd = math.sqrt(moments.variance or 0.0) / abs(moments.mean) if moments.mean else 0.0
    equal = replications_for_equivalence(relative_sd, margin, power=POWER) or PILOT
    check = max(50, math.ceil(SAFETY * equal * (1 + 1 / BASELINE_FACTOR) / 2))
    return BASELINE_FACTOR * check, check


def create(
    scenario: Scenario,
    *,
    gates: Sequence[Gate] = (Gate(metric="downtime_fraction", margin=DEFAULT_MARGIN),),
    source: Sequence[str] | None = None,
    seed: int = 1,
    workers: int = 1,
    progress: Progress | None = None,
    kernel: Kernel | None = None,
) -> Baseline:
    """A baseline of the scenario, sized by a pilot so that every gate has power POWER against no change.

    Raises BaselineError for a gate on a metric that the scenario does not have.
    """
    pilot = simulate(scenario, PILOT, seed, workers=workers, kernel=kernel)
    values = metric_values(pilot)
    missing = [gate.metric for gate in gates if gate.metric not in values]
    if missing:
        known = ", ".join(list(values)[:5])
        raise BaselineError([f"gates: no metric {name!r} here (there is {known}, ...)" for name in missing])
    wanted = [sizes(Moments.of(values[gate.metric]), gate.margin) for gate in gates]
    replications, check = (max(column) for column in zip(*wanted, strict=True))
    result = simulate(scenario, replications, seed, workers=workers, progress=progress, kernel=kernel)
    return baseline_of(result, tuple(gates), source, check)


def baseline_of(result: Result, gates: tuple[Gate, ...], source: Sequence[str] | None, check: int) -> Baseline:
    """The baseline that a result makes; `check`: replications of a check against it."""
    units = {name: definition.unit for name, definition in result.kernel.definitions(result.scenario).items()}
    metrics = {}
    for name, values in metric_values(result).items():
        moments = Moments.of(values)
        metrics[name] = Metric(mean=moments.mean, variance=moments.variance or 0.0, unit=units[name])
    return Baseline(
        source=None if source is None else tuple(source),
        scenario=result.scenario.as_document(),
        digest=result.scenario.digest(),
        seed=result.seed,
        replications=result.n,
        check_replications=check,
        gates=gates,
        metrics=metrics,
        versions=versions(),
    )


def update_one(
    path: Path,
    old: Baseline,
    scenario: Scenario,
    *,
    workers: int = 1,
    seed: int | None = None,
    progress: Progress | None = None,
    kernel: Kernel | None = None,
) -> list[str]:
    """Make the baseline of `path` again from what the scenario gives now; returns what changed, in lines."""
    new = create(
        scenario,
        gates=old.gates,
        source=old.source,
        seed=old.seed if seed is None else seed,
        workers=workers,
        progress=progress,
        kernel=kernel,
    )
    write(path, new)
    return [f"{path}: written ({new.replications} replications, seed {new.seed})", *_diff(old, new)]


def _diff(old: Baseline, new: Baseline) -> list[str]:
    lines = [f"  scenario.{line}" for line in differences(old.scenario, new.scenario)]
    lines += [f"  {name}: {a} -> {b}" for name, a, b in _settings(old, new) if a != b]
    for name in [*new.metrics, *(name for name in old.metrics if name not in new.metrics)]:
        before, after = old.metrics.get(name), new.metrics.get(name)
        if before != after:
            lines.append(f"  {name}: {_shown(before)} -> {_shown(after)}{_relative(before, after)}")
    return lines or ["  nothing changed"]


def _settings(old: Baseline, new: Baseline) -> list[tuple[str, object, object]]:
    names = ("replications", "check_replications", "seed")
    return [(name, getattr(old, name), getattr(new, name)) for name in names]


def _shown(metric: Metric | None) -> str:
    return "(absent)" if metric is None else f"{metric.mean:.6g} (sd {math.sqrt(metric.variance):.3g})"


def _relative(before: Metric | None, after: Metric | None) -> str:
    if before is None or after is None or before.mean == 0.0:
        return ""
    return f" ({100 * (after.mean / before.mean - 1):+.3f} %)"
