"""How much work should lie between two saves? Closed forms beside simulation on common random numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from c4sim.experiment import Result, Value, simulate
from c4sim.scenario import Problem, Scenario, ScenarioError
from c4sim.studies.checkpoint_model import CheckpointModel, checkpoint_model
from c4sim.theory import intervals as theory

FLAT = 0.01
_FACTORS = (0.25, 0.35, 0.5, 0.6, 0.7, 0.85, 1.0, 1.2, 1.4, 1.7, 2.0, 2.8, 4.0)
_FAILURES = 48_000.0  # of all replications together, for each interval
_FITTED = math.log(2.2)  # a cubic in log tau follows efficiency that far from its top to a few parts in 10,000
_STANDING = ("detection_s", "isolation_s", "spare_wait_s", "restart_s")


@dataclass(frozen=True)
class IntervalTried:
    """One interval, s: share of wall time that is kept work, simulated, and in closed form (None where none holds)."""

    interval: float
    simulated: Value
    closed_form: float | None

    def as_document(self) -> dict[str, Any]:
        """Plain data for JSON."""
        value = self.simulated
        return {
            "interval_s": self.interval,
            "closed_form": self.closed_form,
            "simulated": {"mean": value.mean, "low": value.low, "high": value.high},
        }


@dataclass(frozen=True)
class CheckpointPlan:
    """Best work between saves, s (not from start to start: that is the interval and the save).

    exact, young, daly: closed forms for the cost of a save and the MTBF. simulated_best: top of the simulated
    efficiencies, smoothed. flat_region: intervals whose efficiency is at most 1 % below the best. efficiency_at:
    simulated, on the same random numbers. tried: all intervals that were simulated, ascending. down_s: mean time that
    the job stands still per failure, from the simulation. needs: per tier, see TierNeed.
    """

    model: CheckpointModel
    simulated_best: float
    flat_region: tuple[float, float]
    simulated_flat_region: tuple[float, float]
    efficiency_at: dict[str, float | None]
    closed_form_at: dict[str, float | None]
    tried: tuple[IntervalTried, ...]
    down_s: float
    window_s: float
    replications: int
    seed: int
    warnings: tuple[str, ...]

    def as_document(self) -> dict[str, Any]:
        """Plain data for JSON."""
        model = self.model
        return {
            "exact_s": model.exact,
            "young_s": model.young,
            "daly_s": model.daly,
            "simulated_best_s": self.simulated_best,
            "flat_region_s": list(self.flat_region),
            "simulated_flat_region_s": list(self.simulated_flat_region),
            "efficiency_at": self.efficiency_at,
            "closed_form_at": self.closed_form_at,
            "cost_of_a_save_s": model.cost,
            "mtbf_s": model.mtbf,
            "down_per_failure_s": self.down_s,
            "intervals": [tried.as_document() for tried in self.tried],
            "tiers": [
                {
                    "name": need.name,
                    "every": need.every,
                    "interval_s": self.simulated_best * need.every,
                    "cost_s": need.cost,
                    "mtbf_s": need.mtbf,
                    "exact_s": need.exact,
                }
                for need in model.needs
            ],
            "window_s": self.window_s,
            "replications": self.replications,
            "seed": self.seed,
            "warnings": list(self.warnings),
        }


def plan_checkpoint(
    scenario: Scenario,
    intervals: Sequence[float] | None = None,
    *,
    replications: int = 16,
    seed: int = 0,
    workers: int = 1,
) -> CheckpointPlan:
    """Best interval of a scenario in closed form and by simulation.

    intervals: those to simulate beside Young's, Daly's and the exact one, s; by default a quarter to four times the
    exact one. The simulation is the scenario as it stands, but for its interval, horizon, work and warm-up: all
    intervals see the same faults, some 48,000 of them.

    Raises ScenarioError when nothing fails, a save costs nothing, or an interval is not above 0.
    """
    bad = [x for x in intervals or () if not (math.isfinite(x) and x > 0.0)]
    if bad:
        raise ScenarioError([Problem("intervals", "must be longer than 0", x) for x in bad])
    model = checkpoint_model(scenario)
    window = _FAILURES / replications * model.mtbf
    found: dict[float, Result] = {}

    def run(interval: float) -> Result:
        if interval not in found:
            found[interval] = simulate(_at(scenario, interval, window), replications, seed, workers=workers)
        return found[interval]

    named = {"exact": model.exact, "young": model.young, "daly": model.daly}
    grid = list(intervals or (factor * model.exact for factor in _FACTORS))
    best = _search(lambda interval: _kept(run(interval)), [*grid, *named.values()])
    named["simulated_best"] = best
    efficiency_at = {name: run(interval).metrics["ettr"].mean for name, interval in named.items()}
    down = _down(run(model.exact))
    tried = tuple(
        IntervalTried(interval, result.metrics["ettr"], model.efficiency(interval, down))
        for interval, result in sorted(found.items())
    )
    simulated_flat = _flat_region([(t.interval, t.simulated.mean or 0.0) for t in tried])
    return CheckpointPlan(
        model,
        best,
        theory.flat_region(model.cost, model.mtbf, FLAT) if model.closed else simulated_flat,
        simulated_flat,
        efficiency_at,
        {name: model.efficiency(interval, down) for name, interval in named.items()},
        tried,
        down,
        window,
        replications,
        seed,
        tuple(_warnings(model, best, [t.interval for t in tried])),
    )


def _at(scenario: Scenario, interval: float, window: float) -> Scenario:
    checkpoint = scenario.checkpoint.model_copy(update={"interval": interval})
    return scenario.model_copy(update={"checkpoint": checkpoint, "horizon": window, "work": None, "warmup": 0.0})


def _kept(result: Result) -> float:
    return result.metrics["ettr"].mean or 0.0


def _down(result: Result) -> float:
    standing = sum(float(result.totals.column(name).sum()) for name in _STANDING)
    return standing / max(float(result.totals.column("failures").sum()), 1.0)


def _search(kept: Callable[[float], float], grid: Sequence[float]) -> float:
    """The top of `kept` over the grid, which grows while its best point is its last one on either side."""
    points = {interval: kept(interval) for interval in sorted(set(grid))}
    for _ in range(6):
        top = max(points, key=points.__getitem__)
        if top == min(points):
            further = top / 2.0
        elif top == max(points):
            further = top * 2.0
        else:
            break
        points[further] = kept(further)
    return _top(sorted(points.items()))


def _top(points: Sequence[tuple[float, float]]) -> float:
    """Where a cubic in log tau through the points around the best one is greatest.

    The top is flat: the best point itself is often a neighbour of it that was lucky.
    """
    best = max(points, key=lambda point: point[1])[0]
    near = [(math.log(x / best), y) for x, y in points if abs(math.log(x / best)) <= _FITTED]
    if len(near) < 5:
        return best
    x, y = np.array(near).T
    fine = np.linspace(x[0], x[-1], 2001)
    return best * math.exp(float(fine[np.polyval(np.polyfit(x, y, 3), fine).argmax()]))


def _flat_region(points: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Between which intervals efficiency stays within FLAT of the best, interpolated in log tau; at most the range."""
    x = np.log([interval for interval, _ in points])
    y = np.array([kept for _, kept in points])
    enough = (1.0 - FLAT) * y.max()
    good = np.flatnonzero(y >= enough)
    ends = []
    for inside, outside in ((good[0], good[0] - 1), (good[-1], good[-1] + 1)):
        if not 0 <= outside < len(x):
            ends.append(math.exp(x[inside]))
            continue
        share = (enough - y[outside]) / (y[inside] - y[outside])
        ends.append(math.exp(x[outside] + share * (x[inside] - x[outside])))
    return ends[0], ends[1]


def _warnings(model: CheckpointModel, best: float, tried: Sequence[float]) -> Iterator[str]:
    yield from model.notes
    daly = theory.daly_warning(model.cost, model.mtbf)
    if daly:
        yield daly
    for tier in model.tiers:
        if tier.persist > model.exact * tier.every:
            yield (
                f"a save to {tier.name} takes {tier.persist:g} s to be durable, longer than the interval that the "
                "closed forms give: they do not know of overruns"
            )
    if best in (min(tried), max(tried)):
        yield f"the simulated best ({best:.0f} s) is the last interval tried on its side"
