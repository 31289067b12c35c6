"""What lies in one tier: runs of consecutive saves, oldest first, from all stretches that led to the job's state."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from c4sim.checkpoint.leg import Leg


class Item(NamedTuple):
    """One durable save: absolute time of its stall's end, its leg, and tier and number there."""

    time: float
    leg: Leg
    tier: int
    number: int


class _Run(NamedTuple):
    leg: Leg
    tier: int
    first: int
    end: int


_item = partial(tuple.__new__, Item)  # without the Python constructors of a NamedTuple: several are made per fault
_run = partial(tuple.__new__, _Run)


class Shelf:
    """A stack of saves in order of time. failed: whether a save never became durable; such saves are passed over.

    A stretch adds one run however many saves it took, and nothing here takes a step per save of a stretch.
    """

    __slots__ = ("_failed", "_runs")

    def __init__(self, failed: Callable[[Item], bool] | None) -> None:
        self._runs: list[_Run] = []
        self._failed = failed

    def put(self, leg: Leg, tier: int, first: int, end: int) -> None:
        """Saves first .. end - 1 of a leg lie on top."""
        self._runs.append(_run((leg, tier, first, end)))

    def newest(self) -> Item | None:
        """The newest save that became durable."""
        runs = self._runs
        if self._failed is not None:
            self._drop_failed(self._failed)
        if not runs:
            return None
        leg, tier, _, end = runs[-1]
        return _item((leg.save_time(tier, end - 1), leg, tier, end - 1))

    def _drop_failed(self, failed: Callable[[Item], bool]) -> None:
        """What lies above the newest durable save is not there: looked at once, however many saves fail in a row."""
        runs = self._runs
        while runs:
            leg, tier, first, end = runs.pop()
            while end > first and failed(_item((0.0, leg, tier, end - 1))):
                end -= 1
            if end > first:
                runs.append(_run((leg, tier, first, end)))
                return

    def drop_newest(self) -> None:
        """The newest durable save, and what failed after it, is gone."""
        if self.newest() is not None:
            leg, tier, first, end = self._runs.pop()
            if end - 1 > first:
                self._runs.append(_run((leg, tier, first, end - 1)))

    def drop_after(self, time: float) -> None:
        """Saves whose stall ended after `time` are gone."""
        runs = self._runs
        while runs:
            leg, tier, first, end = runs.pop()
            kept = min(end, leg.timeline.saved(tier, time - leg.begin, 0.0) + 1)  # absolute times round differently
            while kept > first and leg.save_time(tier, kept - 1) > time:
                kept -= 1
            if kept > first:
                runs.append(_Run(leg, tier, first, kept))
                return

    def keep_newest(self, count: int) -> None:
        """All but the newest `count` durable saves are deleted."""
        if count == 0:
            self._runs.clear()
            return
        runs = self._runs
        for place in range(len(runs) - 1, -1, -1):
            leg, tier, first, end = runs[place]
            oldest = end - count
            if self._failed is not None:
                oldest, count = self._oldest_kept(runs[place], count)
            else:
                count -= end - first
            if count <= 0:
                runs[place] = _Run(leg, tier, max(oldest, first), end)
                del runs[:place]
                return

    def _oldest_kept(self, run: _Run, count: int) -> tuple[int, int]:
        """Index of the oldest save of `run` among its newest `count` durable ones, and how many are still missing."""
        assert self._failed is not None
        for index in range(run.end - 1, run.first - 1, -1):
            if not self._failed(Item(0.0, run.leg, run.tier, index)):
                count -= 1
                if count == 0:
                    return index, 0
        return run.first, count

    def clear(self) -> None:
        """Everything is gone."""
        self._runs.clear()
