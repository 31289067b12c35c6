"""Spare pools: which slots a pool serves, what stands on its shelf, who lends to whom."""

import math
from collections import deque
from collections.abc import Iterator

from c4sim.scenario.cluster import Spares


class Pools:
    """Shelves of spare units, one a pool; the slots are split over the pools in consecutive, nearly equal parts.

    A pool of `pool_nodes` slots at most: 300 slots in pools of 128 are 3 of 100. `spares.total` makes one pool of
    all slots. Units 0 .. nodes-1 belong to the pool of the slot of that number, the spares come after them, pool by
    pool. A returned unit goes to the shelf of the pool it belongs to, and the unit that has stood there longest is
    taken first. An unlimited pool makes a new unit whenever its shelf is empty.
    """

    def __init__(self, spares: Spares, nodes: int) -> None:
        self._nodes = nodes
        shared = spares.total is not None
        self.count = 1 if shared else math.ceil(nodes / spares.pool_nodes)
        size = spares.total if shared else spares.per_pool
        if size is None:
            raise ValueError("spares: give either spares.total or spares.per_pool")
        self.unlimited = size == "unlimited"
        self._size = 0 if isinstance(size, str) else size
        self._next_unit = nodes + self.count * self._size
        self._homes: dict[int, int] = {}  # of the units that came later
        self._borrowing = spares.borrowing
        self.shelves = [
            deque(range(nodes + pool * self._size, nodes + (pool + 1) * self._size)) for pool in range(self.count)
        ]
        self.returning = [0] * self.count  # units under way to each shelf

    @property
    def units(self) -> int:
        """Units that exist so far, gone ones included; they are numbered from 0."""
        return self._next_unit

    def of_slot(self, slot: int) -> int:
        """The pool that serves a slot: pool p of P serves slots floor(p nodes / P) to floor((p + 1) nodes / P) - 1."""
        return ((slot + 1) * self.count - 1) // self._nodes

    def home(self, unit: int) -> int:
        """The pool that a unit belongs to."""
        if unit < self._nodes:
            return ((unit + 1) * self.count - 1) // self._nodes
        home = self._homes.get(unit)
        return (unit - self._nodes) // self._size if home is None else home

    def new_unit(self, pool: int) -> int:
        """The number of a unit that did not exist before and belongs to `pool`."""
        unit = self._next_unit
        self._next_unit += 1
        self._homes[unit] = pool
        return unit

    def take(self, pool: int) -> int | None:
        """Take the next spare for a slot of `pool`; None when there is none to be had."""
        shelf = self.shelves[pool]
        if shelf:
            return shelf.popleft()
        if self.unlimited:
            return self.new_unit(pool)
        if self._borrowing:
            for lender in self._lenders(pool):
                if self.shelves[lender]:
                    return self.shelves[lender].popleft()
        return None

    def _lenders(self, pool: int) -> Iterator[int]:
        """The other pools, the nearest first, of two equally near ones the lower."""
        for distance in range(1, self.count):
            if pool - distance >= 0:
                yield pool - distance
            if pool + distance < self.count:
                yield pool + distance

    def remove(self, index: int) -> int:
        """Take the spare number `index` of all shelves in the order of the pools."""
        for shelf in self.shelves:
            if index < len(shelf):
                unit = shelf[index]
                del shelf[index]
                return unit
            index -= len(shelf)
        raise IndexError("there are fewer spares on the shelves")

    def can_serve(self, wanted: list[int]) -> bool:
        """Whether wanted[p] spares for each pool p can be had now or when everything under way has come back."""
        if self.unlimited:
            return True
        missing = [w - len(s) - r for w, s, r in zip(wanted, self.shelves, self.returning, strict=True)]
        return sum(missing) <= 0 if self._borrowing else max(missing) <= 0
