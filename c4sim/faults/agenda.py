"""A list of due times that is cheap to set up and cheap to change."""

from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from c4sim.streams import Floats

Entry = tuple[float, int]  # due, element: equal times go by the element's number
NOTHING: Entry = (float("inf"), -1)


class Agenda:
    """Earliest due time over many elements: one sort at the start, then O(log changes) a change.

    The first due times lie in a sorted list that is only walked along; later ones go into a heap. An entry that no
    longer agrees with what was said last about its element is stale, and is dropped when it comes up.
    """

    __slots__ = ("_changed", "_elements", "_first", "_heap", "_order", "_passed", "_sorted")

    def __init__(self, elements: NDArray[np.int64], dues: Floats) -> None:
        """`elements` ascending, and when each is due."""
        self._elements = elements
        self._first = dues
        order = np.argsort(dues, kind="stable")
        # Both lists end with `NOTHING`, which stands behind every real entry.
        self._sorted: list[float] = [*dues[order].tolist(), NOTHING[0]]
        self._order: list[int] = [*elements[order].tolist(), NOTHING[1]]
        self._passed = 0
        self._changed: dict[int, float | None] = {}
        self._heap: list[Entry] = []

    def head(self) -> Entry:
        """The earliest (due, element); `NOTHING` if there is none."""
        changed, heap, order, passed = self._changed, self._heap, self._order, self._passed
        while order[passed] in changed:
            passed += 1
        self._passed = passed
        planned = self._sorted[passed], order[passed]
        while heap:
            first = heap[0]
            if changed[first[1]] == first[0]:
                return first if first < planned else planned
            heappop(heap)
        return planned

    def schedule(self, element: int, due: float) -> None:
        """`element` is due at `due`, whatever was said before."""
        self._changed[element] = due
        heappush(self._heap, (due, element))

    def cancel(self, element: int) -> float | None:
        """Strike `element` off: when it was due, None if it was not on the list."""
        due = self._changed[element] if element in self._changed else self._due_at_first(element)
        self._changed[element] = None
        return due

    def _due_at_first(self, element: int) -> float | None:
        index = int(np.searchsorted(self._elements, element))
        here = index < len(self._elements) and self._elements[index] == element
        return float(self._first[index]) if here else None
