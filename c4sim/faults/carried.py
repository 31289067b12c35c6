"""Classes whose units carry their age: a unit taken out freezes its remaining life and later goes on with it."""

from collections.abc import Callable

import numpy as np

from c4sim.faults.agenda import Agenda
from c4sim.faults.event import FaultEvent
from c4sim.faults.lives import Lives
from c4sim.faults.marks import Marks


class CarriedSource:
    """Life k of unit u is the same under every policy; only when it is lived through depends on where the unit sits.

    The failure of the class ends a life; the unit's next one begins there. Failures of other classes leave it alone.
    per_node: elements in a unit (GPUs or links; 1 for scope node). slot_of(unit): its slot, None if not in the job.
    is_member(unit): whether the unit can fail in this way at all (None: every unit can).
    """

    __slots__ = (
        "_agenda", "_frozen", "_generation", "_is_member", "_lives", "_next", "_number", "_per_node",
        "_slot_of", "drawn", "due", "marks",
    )  # fmt: skip

    def __init__(
        self,
        lives: Lives,
        nodes: int,
        per_node: int,
        marks: Marks,
        slot_of: Callable[[int], int | None],
        is_member: Callable[[int], bool] | None = None,
    ) -> None:
        self.marks = marks
        self._number = -1
        self.drawn: list[tuple[float, int | None]] = []
        self._lives = lives
        self._per_node = per_node
        self._slot_of = slot_of
        self._is_member = is_member
        self._generation: dict[int, int] = {}
        self._frozen: dict[int, float] = {}
        elements = np.arange(nodes * per_node)
        if is_member is not None:
            members = np.array([is_member(unit) for unit in range(nodes)])
            elements = elements[np.repeat(members, per_node)]
        self._agenda = Agenda(elements, lives.first(elements))
        self.due, self._next = self._agenda.head()

    def pop(self) -> FaultEvent | None:
        """Take the event at `due`; None if its unit is not in the job."""
        due, element = self.due, self._next
        self._number += 1
        generation = self._generation.get(element, 0) + 1
        self._generation[element] = generation
        self._agenda.schedule(element, due + self._lives.life(element, generation))
        self.due, self._next = self._agenda.head()
        unit, inner = divmod(element, self._per_node)
        slot = self._slot_of(unit)
        place = None if slot is None else slot * self._per_node + inner
        self.drawn.append((due, place))
        return None if place is None else self.marks.event(self._number, place)

    def swap(self, _slot: int, leaving: int | None, coming: int | None, clock: float) -> None:
        """Unit `leaving` is taken out and unit `coming` sits in its place, when the clock shows `clock`."""
        if leaving is not None:
            for element in self._elements(leaving):
                due = self._agenda.cancel(element)
                if due is not None:
                    self._frozen[element] = due - clock
        if coming is not None and (self._is_member is None or self._is_member(coming)):
            for element in self._elements(coming):
                self._agenda.schedule(element, clock + self._remaining(element))
        self.due, self._next = self._agenda.head()

    def settle(self) -> None:
        """Nothing to settle: no life depends on what a swap answers."""

    def _elements(self, unit: int) -> range:
        return range(unit * self._per_node, (unit + 1) * self._per_node)

    def _remaining(self, element: int) -> float:
        frozen = self._frozen.pop(element, None)
        return self._lives.first_alone(element) if frozen is None else frozen
