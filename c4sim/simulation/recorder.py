"""Writes intervals into the ledger: cuts them at marks, turns running time that is thrown away into lost work."""

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import pairwise

from c4sim.checkpoint import Progress
from c4sim.ledger import NO_CAUSE, NO_INCIDENT, IntervalRow, Ledger, Phase

_RUNNING = int(Phase.PRODUCTIVE)


class Recorder:
    """Appends to one ledger. `marks`: ascending times at which every interval is cut (ends of warm-up and months)."""

    def __init__(self, ledger: Ledger, marks: Sequence[float]) -> None:
        self._rows = ledger.rows
        self._append = ledger.rows.append
        self._marks = list(marks)
        self._next_mark = self._marks[0] if self._marks else math.inf

    def stopped(self, start: float, end: float, phase: int, cause: int, incident: int) -> None:
        """The job stood still from start to end."""
        if start < end <= self._next_mark:
            self._append((start, end, phase, cause, incident, 0.0, 0.0, 0.0, 0))
            return
        for a, b in self._pieces(start, end):
            self._append((a, b, phase, cause, incident, 0.0, 0.0, 0.0, 0))

    def running(
        self,
        start: float,
        end: float,
        progress: Callable[[float], Progress],
        breaks: Sequence[tuple[float, int]] = (),
        held: Progress | None = None,
    ) -> None:
        """The job ran from start to end; `progress(wall)` is what its first `wall` seconds hold.

        breaks: (time, cause) from which on that cause slows the job (NO_CAUSE: nothing does). held: what the job's
        stretch holds up to `end`, where that is known exactly: the difference of two times would round.
        """
        if not end > start:
            return
        if not breaks and end <= self._next_mark:
            self._append((start, end, _RUNNING, NO_CAUSE, NO_INCIDENT, *(held or progress(end - start))))
            return
        cuts = [start, *(time for time, _ in breaks if start < time < end), end]
        done = progress(0.0)
        for a, b in pairwise(cuts):
            cause = next((c for time, c in reversed(breaks) if time <= a), NO_CAUSE)
            for x, y in self._pieces(a, b):
                reached = held if held is not None and y == end else progress(y - start)
                self._append(_running_row(x, y, cause, done, reached))
                done = reached

    def throw_away(
        self,
        kept_until: float,
        held: Progress,
        lost: int,
        cause: int,
        incident: int,
        progress_at: Callable[[float], Progress],
    ) -> None:
        """Running time after `kept_until` becomes phase `lost` of this incident; `held` is what its stretch holds up to
        then.

        `progress_at(time)` is the progress of the stretch that `kept_until` lies in, from its start to that time; it is
        asked only for an interval that `kept_until` cuts in two.
        """
        changed: list[IntervalRow] = []
        rows = self._rows
        while rows and rows[-1][1] > kept_until:
            row = rows.pop()
            start, end, phase, slow, *_ = row
            if phase != _RUNNING:
                changed.append(row)
                continue
            changed.append((max(start, kept_until), end, lost, cause, incident, 0.0, 0.0, 0.0, 0))
            if start < kept_until:
                changed.append(_running_row(start, kept_until, slow, progress_at(start), held))
        rows.extend(reversed(changed))

    def _pieces(self, start: float, end: float) -> list[tuple[float, float]]:
        if not end > start:
            return []
        marks = self._marks
        first = bisect_right(marks, start)
        last = bisect_right(marks, end)
        cuts = [start, *(mark for mark in marks[first:last] if mark < end), end]
        self._next_mark = marks[last] if last < len(marks) else math.inf
        return list(pairwise(cuts))


def _running_row(start: float, end: float, cause: int, before: Progress, after: Progress) -> IntervalRow:
    held = (
        after.productive_s - before.productive_s,
        after.stall_s - before.stall_s,
        after.slowdown_s - before.slowdown_s,
        after.saves - before.saves,
    )
    return (start, end, _RUNNING, cause, NO_INCIDENT, *held)
