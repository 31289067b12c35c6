"""Classes without age: one Poisson sequence for all places of a class together."""

import numpy as np

from c4sim.streams import BlockReader, Purpose, Streams

_FIRST_BLOCK = 16
_LARGEST_BLOCK = 1024


class PoissonSource:
    """Superposition of independent exponential lives, whose number does not matter to the cost.

    Event k comes when the clock shows (sum of k + 1 unit exponentials) / rate, and strikes a place drawn uniformly: the law of N
    exponential clocks, one a place (Cox 1962, section 6.2). Both come from streams of the class's own, so the sequence is the same
    under every policy, and another rate scales it.
    """

    __slots__ = ("_entity", "_next", "_place", "_places", "_rate", "_size", "_streams", "_sums", "_total", "due", "number")

    def __init__(self, streams: Streams, entity: int, rate: float, places: int) -> None:
        self._streams = streams
        self._entity = entity
        self._rate = rate
        self._places = places
        self._place = BlockReader(streams, Purpose.PLACE, entity, first=_FIRST_BLOCK)
        self._size = _FIRST_BLOCK
        self._sums: list[float] = []
        self._next = 0
        self._total = 0
        self.number = -1
        self.due = self._advance()

    def pop(self) -> int:
        """Take the event at `due`: the place that it strikes. `number` is then its number and `due` the next event's clock value."""
        self.number += 1
        self.due = self._advance()
        return int(self._place.get(self.number) * self._places) if self._places > 1 else 0

    def _advance(self) -> float:
        if self._next == len(self._sums):
            self._draw()
        total = self._sums[self._next]
        self._next += 1
        return total / self._rate

    def _draw(self) -> None:
        start = self._total
        uniforms = self._streams.uniforms(Purpose.ARRIVAL, self._entity, start, self._size)
        gaps = -np.log(uniforms)
        # Added from left to right, the last block's sum first: the same bits whatever the block sizes.
        gaps[0] += self._sums[-1] if self._sums else 0.0
        self._sums = np.cumsum(gaps).tolist()
        self._total += self._size
        self._next = 0
        self._size = min(2 * self._size, _LARGEST_BLOCK)


