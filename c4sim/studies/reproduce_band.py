"""December as a band: every corner of the ranges that its assumed inputs may lie in, on common random numbers."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from c4sim.estimate import Estimate, mean_interval, paired_difference
from c4sim.experiment.tables import FloatArray
from c4sim.experiment.variation import vary
from c4sim.scenario import Scenario
from c4sim.studies.reproduce_batch import Results, values
from c4sim.studies.reproduce_expected import expected
from c4sim.studies.sensitivity import assumed_ranges

METRIC = "downtime_fraction"


@dataclass(frozen=True)
class Corner:
    """One corner: the end taken for each input, what was simulated there, and the closed form."""

    ends: Mapping[str, Any]
    simulated: Estimate
    closed_form: float


@dataclass(frozen=True)
class Effect:
    """What one input does on average over all corners: its high end against its low end, paired."""

    name: str
    low: Any
    high: Any
    difference: Estimate


@dataclass(frozen=True)
class Band:
    """The lowest and the highest corner by the closed form, how far apart they are, and which inputs make the width.

    Both are simulated longer than the others, and chosen without looking at what was simulated.
    """

    low: Corner
    high: Corner
    corners: tuple[Corner, ...]
    effects: tuple[Effect, ...]

    @property
    def width(self) -> float:
        """From the lowest corner to the highest, as a share of time."""
        return self.high.simulated.value - self.low.simulated.value


Place = tuple[int, ...]


def corners(scenario: Scenario) -> dict[Place, Scenario]:
    """The scenario at every combination of low (0) and high (1) ends of its assumed inputs, in their order."""
    inputs = assumed_ranges(scenario).values()
    found = {}
    for place in itertools.product((0, 1), repeat=len(inputs)):
        changes = {key: ends[end] for end, (keys, ends) in zip(place, inputs, strict=True) for key in keys}
        found[place] = vary(scenario, changes)
    return found


def extremes(points: Mapping[Place, Scenario]) -> tuple[Place, Place]:
    """Lowest and highest corner by the closed form; of equal ones, low and high ends of what it leaves out."""
    ranked = sorted(points, key=lambda place: (expected(points[place]).total, place))
    return ranked[0], ranked[-1]


def band(scenario: Scenario, points: Mapping[Place, Scenario], results: Results, replications: int) -> Band:
    """The band of the downtime over the scenario's corners `points`, from a batch that holds them."""
    inputs = assumed_ranges(scenario)
    simulated = {place: values(results.of(corner, replications), METRIC) for place, corner in points.items()}
    effects = []
    for position, (name, (_, ends)) in enumerate(inputs.items()):
        sides = [[rows for place, rows in simulated.items() if place[position] == end] for end in (0, 1)]
        low, high = (sum(side[1:], side[0]) / len(side) for side in sides)
        effects.append(Effect(name, *ends, paired_difference(low, high)))
    strongest = sorted(effects, key=lambda effect: -abs(effect.difference.value))
    lowest, highest = (
        _corner(scenario, points[place], place, values(results.of(points[place]), METRIC)) for place in extremes(points)
    )
    found = tuple(_corner(scenario, points[place], place, rows) for place, rows in simulated.items())
    return Band(lowest, highest, found, tuple(strongest))


def _corner(scenario: Scenario, corner: Scenario, place: Place, rows: FloatArray) -> Corner:
    inputs = assumed_ranges(scenario).items()
    ends = {name: ends[end] for end, (name, (_, ends)) in zip(place, inputs, strict=True)}
    return Corner(ends, mean_interval(rows), expected(corner).total)
