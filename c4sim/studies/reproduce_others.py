"""What if the assumptions were others? Both months under each, beside the shipped ones, on common random numbers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from c4sim.estimate import Estimate, mean_interval, paired_difference
from c4sim.experiment.variation import vary
from c4sim.scenario import Scenario
from c4sim.studies import reproduce_record as record
from c4sim.studies.reproduce_batch import Results, values
from c4sim.studies.reproduce_expected import expected

METRIC = "downtime_fraction"


@dataclass(frozen=True)
class Other:
    """One month under one other assumption: its downtime, and the difference from the month as shipped (paired)."""

    assumption: str
    month: str
    downtime: Estimate
    difference: Estimate


def alternatives(scenario: Scenario) -> dict[str, Scenario]:
    """The scenario under each other assumption; for June the mix keeps each cause's isolation share as published."""
    changes: dict[str, dict[str, Any]] = {
        "mix of causes of the 4,096-GPU job": _other_mix(scenario),
        "confined share by cause (secondary source)": {
            f"faults.{cause}.confined": share for cause, share in record.CONFINED_SECONDARY.items()
        },
        "isolation by people takes always as long": {
            "isolation.delay": f"{scenario.isolation.delay.mean!r}s",
        },
        "isolation by people, cv 2": {"isolation.delay.cv": 2.0},
        "repair takes 12 h": {"repair.duration": "12h"},
        "repair takes 8 d": {"repair.duration": "8d"},
        "no spares": {"spares.per_pool": 0},
        "spares without end": {"spares.per_pool": "unlimited"},
        "a write takes 1 s": {"checkpoint.write": "1s"},
        "a write takes 25 s": {"checkpoint.write": "25s"},
        "a job that restarts can fail too": _clock(scenario, "restart"),
        "a stopped job can fail too": _clock(scenario, "calendar"),
    }
    return {name: vary(scenario, change) for name, change in changes.items()}


def _clock(scenario: Scenario, clock: str) -> dict[str, Any]:
    return {f"faults.{cause}.clock": clock for cause in scenario.faults}


def _other_mix(scenario: Scenario) -> dict[str, Any]:
    """The other job's shares of failures at the same rate.

    Where people find every fault (June), a cause's mean isolation follows from its published share of isolation.
    """
    mtbf = expected(scenario).mtbf_s
    shares = record.CAUSES_4096
    changes: dict[str, Any] = {f"faults.{cause}.mtbf": f"{mtbf / share!r}s per job" for cause, share in shares.items()}
    if scenario.isolation.automatic is None:
        people = scenario.isolation.delay
        law, mean = people.model_dump(exclude_none=True, mode="json"), people.mean or 0.0
        changes["isolation.by_cause"] = {
            cause: law | {"mean": f"{mean * part / shares[cause]!r}s"} for cause, part in record.june_mix().items()
        }
    return changes


def others(months: Mapping[str, Scenario], results: Results, replications: int) -> tuple[Other, ...]:
    """Every alternative of every month, from a batch that holds them."""
    rows = []
    for month, scenario in months.items():
        base = values(results.of(scenario, replications), METRIC)
        for assumption, other in alternatives(scenario).items():
            downtime = values(results.of(other, replications), METRIC)
            rows.append(Other(assumption, month, mean_interval(downtime), paired_difference(base, downtime)))
    return tuple(rows)
