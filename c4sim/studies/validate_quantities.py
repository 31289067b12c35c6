"""Quantities that clusters publish, by name: every metric of the simulator, and some that only records have."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from c4sim.estimate import Estimate, mean_interval
from c4sim.experiment import Result
from c4sim.metrics import Metric, definitions
from c4sim.scenario import Problem, Scenario
from c4sim.scenario.checks import nearest
from c4sim.studies.validate_rules import Point

Floats = NDArray[np.float64]
DAY_S = 86_400.0
MONTH_S = 30 * DAY_S
_FEWEST_WINDOWS = 2


class Replays:
    """Times of the failures of every run, which totals do not hold: each result is replayed once."""

    def __init__(self) -> None:
        self._times: dict[tuple[str, int], list[list[float]]] = {}

    def failure_times(self, result: Result) -> list[list[float]]:
        """Times, s, of the faults that stopped the job, a list for every run."""
        key = (result.scenario.digest(), result.n)
        if key not in self._times:
            self._times[key] = [[incident.time for incident in ledger.incidents] for ledger in result.ledgers]
        return self._times[key]


@dataclass(frozen=True)
class Quantity:
    """A quantity: its unit, how a result gives it, and how a list of counts does (of those that are counted)."""

    unit: str
    point: Callable[[Result, "Replays"], Point]
    of_counts: Callable[[Floats], float] | None = None


def _faults(result: Result, _: Replays) -> Point:
    """Faults on the calendar: those that stopped the job and those that met it standing."""
    return _metric(result, Metric(("failures", "stopped_faults"), None, "1", ""))


def _calendar_mtbf(result: Result, _: Replays) -> Point:
    """Wall time per failure."""
    return _metric(result, Metric(("wall_s",), "failures", "s", ""))


def _unavailability(result: Result, _: Replays) -> Point:
    """Share of node time that nodes are away."""
    found = _metric(result, Metric(("node_down_s",), "wall_s", "1", ""))
    nodes, estimate = result.scenario.job.nodes, found.estimate
    low, high = (None if end is None else end / nodes for end in (estimate.low, estimate.high))
    return Point(Estimate(estimate.value / nodes, low, high, estimate.n), found.runs / nodes)


def _metric(result: Result, definition: Metric) -> Point:
    """A ratio of sums with its interval; the runs' own ratios where a run has a denominator."""
    value = result.totals.metric(definition)
    if value.mean is None:
        raise ValueError(f"is undefined in all {result.n} replications of {result.scenario.name}")
    top, bottom = result.totals.parts(definition)
    defined = bottom != 0.0
    own = top[defined] / bottom[defined]
    return Point(Estimate(value.mean, value.low, value.high, result.n), 1.0 - own if definition.complement else own)


def _counts(result: Result, replays: Replays, window: float) -> list[Floats]:
    """Failures in each whole window of every run."""
    windows = int((result.scenario.horizon or 0.0) / window * (1.0 + 1e-12))
    if windows < _FEWEST_WINDOWS:
        raise ValueError(f"needs a scenario whose horizon holds at least {_FEWEST_WINDOWS} windows of {window:g} s")
    edges = np.arange(windows + 1) * window
    return [np.histogram(run, edges)[0].astype(float) for run in replays.failure_times(result)]


def _per_window(window: float, statistic: Callable[[Floats], float]) -> Quantity:
    def point(result: Result, replays: Replays) -> Point:
        values = np.array([statistic(counts) for counts in _counts(result, replays, window)])
        return Point(mean_interval(values), values)

    return Quantity("1", point, statistic)


def empty_share(counts: Floats) -> float:
    """Share of windows without an event."""
    return float((counts == 0).mean())


def dispersion(counts: Floats) -> float:
    """Variance (n - 1) over mean of the counts; 1 for a run without events, as no event refutes Poisson."""
    mean = float(counts.mean())
    return float(counts.var(ddof=1)) / mean if mean > 0.0 else 1.0


def largest(counts: Floats) -> float:
    """Events in the window that has most."""
    return float(counts.max())


_SHARES = ("ettr", "goodput", "finished", "unavailability", "empty_days", "probability_job_has_nodes")
SPECIAL = {
    "faults": Quantity("1", _faults),
    "calendar_mtbf_s": Quantity("s", _calendar_mtbf),
    "unavailability": Quantity("1", _unavailability),
    "empty_days": _per_window(DAY_S, empty_share),
    "daily_dispersion": _per_window(DAY_S, dispersion),
    "busiest_day": _per_window(DAY_S, largest),
    "monthly_dispersion": _per_window(MONTH_S, dispersion),
}


def is_share(name: str) -> bool:
    """Whether a quantity is a share of a whole, to be shown in per cent."""
    return name in _SHARES or name.partition("/")[0].endswith(("_fraction", "_share"))


def quantity(name: str, scenario: Scenario) -> Quantity | Problem:
    """The quantity of that name in a scenario, or what is wrong with the name."""
    if name in SPECIAL:
        return SPECIAL[name]
    metrics = definitions(scenario)
    if name not in metrics:
        return Problem("quantity", "no such quantity" + nearest(name, [*SPECIAL, *metrics]), name)
    definition = metrics[name]
    return Quantity(definition.unit, lambda result, _: _metric(result, definition))
