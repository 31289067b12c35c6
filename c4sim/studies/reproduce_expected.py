"""Long-run shares of a C4 scenario in closed form: what the simulation of endless months would give.

They share no code with the simulator. A month that starts healthy falls short of them by `deficit`.
"""

import math
from dataclasses import dataclass

from c4sim.distributions import law_of
from c4sim.faults.places import Topology
from c4sim.faults.rates import event_rate
from c4sim.scenario import Scenario
from c4sim.scenario.faults import FaultClass
from c4sim.scenario.values import LawSpec
from c4sim.theory.availability import downtime_deficit, downtime_share_sd
from c4sim.theory.calibration import long_run_shares
from c4sim.theory.segments import efficiency


@dataclass(frozen=True)
class Expected:
    """Shares of wall time by phase, their sum, and what a finite month makes of them.

    stall: saves, beside the total. failures: a month. deficit: by how much a month that starts healthy falls short; sd:
    standard deviation of one month's total.
    """

    mtbf_s: float
    phases: dict[str, float]
    total: float
    stall: float
    failures: float
    deficit: float
    sd: float


@dataclass(frozen=True)
class _Isolation:
    mean: float
    variance: float


def expected(scenario: Scenario) -> Expected:
    """Closed form of a scenario of hanging, exponential classes on the operating clock with spares enough.

    Detection and restart are taken by their means; isolation is the mixture of C4D (confined faults) and people.

    Source: renewal reward (Ross, Stochastic Processes, theorem 3.6.1) over failures.
    """
    rates = _rates(scenario)
    mtbf = 1.0 / sum(rates.values())
    isolation = _isolation(scenario, rates)
    stopped = {
        "detection": law_of(scenario.detection.delay).mean,
        "isolation": isolation.mean,
        "restart": law_of(scenario.restart.duration).mean,
    }
    interval, write = scenario.checkpoint.interval, scenario.checkpoint.write or 0.0
    assert isinstance(interval, float)
    phases = long_run_shares(mtbf, interval + write, stopped)
    down, horizon, total = sum(stopped.values()), scenario.horizon or math.inf, sum(phases.values())
    kept = efficiency(interval, write, mtbf, stopped["detection"], isolation.mean + stopped["restart"])
    return Expected(
        mtbf_s=mtbf,
        phases=phases,
        total=total,
        stall=1.0 - total - kept,
        failures=horizon / (mtbf + down),
        deficit=downtime_deficit(mtbf, down, math.sqrt(isolation.variance) / down, horizon),
        sd=downtime_share_sd(mtbf, interval + write, down, isolation.variance, horizon),
    )


def _rates(scenario: Scenario) -> dict[str, float]:
    topology = Topology.of(scenario)
    return {name: event_rate(fault, topology) for name, fault in scenario.faults.items()}


def _isolation(scenario: Scenario, rates: dict[str, float]) -> _Isolation:
    """Mean and variance of an isolation over the causes and over who finds the node."""
    parts = [
        (weight * rates[name] / sum(rates.values()), law_of(delay).mean, delay.cv or 0.0)
        for name, fault in scenario.faults.items()
        for weight, delay in _searches(scenario, name, fault)
    ]
    mean = sum(part * own for part, own, _ in parts)
    variance = sum(part * ((own - mean) ** 2 + (cv * own) ** 2) for part, own, cv in parts)
    return _Isolation(mean, variance)


def _searches(scenario: Scenario, name: str, fault: FaultClass) -> list[tuple[float, LawSpec]]:
    """(share, delay) of the faults of a class that C4D names, and of those that people search for."""
    spec = scenario.isolation
    people = (spec.by_cause or {}).get(name, spec.delay)
    if spec.automatic is None:
        return [(1.0, people)]
    named = fault.confined * spec.automatic.names_node
    return [(named, spec.automatic.delay), (1.0 - named, people)]
