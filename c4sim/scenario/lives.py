"""How many faults a run may hold, estimated before it runs: rates, multipliers, and the early deaths of new units."""

import math
from bisect import bisect_right
from collections.abc import Callable

from c4sim.scenario.faults import FaultClass, Temperature
from c4sim.scenario.model import Scenario
from c4sim.scenario.values import weibull_cv

BOLTZMANN_EV_PER_K = 8.617333262e-5  # CODATA 2018
ZERO_CELSIUS_K = 273.15

_STEP = 0.25
_SHARES = [math.exp(-_STEP * k) for k in range(2_800)]  # of the window, down to 1e-304 of it
_SHAPES = [0.05 * 1.02**k for k in range(466)]  # to 500
_NEGLIGIBLE = 1e-4
_PER_NODE = ("gpu", "link", "node")

Survival = Callable[[float], float]


def log_arrhenius(temperature: Temperature, celsius: float) -> float:
    """Logarithm of the rate at `celsius` over the rate at the reference: Ea / k (1 / T_ref - 1 / T) (JEDEC JESD91)."""
    kelvin = temperature.reference_celsius + ZERO_CELSIUS_K, celsius + ZERO_CELSIUS_K
    return temperature.activation_energy_ev / BOLTZMANN_EV_PER_K * (1.0 / kelvin[0] - 1.0 / kelvin[1])


def places(s: Scenario, scope: str) -> int:
    """Places of `scope` in the job."""
    if scope in _PER_NODE:
        return s.job.nodes * _inside(s, scope)
    racks = math.ceil(s.job.nodes / s.cluster.nodes_per_rack)
    wide = {"switch": racks, "rack": racks, "power": math.ceil(racks / s.cluster.racks_per_power_domain)}
    return wide.get(scope, 1)


def most_expected(s: Scenario, fault: FaultClass) -> float:
    """A bound of the expected faults of a class in the run, if its clock always ticked and its rate stayed highest.

    Laws with an age start new: m(t) + 1 <= 2 t / E[min(X, t)] for each renewal process (Erickson, Annals of
    Probability 1 (1973) 652, inequality 1.5), where X is the first life among the units that are renewed together.
    """
    rate = _written_rate(s, fault)
    time = (s.horizon or s.work or 0.0) * _highest_factor(s, fault)
    if fault.law == "exponential" or not 0.0 < rate * time < math.inf:
        return rate * time
    together = _inside(s, fault.scope) if fault.scope in _PER_NODE and fault.renewal == "as_new" else 1
    mean = places(s, fault.scope) / rate
    first = time * _truncated_share(_survival(fault, mean), together, time)
    renewals = 2.0 * time / first - 1.0 if first > 0.0 else math.inf
    return max(rate * time, places(s, fault.scope) / together * renewals)


def _inside(s: Scenario, scope: str) -> int:
    return {"gpu": s.job.gpus_per_node, "link": s.job.links_per_node}.get(scope, 1)


def _written_rate(s: Scenario, fault: FaultClass) -> float:
    """Events per second of the whole job, if each hit one unit."""
    if fault.values is not None:
        return places(s, fault.scope) * len(fault.values) / math.fsum(fault.values)
    if fault.mtbf is not None:
        return places(s, fault.mtbf.scope) / fault.mtbf.seconds
    return 0.0 if fault.rate is None else places(s, fault.rate.scope) * fault.rate.per_second


def _highest_factor(s: Scenario, fault: FaultClass) -> float:
    factor = 1.0
    if fault.temperature is not None:
        warmest = max(log_arrhenius(fault.temperature, celsius) for celsius in fault.temperature.celsius)
        factor *= math.exp(min(warmest, 700.0))
    if fault.reinforcement is not None:
        factor *= max(1.0, 1.0 / fault.reinforcement.factor)
    if s.cluster.lemons is not None and fault.scope in _PER_NODE:
        factor *= 1.0 + s.cluster.lemons.share * (s.cluster.lemons.multiplier - 1.0)
    return factor


def _truncated_share(survival: Survival, together: int, time: float) -> float:
    """E[min(X, time)] / time of the first of `together` lives, integrated over the logarithm of the age."""
    total = 0.0
    for share in _SHARES:
        total += share * survival(time * share) ** together
        if share < _NEGLIGIBLE * total:
            break
    return total * _STEP


def _survival(fault: FaultClass, mean: float) -> Survival:
    """P(life > x)."""
    if fault.law == "empirical":
        lives = sorted(fault.values or ())
        stretch = mean * len(lives) / math.fsum(lives)
        return lambda x: 1.0 - bisect_right(lives, x / stretch) / len(lives)
    if fault.law == "lognormal":
        variance = math.log1p((fault.cv or 0.0) ** 2)
        middle, width = math.log(mean) - 0.5 * variance, math.sqrt(2.0 * variance)
        return lambda x: 0.5 * math.erfc((math.log(x) - middle) / width) if x > 0.0 else 1.0
    if fault.law == "weibull":
        shape = fault.shape or next((k for k in _SHAPES if weibull_cv(k) <= (fault.cv or 0.0)), _SHAPES[-1])
        scale = mean / math.gamma(1.0 + 1.0 / shape)
        return lambda x: math.exp(-((x / scale) ** shape))
    from scipy.special import gammaincc

    k = fault.shape or (fault.cv or 1.0) ** -2
    return lambda x: float(gammaincc(k, x * k / mean))
