"""Legs: parts of stretches, placed in absolute time."""

from __future__ import annotations

from c4sim.checkpoint.facts import NO_PROGRESS_YET, Progress
from c4sim.checkpoint.timeline import Timeline


class Leg:
    """The part of a stretch that runs at one rate. A stretch without slow faults is one leg.

    begin: absolute time, s; work: surviving work of the job there; number: legs of the run before this one; previous:
    the leg of the same stretch before it; wall and base: length and progress of the stretch before this leg.
    """

    __slots__ = ("base", "begin", "number", "previous", "timeline", "wall", "work")

    def __init__(
        self,
        begin: float,
        work: float,
        number: int,
        timeline: Timeline,
        wall: float = 0.0,
        base: Progress = NO_PROGRESS_YET,
        previous: Leg | None = None,
    ) -> None:
        self.begin = begin
        self.work = work
        self.number = number
        self.timeline = timeline
        self.wall = wall
        self.base = base
        self.previous = previous

    def at(self, wall: float) -> Leg:
        """The leg of this stretch that `wall`, counted from the stretch's start, lies in."""
        leg = self
        while leg.previous is not None and wall < leg.wall:
            leg = leg.previous
        return leg

    def progress(self, wall: float) -> Progress:
        """What the first `wall` seconds of the stretch hold; `wall` not before this leg."""
        here = self.timeline.progress(wall - self.wall)
        base = self.base
        return Progress(
            base.productive_s + here.productive_s,
            base.stall_s + here.stall_s,
            base.slowdown_s + here.slowdown_s,
            base.saves + here.saves,
        )

    def save_time(self, tier: int, index: int) -> float:
        """Absolute time of the end of the stall of the tier's save `index`."""
        return self.begin + self.timeline.save_end(tier, index)

    def save_work(self, tier: int, index: int) -> float:
        """The job's work that the tier's save `index` holds."""
        return self.work + self.timeline.save_work(tier, index)
