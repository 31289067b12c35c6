"""Blocking saves to one place: work for tau, stand still for C, again and again; a closed form, as most runs ask it."""

from c4sim.checkpoint.facts import Progress, make_progress
from c4sim.checkpoint.timeline import STANDSTILL, Cut, Entry, JobPhase


class Blocking:
    """Timeline of saves that are durable when their stall ends.

    interval: work between saves, s; write: stall, s; rate: work done per second while the job works; due_in: work
    until the first save, s. Save j (from 1) ends at j (tau / rate + C), less what an earlier leg has done of the
    first interval: multiples are compared, never quotients rounded, so that a save ends at the same float however it
    is asked for.
    """

    __slots__ = ("_cycle", "_done", "_interval", "_rate", "_shift", "_work_wall", "_write")

    def __init__(self, interval: float, write: float, rate: float = 1.0, due_in: float | None = None) -> None:
        self._interval = interval
        self._write = write
        self._rate = max(rate, STANDSTILL)
        self._work_wall = interval / self._rate
        self._cycle = self._work_wall + write
        self._done = 0.0 if due_in is None else interval - due_in
        self._shift = self._done / self._rate

    def _saves(self, wall: float) -> int:
        """Number of j >= 1 with j * cycle - shift <= wall."""
        cycle, shift = self._cycle, self._shift
        count = int((wall + shift) / cycle)
        if (count + 1) * cycle - shift <= wall:
            return count + 1
        if count and count * cycle - shift > wall:
            return count - 1
        return count

    def progress(self, wall: float) -> Progress:
        """See Timeline."""
        saves = self._saves(wall)
        rest = wall - (saves * self._cycle - self._shift)
        stall = saves * self._write
        if rest > self._work_wall:
            stall += rest - self._work_wall
        if self._rate == 1.0:
            return make_progress((wall - stall, stall, 0.0, saves))
        productive = (wall - stall) * self._rate
        return Progress(productive, stall, wall - stall - productive, saves)

    def up_to_last_save(self, wall: float) -> tuple[float, Progress]:
        """End of the last save in the first `wall` seconds (0.0 without any), and the progress there, at the rate 1 and
        from the start of an interval.
        """
        saves = self._saves(wall)
        return saves * self._cycle, make_progress((saves * self._interval, saves * self._write, 0.0, saves))

    def wall_of_work(self, work: float) -> float:
        """See Timeline."""
        if not work > 0.0:
            return 0.0
        interval = self._interval
        total = self._done + work
        saves = int(total / interval)
        while saves and saves * interval >= total:
            saves -= 1
        while (saves + 1) * interval < total:
            saves += 1
        return work / self._rate + saves * self._write

    def saved(self, tier: int, wall: float, lag: float) -> int:  # noqa: ARG002  one tier
        """See Timeline."""
        return self._saves(wall - lag)

    def begun(self, tier: int, wall: float) -> int:  # noqa: ARG002  one tier
        """See Timeline."""
        saves = self._saves(wall)
        return saves + (wall - (saves * self._cycle - self._shift) >= self._work_wall)

    def save_end(self, tier: int, index: int) -> float:  # noqa: ARG002  one tier
        """See Timeline."""
        return (index + 1) * self._cycle - self._shift

    def held(self, tier: int, index: int) -> Progress:
        """See Timeline."""
        saves = index + 1
        work, stall = saves * self._interval - self._done, saves * self._write
        slowdown = 0.0 if self._rate == 1.0 else max(self.save_end(tier, index) - stall - work, 0.0)
        return make_progress((work, stall, slowdown, saves))

    def cut(self, wall: float) -> Cut:
        """See Timeline."""
        saves = self._saves(wall)
        rest = wall - (saves * self._cycle - self._shift)
        if rest >= self._work_wall:
            wall, rest, saves = self.save_end(0, saves), 0.0, saves + 1
        entry = Entry(self._interval - rest * self._rate, 0, (0.0,))
        return Cut(wall, self.progress(wall), (saves,), entry)

    def written(self, wall: float) -> float:
        """See Timeline."""
        return wall

    def phase_at(self, wall: float) -> JobPhase | None:
        """See Timeline."""
        rest = wall - (self._saves(wall) * self._cycle - self._shift)
        return "save" if rest >= self._work_wall else None
