"""Classes with age whose places are as new after every failure: one renewal process a place."""

import numpy as np

from c4sim.faults.agenda import Agenda
from c4sim.faults.event import FaultEvent
from c4sim.faults.lives import Lives
from c4sim.faults.marks import Marks


class RenewalSource:
    """Life after life in each place; a failure of the class, or a swap for another reason, starts the next one.

    After a failure of the class the next life starts at the failure's own clock value, not when the new unit arrives:
    the sequence of a place is then the same under every policy. The swap that answers that failure renews nothing a
    second time; `settle` tells that such answers are over.
    per_node: places in a node; 0 for scopes wider than a node, which no swap of a node renews.
    """

    __slots__ = ("_agenda", "_fresh", "_generation", "_lives", "_next", "_number", "_per_node", "drawn", "due", "marks")

    def __init__(self, lives: Lives, places: int, per_node: int, marks: Marks) -> None:
        self.marks = marks
        self._number = -1
        self.drawn: list[tuple[float, int | None]] = []
        self._lives = lives
        self._per_node = per_node
        elements = np.arange(places)
        self._agenda = Agenda(elements, lives.first(elements))
        self._generation: dict[int, int] = {}
        self._fresh: set[int] = set()
        self.due, self._next = self._agenda.head()

    def pop(self) -> FaultEvent:
        """Take the event at `due`; the next life of the place that it strikes begins."""
        due, place = self.due, self._next
        self._number += 1
        self.drawn.append((due, place))
        self._renew(place, due)
        self._fresh.add(place)
        self.due, self._next = self._agenda.head()
        return self.marks.event(self._number, place)

    def swap(self, slot: int, _leaving: int | None, coming: int | None, clock: float) -> None:
        """A new unit, if `coming` is one, sits in `slot`, when the clock shows `clock`."""
        if coming is None:
            return
        for place in range(slot * self._per_node, (slot + 1) * self._per_node):
            if place in self._fresh:
                self._fresh.discard(place)
            else:
                self._renew(place, clock)
                self.due, self._next = self._agenda.head()

    def settle(self) -> None:
        """The job operates again: later swaps answer later failures."""
        self._fresh.clear()

    def _renew(self, place: int, clock: float) -> None:
        generation = self._generation.get(place, 0) + 1
        self._generation[place] = generation
        self._agenda.schedule(place, clock + self._lives.life(place, generation))
