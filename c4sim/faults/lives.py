"""Lives of the elements of a class with age, each by its address."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from c4sim.distributions import Empirical, Exponential, Law, equilibrium_life, life_law, residual_life
from c4sim.scenario.faults import FaultClass
from c4sim.streams import Floats, Purpose, Streams

_GENERATION_SHIFT = 16  # streams are numbered from 0 up, two a class


@dataclass(frozen=True, slots=True)
class Lives:
    """Life k of element e: number e of the stream `stream + 65,536 k` under LIFE, the same under every policy.

    start, ages: how old the elements are that are there at time 0 (`FaultClass.start`); `ages` is repeated as needed.
    """

    streams: Streams
    stream: int
    law: Law
    start: str = "new"
    ages: tuple[float, ...] = ()

    def first(self, elements: Sequence[int]) -> Floats:
        """Time from 0 to the first failure, s, of elements (ascending) that are there at time 0."""
        if not len(elements):
            return np.empty(0)
        chosen = np.asarray(elements)
        count = int(chosen[-1]) + 1
        u = self.streams.uniforms(Purpose.LIFE, self.stream, 0, count)[chosen]
        if self.start == "stationary":
            return equilibrium_life(self.law, u, self.streams.uniforms(Purpose.AGE, self.stream, 0, count)[chosen])
        if self.start == "given":
            return residual_life(self.law, u, np.asarray(self.ages)[chosen % len(self.ages)])
        return self.law.quantile(u)

    def life(self, element: int, generation: int) -> float:
        """Life `generation` of `element`, s, from new."""
        stream = self.stream + (generation << _GENERATION_SHIFT)
        return float(self.law.quantile(self.streams.uniforms(Purpose.LIFE, stream, element, 1))[0])


def place_law(fault: FaultClass, mean_s: float) -> Law:
    """The law of a class's lives, stretched to the mean `mean_s`."""
    if fault.law == "exponential":
        return Exponential(mean_s)
    law = life_law(fault, mean_s)
    if isinstance(law, Empirical):
        stretch = mean_s / law.mean
        return Empirical(tuple(value * stretch for value in law.values))
    return law
