"""Legs: parts of stretches, placed in absolute time."""

from __future__ import annotations

from c4sim.checkpoint.facts import NO_PROGRESS_YET, Progress
from c4sim.checkpoint.timeline import Cut, Timeline


class Leg:
    """The part of a stretch that runs at one rate. A stretch without slow faults is one leg.

    stretch, begin: absolute times of the stretch's start and the leg's, s; work: the job's work at the leg's start;
    number: legs of the run before this one; wall, base: length and progress of the stretch before this leg; previous:
    the leg of the same stretch before it; following: the one after it, which begins at `cut`.
    """

    # Defaults of the class, not of the constructor: most legs never change them, and one is made per restart.
    wall = 0.0
    base = NO_PROGRESS_YET
    previous: Leg | None = None
    following: Leg | None = None
    cut: Cut | None = None

    def __init__(self, stretch: float, begin: float, work: float, number: int, timeline: Timeline) -> None:
        self.stretch = stretch
        self.begin = begin
        self.work = work
        self.number = number
        self.timeline = timeline

    def so_far(self) -> tuple[Leg, ...]:
        """The legs of this stretch up to this one."""
        legs: tuple[Leg, ...] = (self,)
        leg = self.previous
        while leg is not None:
            legs, leg = (leg, *legs), leg.previous
        return legs

    def end(self, wall: float) -> Cut:
        """The next leg begins `wall` into the stretch, or as soon after that as the job works."""
        self.cut = self.timeline.cut(max(wall - self.wall, 0.0))
        return self.cut

    def follow(self, cut: Cut, number: int, timeline: Timeline) -> Leg:
        """The leg that begins at `cut`, the end of this one."""
        wall = self.wall + cut.wall
        leg = Leg(self.stretch, self.stretch + wall, self.work + cut.progress.productive_s, number, timeline)
        leg.wall, leg.base, leg.previous = wall, self._including(cut.progress), self
        self.following = leg
        return leg

    def at(self, wall: float) -> Leg:
        """The leg of this stretch, not after this one, that `wall` (from the stretch's start) lies in."""
        leg = self
        while leg.previous is not None and wall < leg.wall:
            leg = leg.previous
        return leg

    def progress(self, wall: float) -> Progress:
        """What the first `wall` seconds of the stretch hold; `wall` not before this leg."""
        return self._including(self.timeline.progress(wall - self.wall))

    def _including(self, here: Progress) -> Progress:
        """Progress since the start of the stretch, if `here` is that of this leg."""
        base = self.base
        if base is NO_PROGRESS_YET:
            return here
        return Progress(
            base.productive_s + here.productive_s,
            base.stall_s + here.stall_s,
            base.slowdown_s + here.slowdown_s,
            base.saves + here.saves,
        )

    def durable(self, tier: int, now: float, persist: float) -> int:
        """Number of this leg's saves in `tier` that are durable at `now` (absolute), `persist` after their stall."""
        cut = self.cut
        if cut is None or now - self.begin <= cut.wall:
            return self.timeline.saved(tier, now - self.begin, persist)
        count = cut.saved[tier]
        return count - (count > 0 and self._written_after(now) < cut.entry.open[tier])

    def _written_after(self, now: float) -> float:
        """Seconds between the end of this leg and `now` in which saves were being written."""
        seconds = 0.0
        leg = self.following
        while leg is not None and now > leg.begin:
            wall = now - leg.begin
            seconds += leg.timeline.written(wall if leg.cut is None else min(wall, leg.cut.wall))
            leg = leg.following
        return seconds

    def begun(self, tier: int, now: float) -> int:
        """Number of this leg's saves in `tier` that began at `now` (absolute) or before."""
        if self.cut is not None and now - self.begin >= self.cut.wall:
            return self.cut.saved[tier]
        return self.timeline.begun(tier, now - self.begin)

    def save_time(self, tier: int, index: int) -> float:
        """Absolute time of the end of the stall of the tier's save `index`."""
        return self.begin + self.timeline.save_end(tier, index)

    def save(self, tier: int, index: int) -> tuple[Progress, float]:
        """What the stretch holds up to the end of the stall of the tier's save `index`, that save included, and the
        job's work there.
        """
        here = self.timeline.held(tier, index)
        return self._including(here), self.work + here.productive_s
