"""Lives of the elements of a class with age, each by its address."""

import numpy as np
from numpy.typing import NDArray

from c4sim.distributions import Empirical, Exponential, Law, equilibrium_life, life_law, residual_life
from c4sim.scenario.faults import FaultClass
from c4sim.streams import Floats, Purpose, Streams

Elements = NDArray[np.int64]

_GENERATION_SHIFT = 16  # streams are numbered from 0 up, two a class
_BLOCK_PAYS = 128  # a life drawn alone costs as much as this many drawn together


class Lives:
    """Life k of element e: number e of the stream `stream + 65,536 k` under LIFE, the same under every policy.

    elements: how many there are at time 0. start, ages: how old these are then (`FaultClass.start`); `ages` is repeated
    as needed.
    """

    __slots__ = ("_ages", "_asked", "_blocks", "_elements", "_law", "_start", "_stream", "_streams")

    def __init__(
        self,
        streams: Streams,
        stream: int,
        law: Law,
        elements: int,
        start: str = "new",
        ages: tuple[float, ...] = (),
    ) -> None:
        self._streams = streams
        self._stream = stream
        self._law = law
        self._elements = elements
        self._start = start
        self._ages = ages
        self._blocks: dict[int, list[float]] = {}
        self._asked: dict[int, int] = {}

    def first(self, elements: Elements) -> Floats:
        """Time from 0 to the first failure, s, of elements (ascending) that are there at time 0."""
        if not len(elements):
            return np.empty(0)
        count = int(elements[-1]) + 1
        u = self._streams.uniforms(Purpose.LIFE, self._stream, 0, count)[elements]
        if self._start == "stationary":
            return equilibrium_life(self._law, u, self._streams.uniforms(Purpose.AGE, self._stream, 0, count)[elements])
        if self._start == "given":
            return residual_life(self._law, u, np.asarray(self._ages)[elements % len(self._ages)])
        return self._law.quantile(u)

    def first_alone(self, element: int) -> float:
        """Time to the first failure in the job, s, of a unit's element that comes into the job later."""
        return float(self.first(np.array([element]))[0]) if element < self._elements else self.life(element, 0)

    def life(self, element: int, generation: int) -> float:
        """Life `generation` of `element`, s, from new.

        A generation that many elements reach is drawn as one block, which changes no bit of it.
        """
        block = self._blocks.get(generation)
        if block is None:
            asked = self._asked[generation] = self._asked.get(generation, 0) + 1
            if asked * _BLOCK_PAYS < self._elements:
                return self._draw(generation, element, 1)[0]
            block = self._blocks[generation] = self._draw(generation, 0, self._elements)
        return block[element] if element < self._elements else self._draw(generation, element, 1)[0]

    def _draw(self, generation: int, element: int, count: int) -> list[float]:
        stream = self._stream + (generation << _GENERATION_SHIFT)
        lives: list[float] = self._law.quantile(self._streams.uniforms(Purpose.LIFE, stream, element, count)).tolist()
        return lives


def place_law(fault: FaultClass, mean_s: float) -> Law:
    """The law of a class's lives, stretched to the mean `mean_s`."""
    if fault.law == "exponential":
        return Exponential(mean_s)
    law = life_law(fault, mean_s)
    if isinstance(law, Empirical):
        stretch = mean_s / law.mean
        return Empirical(tuple(value * stretch for value in law.values))
    return law
