"""The checkpoints of one run: how far the job is, what is durable, what a failure throws it back to."""

from c4sim.checkpoint.facts import Loss, Progress, Rollback
from c4sim.checkpoint.leg import Leg
from c4sim.checkpoint.plan import make_plan
from c4sim.checkpoint.timeline import JobPhase
from c4sim.scenario import Scenario
from c4sim.streams import Streams


class Checkpoints:
    """State machine without events: the simulation asks it at every disturbance.

    operating_mtbf_s: MTBF of the job on its operating clock, s, for the interval rules (inf: it never fails).

    A stretch starts at `begin` (a restart; saves count from there and the restart point is durable) and ends at
    `rollback`. Wall times count from the start of the stretch. `work` is the surviving work at the current restart
    point, s.

    Raises ValueError that names the key when the scenario leaves a needed time open.
    """

    def __init__(self, scenario: Scenario, streams: Streams, operating_mtbf_s: float) -> None:
        self._plan = make_plan(scenario, operating_mtbf_s)
        self._streams = streams
        self._fresh = self._plan.fresh
        self.work = 0.0
        self._begin = 0.0
        self._legs = 0
        self._leg = Leg(0.0, 0.0, 0, self._fresh)

    @property
    def interval(self) -> float:
        """Work between saves, s."""
        return self._plan.interval

    def begin(self, now: float) -> None:
        """A stretch starts: counts of saves start anew."""
        self._begin = now
        self._legs += 1
        self._leg = Leg(now, self.work, self._legs, self._fresh)

    def progress(self, wall: float) -> Progress:
        """What the first `wall` seconds of this stretch hold. A save that ends at `wall` counts."""
        leg = self._leg
        if leg.previous is None:
            return leg.timeline.progress(wall)
        return leg.at(wall).progress(wall)

    def progress_at(self, time: float) -> Progress:
        """As `progress`, by absolute time."""
        return self.progress(time - self._begin)

    def phase_at(self, wall: float) -> JobPhase | None:
        """What the job does instead of working `wall` seconds into this stretch; None when it works."""
        leg = self._leg.at(wall)
        return leg.timeline.phase_at(wall - leg.wall)

    def set_rate(self, wall: float, factor: float) -> None:
        """From `wall` of this stretch on the job works at `factor` of its rate. A save under way is not slowed."""
        leg = self._leg
        cut, entry = leg.timeline.cut(wall - leg.wall)
        done = leg.timeline.progress(cut)
        start = leg.wall + cut
        self._legs += 1
        self._leg = Leg(
            self._begin + start,
            leg.work + done.productive_s,
            self._legs,
            self._plan.timeline(factor, entry),
            start,
            leg.progress(start),
            leg,
        )

    def wall_until_work(self, work: float) -> float:
        """The first moment of this stretch, as time since its start, at which the job's surviving work reaches
        `work`."""
        leg = self._leg
        while leg.previous is not None and work <= leg.work:
            leg = leg.previous
        return leg.wall + leg.timeline.wall_of_work(work - leg.work)

    def rollback(self, now: float, loss: Loss, corrupt_since: float | None = None) -> Rollback:  # noqa: ARG002
        """A fault ends the stretch: the job goes back to the last durable checkpoint."""
        leg = self._leg.at(now - self._begin)
        kept = self._begin
        while True:
            saves = leg.timeline.saved(0, now - leg.begin, 0.0)
            if saves:
                kept = min(leg.save_time(0, saves - 1), now)
                self.work = leg.save_work(0, saves - 1)
                break
            if leg.previous is None:
                break
            leg = leg.previous
        return Rollback(kept, self.work, self._plan.tiers[0].load, 0.0, False)
