"""Evaluation pauses on top of any timeline."""

from math import fmod, inf, nextafter

from c4sim.checkpoint.facts import Progress
from c4sim.checkpoint.timeline import STANDSTILL, Cut, JobPhase, Timeline

_SAME = 1e-9  # work that misses an evaluation by less than this share of their distance has had it


class Evaluated:
    """A timeline that stands still for `duration` after every `every` of the job's work, counted as slowdown.

    work: the job's work at the leg's start. An evaluation that is due together with a save comes first, so that a job
    that restarts from that save does not evaluate again. Everything else stands still meanwhile, also a save that is
    being written.
    """

    __slots__ = ("_duration", "_every", "_first", "_inner")

    def __init__(self, inner: Timeline, every: float, duration: float, work: float) -> None:
        self._inner = inner
        self._every = every
        self._duration = duration
        left = every - fmod(work, every)
        self._first = left if left > _SAME * every else every

    def _due(self, index: int) -> float:
        """When evaluation `index` (from 0) is due, without the pauses before it."""
        return self._inner.wall_of_work(self._first + index * self._every)

    def _find(self, wall: float) -> tuple[int, float, bool]:
        """Evaluations that ended by `wall`; the inner timeline's time there; whether the job is evaluating."""
        inner, pause = self._inner, self._duration
        per_work = wall / max(inner.progress(wall).productive_s, STANDSTILL)
        ended = int(max(wall - self._first * per_work, 0.0) / (self._every * per_work + pause)) if wall > 0.0 else 0
        while self._due(ended) + (ended + 1) * pause <= wall:
            ended += 1
        while ended and self._due(ended - 1) + ended * pause > wall:
            ended -= 1
        due = self._due(ended)
        if wall >= due + ended * pause:
            return ended, due, True
        return ended, wall - ended * pause, False

    def _before(self, inner_wall: float, *, included: bool) -> int:
        """Number of evaluations due before that time of the inner timeline, or also at it."""
        count = max(int((self._inner.progress(inner_wall).productive_s - self._first) / self._every), 0)
        while self._due(count) < inner_wall or (included and self._due(count) == inner_wall):
            count += 1
        while count and not (self._due(count - 1) < inner_wall or (included and self._due(count - 1) == inner_wall)):
            count -= 1
        return count

    def progress(self, wall: float) -> Progress:
        """See Timeline."""
        _, inner_wall, evaluating = self._find(wall)
        productive, stall, slowdown, saves = self._inner.progress(inner_wall)
        if evaluating:
            saves = self._inner.progress(nextafter(inner_wall, -inf)).saves
        return Progress(productive, stall, slowdown + (wall - inner_wall), saves)

    def wall_of_work(self, work: float) -> float:
        """See Timeline."""
        inner_wall = self._inner.wall_of_work(work)
        return inner_wall + self._duration * self._before(inner_wall, included=False)

    def saved(self, tier: int, wall: float, lag: float) -> int:
        """See Timeline."""
        _, inner_wall, evaluating = self._find(wall)
        if evaluating and lag == 0.0:  # a save due together with the evaluation comes after it
            inner_wall = nextafter(inner_wall, -inf)
        return self._inner.saved(tier, inner_wall, lag)

    def begun(self, tier: int, wall: float) -> int:
        """See Timeline."""
        _, inner_wall, evaluating = self._find(wall)
        return self._inner.begun(tier, nextafter(inner_wall, -inf) if evaluating else inner_wall)

    def save_end(self, tier: int, index: int) -> float:
        """See Timeline."""
        end = self._inner.save_end(tier, index)
        return end + self._duration * self._before(end, included=True) if end < inf else inf

    def held(self, tier: int, index: int) -> Progress:
        """See Timeline."""
        held = self._inner.held(tier, index)
        paused = self._duration * self._before(self._inner.save_end(tier, index), included=True)
        return held._replace(slowdown_s=held.slowdown_s + paused)

    def cut(self, wall: float) -> Cut:
        """See Timeline."""
        ended, inner_wall, evaluating = self._find(wall)
        cut = self._inner.cut(inner_wall)
        paused = (ended + evaluating) * self._duration
        progress = cut.progress._replace(slowdown_s=cut.progress.slowdown_s + paused)
        return cut._replace(wall=cut.wall + paused, progress=progress)

    def written(self, wall: float) -> float:
        """See Timeline."""
        return self._find(wall)[1]

    def phase_at(self, wall: float) -> JobPhase | None:
        """See Timeline."""
        _, inner_wall, evaluating = self._find(wall)
        return "evaluation" if evaluating else self._inner.phase_at(inner_wall)
