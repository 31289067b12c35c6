"""Who earned what between June and December: Shapley shares of four levers over all sixteen combinations.

Source: Shapley, "A value for n-person games" (1953): a lever's share is what it adds, averaged over all orders in which
the levers could have been pulled. The shares add up to the whole gain, whatever the levers do to each other.
"""

import itertools
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from c4sim.estimate import Estimate, mean_interval
from c4sim.experiment.tables import FloatArray
from c4sim.scenario import Scenario, validate
from c4sim.studies.reproduce_batch import Results, values

METRIC = "downtime_fraction"
# Lever -> the section of the scenario that it stands in; June and December differ in no other.
LEVERS = {
    "checkpoint interval": "checkpoint",
    "detection": "detection",
    "isolation": "isolation",
    "fault rate": "faults",
}
Pulled = frozenset[str]


@dataclass(frozen=True)
class Lever:
    """What a lever earned, as shares of wall time, with 95 % intervals over replications.

    shapley: its share of the gain; part: of the whole. first: earned when it alone is pulled in June; last: earned when
    it is the last to be pulled.
    """

    name: str
    shapley: Estimate
    part: float
    first: Estimate
    last: Estimate


@dataclass(frozen=True)
class Levers:
    """The gain from June to December and what each lever earned of it; totals: downtime of every combination."""

    gain: Estimate
    levers: tuple[Lever, ...]
    totals: Mapping[Pulled, Estimate]


def subsets(names: Collection[str]) -> list[Pulled]:
    """All subsets, smaller ones first."""
    return [frozenset(group) for size in range(len(names) + 1) for group in itertools.combinations(names, size)]


def combinations(before: Scenario, after: Scenario) -> dict[Pulled, Scenario]:
    """`before` with every set of levers at their values of `after`."""
    return {pulled: _pull(before, after, pulled) for pulled in subsets(LEVERS)}


def _pull(before: Scenario, after: Scenario, pulled: Pulled) -> Scenario:
    old, new = before.as_document(), after.as_document()
    sections = [LEVERS[name] for name in pulled]
    provenance = {
        key: origin
        for document, mine in ((old, False), (new, True))
        for key, origin in document["provenance"].items()
        if (key.partition(".")[0] in sections) == mine
    }
    changed = {section: new[section] for section in sections}
    name = " + ".join([before.name, *(lever for lever in LEVERS if lever in pulled)])
    return validate(old | changed | {"name": name, "provenance": provenance})


def shapley(worth: Mapping[Pulled, FloatArray], names: Sequence[str]) -> dict[str, FloatArray]:
    """Each name's Shapley value from the worth of every subset, replication by replication.

    ``sum over S without i of |S|! (n - |S| - 1)! / n! (v(S + i) - v(S))``.
    """
    n = len(names)
    found = {}
    for name in names:
        others = [other for other in names if other != name]
        found[name] = np.zeros_like(worth[frozenset()])
        for group in subsets(others):
            weight = math.factorial(len(group)) * math.factorial(n - len(group) - 1) / math.factorial(n)
            found[name] += weight * (worth[group | {name}] - worth[group])
    return found


def levers(before: Scenario, after: Scenario, results: Results, replications: int) -> Levers:
    """What each lever earned, from a batch that holds all combinations."""
    downtime = {
        pulled: values(results.of(scenario, replications), METRIC)
        for pulled, scenario in combinations(before, after).items()
    }
    nothing, everything = frozenset[str](), frozenset(LEVERS)
    worth = {pulled: downtime[nothing] - rows for pulled, rows in downtime.items()}
    gain = mean_interval(worth[everything])
    shares = shapley(worth, list(LEVERS))
    rows = [
        Lever(
            name,
            mean_interval(shares[name]),
            float(shares[name].mean()) / gain.value,
            mean_interval(worth[frozenset({name})]),
            mean_interval(worth[everything] - worth[everything - {name}]),
        )
        for name in LEVERS
    ]
    return Levers(gain, tuple(rows), {pulled: mean_interval(rows) for pulled, rows in downtime.items()})
