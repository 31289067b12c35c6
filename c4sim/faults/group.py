"""Sources of faults that share a clock."""

from operator import attrgetter
from typing import Protocol

from c4sim.faults.clocks import FaultClock
from c4sim.faults.event import FaultEvent
from c4sim.faults.marks import Marks

NEVER = float("inf")
_due = attrgetter("due")


class Source(Protocol):
    """Where events of one stream come from, one at a time.

    due: clock value of the next event, inf if none. marks: of the event taken last. drawn: (clock value, place) of
    every event taken so far; place None if the unit that it would have struck was not in the job.
    """

    due: float
    marks: Marks
    drawn: list[tuple[float, int | None]]

    def pop(self) -> FaultEvent | None:
        """Take the event at `due`; None if it strikes nothing in the job."""


class AgedSource(Source, Protocol):
    """A source that must know which unit sits where."""

    def swap(self, slot: int, leaving: int | None, coming: int | None, clock: float) -> None:
        """Unit `coming` (None: nobody) sits in `slot` instead of `leaving` (None: nobody) when the clock shows
        `clock`.
        """

    def settle(self) -> None:
        """The job operates again after a failure."""


class Group:
    """Sources on one clock and the next of them, at clock value `due`. Of events at the same value the source added
    first comes first.
    """

    __slots__ = ("clock", "due", "head", "sources")

    def __init__(self, clock: FaultClock) -> None:
        self.clock = clock
        self.sources: list[Source] = []
        self.due = NEVER
        self.head: Source | None = None

    def select(self) -> None:
        """Find the next event anew."""
        head = self.head = min(self.sources, key=_due)
        self.due = head.due
