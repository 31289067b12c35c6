"""Writes intervals into the ledger: cuts them at marks, turns running time that is thrown away into lost work."""

from bisect import bisect_right
from collections.abc import Callable, Sequence

from c4sim.checkpoint import Progress
from c4sim.ledger import NO_CAUSE, NO_INCIDENT, Interval, Ledger, Phase

_RUNNING = int(Phase.PRODUCTIVE)
_LOST = int(Phase.LOST_WORK)


class Recorder:
    """Appends to one ledger. `marks`: ascending times at which every interval is cut (end of the warm-up, ends of months)."""

    def __init__(self, ledger: Ledger, marks: Sequence[float]) -> None:
        self._intervals = ledger.intervals
        self._marks = list(marks)

    def stopped(self, start: float, end: float, phase: Phase, cause: int, incident: int) -> None:
        """The job stood still from start to end."""
        for a, b in self._pieces(start, end):
            self._intervals.append(Interval(a, b, int(phase), cause, incident, 0.0, 0.0, 0.0, 0))

    def running(
        self,
        start: float,
        end: float,
        progress: Callable[[float], Progress],
        breaks: Sequence[tuple[float, int]] = (),
    ) -> None:
        """The job ran from start to end; `progress(wall)` is what its first `wall` seconds hold.

        breaks: (time, cause) from which on that cause slows the job (NO_CAUSE: nothing does).
        """
        cuts = [start, *(time for time, _ in breaks if start < time < end), end]
        done = progress(0.0)
        for a, b in zip(cuts, cuts[1:], strict=False):
            cause = next((c for time, c in reversed(breaks) if time <= a), NO_CAUSE)
            for x, y in self._pieces(a, b):
                reached = progress(y - start)
                self._intervals.append(_running_row(x, y, cause, done, reached))
                done = reached

    def throw_away(self, kept_until: float, cause: int, incident: int, split: Callable[[float], Progress]) -> None:
        """Running time after `kept_until` becomes lost work of this incident.

        `split(time)` is the progress of the stretch that `kept_until` lies in, from its start to that time; it is asked only for an
        interval that `kept_until` cuts in two.
        """
        changed: list[Interval] = []
        rows = self._intervals
        while rows and rows[-1].end > kept_until:
            row = rows.pop()
            if row.phase != _RUNNING:
                changed.append(row)
            elif row.start >= kept_until:
                changed.append(_lost_row(row.start, row.end, cause, incident))
            else:
                changed.append(_lost_row(kept_until, row.end, cause, incident))
                changed.append(_running_row(row.start, kept_until, row.cause, split(row.start), split(kept_until)))
        rows.extend(reversed(changed))

    def _pieces(self, start: float, end: float) -> list[tuple[float, float]]:
        if not end > start:
            return []
        marks = self._marks
        first = bisect_right(marks, start)
        if first == len(marks) or marks[first] >= end:
            return [(start, end)]
        cuts = [start, *(mark for mark in marks[first:] if mark < end), end]
        return list(zip(cuts, cuts[1:], strict=False))


def _running_row(start: float, end: float, cause: int, before: Progress, after: Progress) -> Interval:
    stall = after.stall_s - before.stall_s
    slowdown = after.slowdown_s - before.slowdown_s
    saves = after.saves - before.saves
    productive = after.productive_s - before.productive_s
    return Interval(start, end, _RUNNING, cause, NO_INCIDENT, productive, stall, slowdown, saves)


def _lost_row(start: float, end: float, cause: int, incident: int) -> Interval:
    return Interval(start, end, _LOST, cause, incident, 0.0, 0.0, 0.0, 0)
