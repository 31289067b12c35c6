"""The checkpoints of one run: how far the job is, what is durable, what a failure throws it back to."""

from c4sim.checkpoint.blocking import Blocking
from c4sim.checkpoint.facts import NO_PROGRESS_YET, Loss, Progress, Rollback, make_rollback
from c4sim.checkpoint.leg import Leg
from c4sim.checkpoint.plan import make_plan
from c4sim.checkpoint.store import Store
from c4sim.checkpoint.timeline import JobPhase
from c4sim.scenario import Scenario
from c4sim.streams import Streams

_SAVED_AT_ONCE = Blocking(1.0, 0.0, due_in=0.0)  # its save 0 ends at its start


class Checkpoints:
    """State machine without events: the simulation asks it at every disturbance.

    operating_mtbf_s: MTBF of the job on its operating clock, s, for the interval rules (inf: it never fails).

    A stretch starts at `begin` (a restart; saves count from there and the restart point is durable) and ends at
    `rollback` or `save_now`. Wall times count from the start of the stretch. `work` is the surviving work at the
    current restart point, s.

    Raises ValueError that names the key when the scenario leaves a needed time open.
    """

    def __init__(self, scenario: Scenario, streams: Streams, operating_mtbf_s: float) -> None:
        self._plan = make_plan(scenario, operating_mtbf_s)
        self._store = Store(scenario, streams, self._plan)
        self._fallback = scenario.checkpoint.fallback
        self.work = 0.0
        self._legs = 0
        self._start: float | None = None
        self._leg = Leg(0.0, 0.0, 0.0, 0, self._plan.nominal)

    @property
    def interval(self) -> float:
        """Work between saves, s."""
        return self._plan.interval

    def begin(self, now: float) -> None:
        """A stretch starts: counts of saves start anew. The first one starts the job, at work 0."""
        if self._start is None:
            self._start = now
        self._legs += 1
        self._leg = Leg(now, now, self.work, self._legs, self._plan.fresh(self.work))

    def progress(self, wall: float) -> Progress:
        """What the first `wall` seconds of this stretch hold. A save that ends at `wall` counts."""
        leg = self._leg
        if leg.previous is None:
            return leg.timeline.progress(wall)
        return leg.at(wall).progress(wall)

    def progress_at(self, time: float) -> Progress:
        """The same by absolute time, for the stretch that the current restart point lies in."""
        restart = self._store.restart
        leg = self._leg if restart is None or time >= self._leg.stretch else restart.leg
        wall = time - leg.stretch
        return leg.at(wall).progress(wall)

    def phase_at(self, wall: float) -> JobPhase | None:
        """What the job does instead of working `wall` seconds into this stretch; None when it works."""
        leg = self._leg.at(wall)
        return leg.timeline.phase_at(wall - leg.wall)

    def set_rate(self, wall: float, factor: float) -> None:
        """From `wall` of this stretch on the job works at `factor` of its rate. A save under way is not slowed."""
        leg = self._leg
        cut = leg.end(wall)
        timeline = self._plan.resumed(leg.work + cut.progress.productive_s, factor, cut.entry)
        self._legs += 1
        self._leg = leg.follow(cut, self._legs, timeline)

    def wall_until_work(self, work: float) -> float:
        """The first moment of this stretch, from its start, at which the job's surviving work reaches `work`."""
        leg = self._leg
        while leg.previous is not None and work <= leg.work:
            leg = leg.previous
        return leg.wall + leg.timeline.wall_of_work(work - leg.work)

    def rollback(self, now: float, loss: Loss, corrupt_since: float | None = None) -> Rollback:
        """A fault at `now` ends the stretch: the job goes back to the newest checkpoint that is left and can be
        loaded.

        loss.slots: places whose memory is gone. corrupt_since: what was saved after that moment is worthless.
        """
        leg, store = self._leg, self._store
        begin = leg.stretch
        before = store.restart
        store.close(leg if leg.previous is None else leg.at(now - begin), now)
        store.lose(loss.slots, corrupt_since)
        restart, failed_loads = store.newest_loadable()
        kept, held = begin, NO_PROGRESS_YET
        if restart is None and before is not None:
            assert self._start is not None
            kept, self.work = self._start, 0.0
        elif restart is not None and (before is None or restart.time != before.time):
            kept = min(restart.time, now)
            held, self.work = restart.leg.save(restart.tier, restart.number)
        tries = self._fallback
        waited = 0.0 if tries is None else failed_loads * tries.tries * tries.each
        vain = failed_loads > 0 and tries is None
        return make_rollback((kept, self.work, store.restore(restart), waited, vain, held))

    def save_now(self, now: float) -> tuple[float, float]:
        """A planned stop at `now` ends the stretch with a save to every tier, outside the schedule.

        Returns the seconds until that save is durable (the job stands still meanwhile) and those to load it.
        """
        leg = self._leg.at(now - self._leg.stretch)
        self._store.close(leg, now)
        self.work += leg.progress(now - leg.stretch).productive_s
        self._legs += 1
        return self._store.save(Leg(now, now, self.work, self._legs, _SAVED_AT_ONCE))
