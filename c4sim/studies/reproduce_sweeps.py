"""Three sweeps of June 2023: checkpoint interval, spares per pool, detection delay. Closed forms stand beside them."""

from collections.abc import Iterator
from dataclasses import dataclass

from c4sim.estimate import Estimate, mean_interval
from c4sim.experiment.variation import vary
from c4sim.scenario import Scenario
from c4sim.studies.reproduce_batch import Results, values
from c4sim.studies.reproduce_expected import expected
from c4sim.theory.intervals import daly_interval, exact_interval, young_interval

MINUTE, HOUR = 60.0, 3600.0
INTERVALS_S = (
    5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE, 45 * MINUTE, HOUR, 1.5 * HOUR, 2 * HOUR, 3 * HOUR, 4 * HOUR,
    6 * HOUR,
)  # fmt: skip
WRITES_S = (5.0, 30.0, 120.0)
SPARES = (0, 1, 2, 3, 4, 6, 8, 12, 16)
DELAYS_S = (10.0, 30.0, MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 20 * MINUTE, 30 * MINUTE, HOUR)
CURVE_POINTS = 61


@dataclass(frozen=True)
class SweepPoint:
    """series: label of the curve; x: value of the swept key (s, or spares); lost: downtime and stall of saves together.

    downtime: alone. closed_form: of `lost`, None where there is none.
    """

    series: str
    x: float
    lost: Estimate
    downtime: Estimate
    closed_form: float | None


@dataclass(frozen=True)
class Optimum:
    """Best intervals of one write time, s, and what is lost there in closed form."""

    write_s: float
    young_s: float
    daly_s: float
    exact_s: float
    lost: float


@dataclass(frozen=True)
class Sweep:
    """One sweep. curves: series -> (x, lost) of the closed form, to draw."""

    key: str
    points: tuple[SweepPoint, ...]
    curves: dict[str, tuple[tuple[float, float], ...]]


def sweep_scenarios(june: Scenario, december: Scenario) -> list[Scenario]:
    """Everything that the sweeps simulate."""
    return [scenario for _, _, scenario in (*_intervals(june), *_spares(june, december), *_delays(june))]


def interval_sweep(june: Scenario, results: Results, replications: int) -> Sweep:
    """Checkpoint interval from 5 min to 6 h at three write times."""
    points = tuple(_points(_intervals(june), results, replications, closed=True))
    curves = {
        _writes(write): tuple((x, _lost(_interval(june, x, write))) for x in _logspace(INTERVALS_S[0], INTERVALS_S[-1]))
        for write in WRITES_S
    }
    return Sweep("checkpoint.interval", points, curves)


def spares_sweep(june: Scenario, december: Scenario, results: Results, replications: int) -> Sweep:
    """Spares per pool from 0 to 16, for both months."""
    return Sweep("spares.per_pool", tuple(_points(_spares(june, december), results, replications, closed=False)), {})


def delay_sweep(june: Scenario, results: Results, replications: int) -> Sweep:
    """Detection delay from 10 s to 1 h."""
    points = tuple(_points(_delays(june), results, replications, closed=True))
    curve = tuple((x, _lost(_delay(june, x))) for x in _logspace(DELAYS_S[0], DELAYS_S[-1]))
    return Sweep("detection.delay", points, {"June 2023": curve})


def optima(june: Scenario) -> tuple[Optimum, ...]:
    """Young's, Daly's and the exact best interval for June's operating MTBF, by write time."""
    mtbf = expected(june).mtbf_s
    found = []
    for write in WRITES_S:
        best = exact_interval(write, mtbf)
        times = young_interval(write, mtbf), daly_interval(write, mtbf), best
        found.append(Optimum(write, *times, _lost(_interval(june, best, write))))
    return tuple(found)


Entry = tuple[str, float, Scenario]


def _intervals(june: Scenario) -> Iterator[Entry]:
    for write in WRITES_S:
        for interval in INTERVALS_S:
            yield _writes(write), interval, _interval(june, interval, write)


def _spares(june: Scenario, december: Scenario) -> Iterator[Entry]:
    for label, scenario in (("June 2023", june), ("December 2023", december)):
        for number in SPARES:
            yield label, float(number), vary(scenario, {"spares.per_pool": number})


def _delays(june: Scenario) -> Iterator[Entry]:
    for delay in DELAYS_S:
        yield "June 2023", delay, _delay(june, delay)


def _interval(june: Scenario, interval_s: float, write_s: float) -> Scenario:
    return vary(june, {"checkpoint.interval": f"{interval_s!r}s", "checkpoint.write": f"{write_s!r}s"})


def _delay(june: Scenario, delay_s: float) -> Scenario:
    return vary(june, {"detection.delay": f"{delay_s!r}s"})


def _points(entries: Iterator[Entry], results: Results, replications: int, *, closed: bool) -> Iterator[SweepPoint]:
    for series, x, scenario in entries:
        result = results.of(scenario, replications)
        lost = mean_interval(values(result, "downtime_fraction") + values(result, "checkpoint_stall_fraction"))
        downtime = mean_interval(values(result, "downtime_fraction"))
        yield SweepPoint(series, x, lost, downtime, _lost(scenario) if closed else None)


def _lost(scenario: Scenario) -> float:
    shares = expected(scenario)
    return shares.total + shares.stall


def _writes(write_s: float) -> str:
    return f"write {write_s:g} s"


def _logspace(low: float, high: float) -> list[float]:
    return [low * (high / low) ** (i / (CURVE_POINTS - 1)) for i in range(CURVE_POINTS)]
