"""Does a scenario still give what its baseline says? Statistics, not digits."""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

from c4sim.estimate import Decision, Moments, equivalence_test
from c4sim.experiment import Progress, Result, simulate
from c4sim.experiment.documents import differences
from c4sim.experiment.kernel import Kernel
from c4sim.experiment.tables import FloatArray
from c4sim.gate.baseline import Baseline, BaselineError, Gate, read
from c4sim.scenario import Scenario, ScenarioError

# A constant that begins to vary counts as changed at this level of Fisher's exact test.
RARE = 1e-4
DEFAULT_MARGIN = 0.015


class Verdict(IntEnum):
    """Outcome of a check; the value is the exit code."""

    EQUIVALENT = 0
    CHANGED = 1
    BAD_INPUT = 2
    UNDECIDED = 3


_VERDICTS = {
    Decision.EQUIVALENT: Verdict.EQUIVALENT,
    Decision.CHANGED: Verdict.CHANGED,
    Decision.UNDECIDED: Verdict.UNDECIDED,
}


@dataclass(frozen=True)
class Comparison:
    """One metric against its baseline. gate: None if it is only listed. low, high: interval of current / baseline.

    replications: how many would decide, if undecided and any number would.
    """

    metric: str
    unit: str
    baseline: float
    current: float | None
    ratio: float | None
    low: float | None
    high: float | None
    gate: Gate | None
    verdict: Verdict | None
    replications: int | None = None


@dataclass(frozen=True)
class Checked:
    """One baseline, checked: metrics, fresh run, and how the scenario differs from the recorded one."""

    path: Path
    baseline: Baseline
    result: Result
    comparisons: tuple[Comparison, ...]
    scenario_changes: tuple[str, ...]

    @property
    def verdict(self) -> Verdict:
        """Changed if any metric is, else undecided if any gated one is."""
        found = {comparison.verdict for comparison in self.comparisons}
        for verdict in (Verdict.CHANGED, Verdict.UNDECIDED):
            if verdict in found:
                return verdict
        return Verdict.EQUIVALENT


def fresh_seed(baseline: Baseline) -> int:
    """A seed that the baseline was not made with, the same in every check of it.

    Derived, so that unchanged code gives the same verdict each time and a pipeline does not flicker.
    """
    text = f"check of {baseline.digest} made with seed {baseline.seed}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:7])


def load_all(paths: Sequence[Path]) -> list[Baseline]:
    """Read every baseline, or raise BaselineError about all that are bad."""
    baselines, problems = [], []
    for path in paths:
        try:
            baselines.append(read(path))
        except BaselineError as error:
            problems += error.problems
    if not paths:
        problems.append("no baseline given")
    if problems:
        raise BaselineError(problems)
    return baselines


def current_scenario(path: Path, baseline: Baseline, config_dir: Path | None) -> Scenario:
    """What the baseline's source gives today; the recorded scenario without a source."""
    if baseline.source is None:
        return baseline.recorded_scenario()
    from c4sim.configure import load_scenario

    try:
        return load_scenario(*baseline.source, config_dir=config_dir)
    except ScenarioError as error:
        raise BaselineError([f"{path}: source: {problem}" for problem in error.problems]) from None


def check_one(
    path: Path,
    baseline: Baseline,
    scenario: Scenario,
    *,
    workers: int = 1,
    seed: int | None = None,
    replications: int | None = None,
    progress: Progress | None = None,
    kernel: Kernel | None = None,
) -> Checked:
    """Run the scenario with a fresh seed and compare every metric with the baseline."""
    seed = fresh_seed(baseline) if seed is None else seed
    if seed == baseline.seed:
        raise BaselineError([f"{path}: seed: {seed} made the baseline; a check needs another one"])
    count = replications or baseline.check_replications
    result = simulate(scenario, count, seed, workers=workers, progress=progress, kernel=kernel)
    changes = differences(baseline.recorded_scenario().as_document(), scenario.as_document())
    told = tuple(line for line in changes if not line.startswith("provenance."))
    return Checked(path, baseline, result, compare_metrics(baseline, result), told)


def compare_metrics(baseline: Baseline, result: Result) -> tuple[Comparison, ...]:
    """Every metric of the baseline beside that of the result, gated ones first."""
    gates = {gate.metric: gate for gate in baseline.gates}
    values = metric_values(result)
    order = [*gates, *(name for name in baseline.metrics if name not in gates)]
    return tuple(_compare(name, baseline, values.get(name), gates.get(name)) for name in order)


def metric_values(result: Result) -> dict[str, FloatArray]:
    """Pseudo-values of every metric that has them."""
    definitions = result.kernel.definitions(result.scenario)
    found = {name: result.totals.values(definition) for name, definition in definitions.items()}
    return {name: values for name, values in found.items() if values is not None}


def _compare(name: str, baseline: Baseline, values: FloatArray | None, gate: Gate | None) -> Comparison:
    entry, before = baseline.metrics[name], baseline.moments(name)
    if values is None:
        return Comparison(name, entry.unit, entry.mean, None, None, None, None, gate, Verdict.CHANGED if gate else None)
    now = Moments.of(values)
    test = equivalence_test(before, now, gate.margin if gate else DEFAULT_MARGIN)
    ratio, low, high = None, None, None
    if test.ratio is not None:
        ratio, low, high = test.ratio.value, test.ratio.low, test.ratio.high
    verdict, needed = None, None
    if entry.variance == 0.0:
        verdict = _constant_verdict(before, now, values)
    elif gate is not None:
        verdict, needed = _VERDICTS[test.decision], test.replications
    return Comparison(name, entry.unit, entry.mean, now.mean, ratio, low, high, gate, verdict, needed)


def _constant_verdict(before: Moments, now: Moments, values: FloatArray) -> Verdict:
    """A constant must keep its value (to rounding); one that now varies is judged by how many replications differ.

    k of n differ now and none of the baseline's m did. If nothing changed, all k fall among the n with probability
    C(n, k) / C(n + m, k) (Fisher's exact test): a rare event that the baseline happened not to hold is no change.
    """
    different = sum(1 for value in values.tolist() if not math.isclose(value, before.mean, rel_tol=1e-9))
    chance = math.exp(_log_choose(now.n, different) - _log_choose(now.n + before.n, different))
    return Verdict.CHANGED if chance <= RARE else Verdict.EQUIVALENT


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
