"""Classes without age: one Poisson sequence for all places of a class together."""

import numpy as np

from c4sim.faults.marks import Marks
from c4sim.streams import BlockReader, Purpose, Streams

_FIRST_BLOCK = 16
_LARGEST_BLOCK = 1024


class PoissonSource:
    """Superposition of independent exponential lives, whose number does not matter to the cost.

    Event k comes when the clock shows (sum of k + 1 unit exponentials) / rate, and strikes a place drawn uniformly: the
    law of N exponential clocks, one a place (Cox 1962, section 6.2). Both come from streams of the class's own, so the
    sequence is the same under every policy, and another rate scales it.
    """

    __slots__ = (
        "_left", "_place", "_places", "_rate", "_size", "_start", "_streams", "_total", "drawn", "due", "marks",
        "number",
    )  # fmt: skip

    def __init__(
        self, streams: Streams, rate: float, places: int, marks: Marks, first_block: int = _FIRST_BLOCK
    ) -> None:
        self.marks = marks
        self.number = -1
        self.drawn: list[tuple[float, int | None]] = []
        self._streams = streams
        self._rate = rate
        self._places = places
        self._place = BlockReader(streams, Purpose.PLACE, marks.stream, first=first_block)
        self._size = first_block
        self._start = 0
        self._total = 0.0
        self._left: list[float] = []
        self._draw()
        self.due = self._left.pop()

    def pop(self) -> int:
        """Take the event at `due`: the place that it strikes."""
        self.number = number = self.number + 1
        place = int(self._place.get(number) * self._places)
        self.drawn.append((self.due, place))
        if not self._left:
            self._draw()
        self.due = self._left.pop()
        return place

    def _draw(self) -> None:
        gaps = -np.log(self._streams.uniforms(Purpose.ARRIVAL, self.marks.stream, self._start, self._size))
        # Added from left to right, the last block's sum first: the same bits whatever the block sizes.
        gaps[0] += self._total
        sums = gaps.cumsum()
        self._total = sums[-1]
        self._left = (sums[::-1] / self._rate).tolist()
        self._start += self._size
        self._size = min(2 * self._size, _LARGEST_BLOCK)
