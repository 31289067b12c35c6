"""The calibration in the open: five means from June's four shares and the factor 33, for both readings of the rate.

Nothing is fitted to December: its phases and its total are predicted from the published changes, and its assumed inputs
are the geometric means of ranges fixed beforehand.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from c4sim.configure import load_scenario
from c4sim.experiment.variation import value_at, vary
from c4sim.scenario import Scenario
from c4sim.studies import reproduce_record as record
from c4sim.studies.reproduce_expected import Expected, expected
from c4sim.theory.calibration import Calibration, LaterMonth, MonthShares, Reading, calibrate

SCENARIOS: Mapping[Reading, tuple[str, str]] = {
    "operating": ("c4_june2023", "c4_dec2023"),
    "calendar": ("c4_june2023_calendar", "c4_dec2023_calendar"),
}
WRITE_S = 5.0
# The published total, less the lost work: December's job does not operate in this share of the month.
DECEMBER_STOPPED = record.DECEMBER.total - (record.DECEMBER.phases["lost_work"] or 0.0)
_FIXED_POINT = 1e-12


@dataclass(frozen=True)
class Origin:
    """One input of a scenario: its value as written, and where it comes from."""

    key: str
    value: Any
    kind: str
    range: tuple[str | float, str | float] | None
    source: str | None
    note: str | None


@dataclass(frozen=True)
class CalibrationStudy:
    """means: of June by reading, s and failures a month. shipped: the same as the configuration files hold them.

    expected: closed-form shares by scenario name. shifts: the operating reading under other treatments of what is
    small. provenance: inputs by scenario name.
    """

    means: Mapping[str, Calibration]
    shipped: Mapping[str, dict[str, float]]
    expected: Mapping[str, Expected]
    shifts: Mapping[str, Calibration]
    provenance: Mapping[str, tuple[Origin, ...]]

    def as_document(self) -> dict[str, Any]:
        """Plain data for JSON: times in s, shares as fractions."""
        return {
            "means": {name: asdict(means) for name, means in self.means.items()},
            "shipped": {name: dict(values) for name, values in self.shipped.items()},
            "expected": {name: asdict(shares) for name, shares in self.expected.items()},
            "shifts": {name: asdict(means) for name, means in self.shifts.items()},
            "provenance": {name: [asdict(origin) for origin in rows] for name, rows in self.provenance.items()},
        }


def solve(reading: Reading, *, write_s: float = 0.0, december_stopped: float = DECEMBER_STOPPED) -> Calibration:
    """The means of June that give back its published shares, in s, and the rates of June and December.

    write_s: stall of December's saves, by which its cycle is longer than its ten minutes. december_stopped: share of
    December in which the job did not operate.
    """
    phases = {name: share or 0.0 for name, share in record.JUNE.phases.items()}
    later = LaterMonth(
        record.LOST_WORK_FACTOR, record.RATE_FACTOR, record.DECEMBER_INTERVAL_S, write_s, december_stopped
    )
    return calibrate(MonthShares(**phases), later, record.MONTH_S, reading)


def study() -> CalibrationStudy:
    """Solve both readings, compare them with the shipped scenarios, and predict December in closed form."""
    scenarios = {name: load_scenario(name) for pair in SCENARIOS.values() for name in pair}
    scenarios["c4_4096"] = load_scenario("c4_4096")
    return CalibrationStudy(
        means={reading: solve(reading) for reading in SCENARIOS},
        shipped={name: shipped_means(scenario) for name, scenario in scenarios.items()},
        expected={name: expected(scenario) for name, scenario in scenarios.items()},
        shifts={
            "as shipped": solve("operating"),
            "with the stall of saves": solve("operating", write_s=WRITE_S),
            "without December's exposure": solve("operating", december_stopped=0.0),
            "with December's predicted exposure": _without_circle(scenarios["c4_dec2023"]),
        },
        provenance={name: origins(scenario) for name, scenario in scenarios.items()},
    )


def shipped_means(scenario: Scenario) -> dict[str, float]:
    """Operating MTBF, checkpoint interval and mean delays that a scenario holds, s."""
    interval, delays = scenario.checkpoint.interval, (scenario.isolation.delay, scenario.restart.duration)
    assert isinstance(interval, float)
    return {
        "mtbf": expected(scenario).mtbf_s,
        "cycle": interval,
        "detection": scenario.detection.delay.mean or 0.0,
        "isolation": delays[0].mean or 0.0,
        "restart": delays[1].mean or 0.0,
    }


def origins(scenario: Scenario) -> tuple[Origin, ...]:
    """Every input with a provenance, in the order of the scenario's keys."""
    found = []
    for key, origin in scenario.provenance.items():
        value = value_at(scenario, key)
        found.append(Origin(key, value, origin.kind, origin.range, origin.source, origin.note))
    order = list(scenario.as_document())
    return tuple(sorted(found, key=lambda row: order.index(row.key.partition(".")[0])))


def _without_circle(december: Scenario) -> Calibration:
    """The calibration with December's own predicted exposure in place of the one from its published total.

    A higher rate stops the job for longer, which lowers the exposure: solved by repetition.
    """
    stopped, before = DECEMBER_STOPPED, 1.0
    while abs(stopped - before) > _FIXED_POINT:
        found = solve("operating", december_stopped=stopped)
        changes = {
            f"faults.{cause}.mtbf": f"{found.later_mtbf / share!r}s per job"
            for cause, share in record.june_mix().items()
        }
        phases = expected(vary(december, changes | {"restart.duration": f"{found.restart!r}s"})).phases
        before, stopped = stopped, sum(phases.values()) - phases["lost_work"]
    return found
