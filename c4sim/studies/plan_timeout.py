"""Which limit should a watchdog have? Too long waits for every hang, too short kills jobs that only paused."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from c4sim.distributions import Law, law_of
from c4sim.estimate import Estimate, ratio_of_sums
from c4sim.experiment import Result, simulate
from c4sim.faults.places import Topology
from c4sim.faults.rates import event_rate
from c4sim.scenario import Problem, Scenario, ScenarioError
from c4sim.scenario.combinations import FALSE_ALARM
from c4sim.scenario.values import LawSpec
from c4sim.theory.segments import mean_lost_work

_SHORTEST, _LONGEST, _STEPS = 1.0, 86_400.0, 4_000
_TRIED = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 4.0)
_FLAT = 1.01


@dataclass(frozen=True)
class LimitCost:
    """One limit, s: time lost per operating time, in closed form and simulated."""

    limit: float
    closed_form: float
    simulated: Estimate


@dataclass(frozen=True)
class TimeoutPlan:
    """Best limit of the watchdog that `detection.delay` stands for.

    best: minimum of the closed form, s. simulated_best: of the limits that were simulated, the one of least cost, s.
    flat_region: limits, s, that cost at most 1 % more than the best. false_alarms_per_day: at the best limit, per day
    of operation.
    """

    best: float
    simulated_best: float
    flat_region: tuple[float, float]
    hangs_per_day: float
    false_alarms_per_day: float
    tried: tuple[LimitCost, ...]
    replications: int
    seed: int
    warnings: tuple[str, ...]

    def as_document(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "best_s": self.best,
            "simulated_best_s": self.simulated_best,
            "flat_region_s": list(self.flat_region),
            "hangs_per_day": self.hangs_per_day,
            "false_alarms_per_day": self.false_alarms_per_day,
            "limits": [
                {
                    "limit_s": cost.limit,
                    "closed_form": cost.closed_form,
                    "simulated": {
                        "mean": cost.simulated.value,
                        "low": cost.simulated.low,
                        "high": cost.simulated.high,
                    },
                }
                for cost in self.tried
            ],
            "replications": self.replications,
            "seed": self.seed,
            "warnings": list(self.warnings),
        }


@dataclass(frozen=True)
class TimeoutModel:
    """What the cost of a limit depends on. Rates are per second of operation, times s.

    hangs, others: rates of the classes that hang, and of those that stop the job without waiting for the watchdog.
    """

    hangs: float
    others: float
    pauses: float
    pause: Law
    restart: float
    cycle: float

    def false_alarms(self, limit: float) -> float:
        """Rate of pauses that outlast the limit."""
        return self.pauses * (1.0 - float(self.pause.cdf(np.array([limit]))[0]))

    def cost(self, limit: float) -> float:
        """Time lost per operating time: hangs wait T, false alarms cost a restart and unsaved work.

        `lam_hang T + lam_pause P(pause > T) (R + X)` with X the mean lost work at the job's whole failure rate.
        """
        alarms = self.false_alarms(limit)
        mtbf = 1.0 / (self.hangs + self.others + alarms)
        return self.hangs * limit + alarms * (self.restart + mean_lost_work(self.cycle, mtbf))


def timeout_model(scenario: Scenario) -> TimeoutModel:
    """The model of a scenario. Raises ScenarioError with everything that is missing for one."""
    topology = Topology.of(scenario)
    rates = {"hang": 0.0, "crash": 0.0}
    for fault in scenario.faults.values():
        if fault.effect in rates:
            rates[fault.effect] += event_rate(fault, topology)
    problems = list(_missing(scenario, rates["hang"]))
    if problems:
        raise ScenarioError(problems)
    pauses, interval = scenario.pauses, scenario.checkpoint.interval
    assert pauses is not None
    assert isinstance(interval, float)
    restart = law_of(scenario.restart.duration).mean + scenario.restart.per_node * scenario.job.nodes
    return TimeoutModel(
        hangs=rates["hang"],
        others=rates["crash"],
        pauses=pauses.rate.per_second,
        pause=law_of(LawSpec(law=pauses.law, mean=f"{pauses.mean!r}s", cv=pauses.cv)),  # type: ignore[arg-type]
        restart=restart + scenario.checkpoint.load,
        cycle=interval + (scenario.checkpoint.write or 0.0),
    )


def _missing(scenario: Scenario, hangs: float) -> Sequence[Problem]:
    problems = []
    if scenario.pauses is None:
        problems.append(
            Problem("pauses", "must be given ({rate, law, mean, cv}): without pauses the shortest limit is best")
        )
    if scenario.detection.layers is not None:
        problems.append(Problem("detection.layers", "must be null: the limit that is varied is detection.delay"))
    if not hangs > 0.0:
        problems.append(Problem("faults", "no class with effect=hang ever strikes: there is nothing to detect"))
    if not isinstance(scenario.checkpoint.interval, float):
        problems.append(Problem("checkpoint.interval", "must be a duration here", scenario.checkpoint.interval))
    if scenario.checkpoint.mode != "blocking" or scenario.checkpoint.tiers is not None:
        problems.append(Problem("checkpoint.mode", "must be blocking, without tiers", scenario.checkpoint.mode))
    return problems


def best_limit(model: TimeoutModel) -> tuple[float, tuple[float, float]]:
    """(best limit, s; its flat region: limits that cost at most 1 % more), from 1 s to 1 day.

    A fine grid even in the logarithm finds the basin (the cost can have a second, shallow one at 0), golden section the
    minimum in it.
    """
    from scipy.optimize import minimize_scalar

    grid = np.geomspace(_SHORTEST, _LONGEST, _STEPS)
    costs = np.array([model.cost(float(limit)) for limit in grid])
    least = int(costs.argmin())
    around = (float(grid[max(least - 1, 0)]), float(grid[min(least + 1, _STEPS - 1)]))
    found = minimize_scalar(model.cost, bounds=around, method="bounded")
    best = float(found.x) if found.fun <= costs[least] else float(grid[least])
    good = costs <= _FLAT * min(float(found.fun), float(costs[least]))
    low = high = least
    while low > 0 and good[low - 1]:
        low -= 1
    while high < _STEPS - 1 and good[high + 1]:
        high += 1
    return best, (float(grid[low]), float(grid[high]))


def plan_timeout(
    scenario: Scenario,
    limits: Sequence[float] | None = None,
    *,
    replications: int = 100,
    seed: int = 0,
    workers: int = 1,
) -> TimeoutPlan:
    """Best limit in closed form, and simulated costs of some limits on common random numbers.

    limits: those to simulate, s; by default a quarter to four times the best. The simulation is the scenario as it
    stands with `detection.delay` fixed at the limit; its cost is what the limit decides: detection, and restart and
    lost work of false alarms, per operating time.

    Raises ScenarioError when the scenario has no pauses, no hangs, or a chain of layers.
    """
    model = timeout_model(scenario)
    best, flat = best_limit(model)
    chosen = sorted(set(limits)) if limits else [best * factor for factor in _TRIED]
    run = partial(simulate, replications=replications, seed=seed, workers=workers)
    tried = tuple(
        LimitCost(limit, model.cost(limit), _simulated_cost(run(_with_limit(scenario, limit)))) for limit in chosen
    )
    winner = min(tried, key=lambda cost: cost.simulated.value)
    day = 86_400.0
    return TimeoutPlan(
        best,
        winner.limit,
        flat,
        model.hangs * day,
        model.false_alarms(best) * day,
        tried,
        replications,
        seed,
        tuple(_doubts(best, chosen, winner.limit)),
    )


def _with_limit(scenario: Scenario, limit: float) -> Scenario:
    delay = LawSpec(law="fixed", mean=f"{limit!r}s")  # type: ignore[arg-type]
    return scenario.model_copy(update={"detection": scenario.detection.model_copy(update={"delay": delay})})


def _simulated_cost(result: Result) -> Estimate:
    lost = ("detection_s", f"restart_s/{FALSE_ALARM}", f"lost_work_s/{FALSE_ALARM}")
    above = np.sum([result.totals.column(name) for name in lost], axis=0)
    estimate = ratio_of_sums(above, result.totals.column("operating_s"))
    return estimate if estimate is not None else Estimate(math.nan, None, None, result.n)


def _doubts(best: float, tried: Sequence[float], winner: float) -> list[str]:
    doubts = []
    if best in (_SHORTEST, _LONGEST):
        doubts.append(f"the best limit lies at the edge of what is searched ({_SHORTEST:g} s to {_LONGEST:g} s)")
    if winner in (min(tried), max(tried)) and len(tried) > 1:
        doubts.append(f"the simulated best ({winner:.0f} s) is the last limit tried on its side; try further ones")
    return doubts
