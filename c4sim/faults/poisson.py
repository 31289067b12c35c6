"""Classes without age: one Poisson sequence for all places of a class together."""

import math

import numpy as np

from c4sim.faults.event import FaultEvent
from c4sim.faults.marks import Marks

_ROOM = 4
_LARGEST_BLOCK = 1024


class PoissonSource:
    """Superposition of independent exponential lives, whose number does not matter to the cost.

    Event k comes when the clock shows (sum of k + 1 unit exponentials) / rate, and strikes a place drawn uniformly: the
    law of N exponential clocks, one a place (Cox 1962, section 6.2). Both come from a stream of the class's own, so the
    sequence is the same under every policy, and another rate scales it.

    expected: events that the run will see, as far as one can say (0: nothing is known); the first block has room for
    them.
    """

    __slots__ = (
        "_due_left", "_event_left", "_places", "_rate", "_size", "_start", "_total",
        "drawn", "due", "marks",
    )  # fmt: skip

    def __init__(self, rate: float, places: int, marks: Marks, expected: float = 0.0) -> None:
        self.marks = marks
        self.drawn: list[tuple[float, int | None]] = []
        self._rate = rate
        self._places = places
        self._size = min(int(expected + 2.0 * math.sqrt(expected)) + _ROOM, _LARGEST_BLOCK)
        self._start = 0
        self._total = 0.0
        self._due_left: list[float] = []
        self._event_left: list[tuple[int, FaultEvent]] = []
        self._draw()
        self.due = self._due_left.pop()

    def pop(self) -> FaultEvent:
        """Take the event at `due`."""
        place, event = self._event_left.pop()
        self.drawn.append((self.due, place))
        if not self._due_left:
            self._draw()
        self.due = self._due_left.pop()
        return event

    def _draw(self) -> None:
        """The next block of dues and events, which are taken from the lists' ends."""
        start, size = self._start, self._size
        drawn = self.marks.draw(start, size)
        gaps = -np.log(drawn[:, 0])
        # Added from left to right, the last block's sum first: the same bits whatever the block sizes.
        gaps[0] += self._total
        sums = gaps.cumsum()
        self._total = sums[-1]
        self._due_left = (sums[::-1] / self._rate).tolist()
        places = (drawn[:, 1] * self._places).astype(np.int64)
        events = self.marks.events(start, places, drawn)
        self._event_left = list(zip(places.tolist(), events, strict=True))[::-1]  # used up as the dues are
        self._start = start + size
        self._size = min(2 * size, _LARGEST_BLOCK)
