"""The job at work: one computed wake-up per stretch.

Of things due at the same instant the end of the run comes first (the horizon is half open), then a fault, then a
trouble that is noticed or strikes again, then maintenance; a checkpoint that becomes durable at that instant comes
before them all.
"""

from __future__ import annotations

from c4sim.distributions import law_of
from c4sim.faults import FaultEvent
from c4sim.ledger import NO_CAUSE, Phase
from c4sim.response import Detection, IncidentKey, Sampler, incident_key
from c4sim.scenario import Scenario
from c4sim.simulation.maintenance import MaintenancePlan, Window
from c4sim.simulation.troubles import Trouble
from c4sim.simulation.world import OPERATING, STOPPING_EFFECTS, Stop, World, make_stop
from c4sim.streams import Purpose, Streams

_LOST = int(Phase.LOST_WORK)


class Operation:
    """Stretches of work from a restart until something stops the job."""

    def __init__(self, world: World, scenario: Scenario, streams: Streams, detection: Detection) -> None:
        self._world = world
        self._detection = detection
        self._maintenance = MaintenancePlan(scenario, streams)
        self._strikes_again = Sampler(streams, Purpose.STRIKES_AGAIN, law_of(scenario.isolation.strikes_again))
        self._first_step = scenario.restart.first_step
        self._work = scenario.work
        self._start = 0.0
        self._breaks: list[tuple[float, int]] = []

    def run(self) -> Stop | Window | None:
        """One stretch. Returns the fault or the maintenance window that stopped it; None when the run ended."""
        w = self._world
        faults, troubles = w.faults, w.troubles
        self._start = w.now
        self._breaks.clear()
        w.checkpoints.begin(w.now)
        if troubles.latent or troubles.returning:
            self._start_troubles()
        end = w.horizon if self._work is None else self._end(self._work)
        while True:
            now = w.now
            fault = due = faults.next_time(now, OPERATING)
            if self._maintenance.next_start < due:
                due = max(self._maintenance.next_start, now)
            trouble = troubles.next_due() if troubles.latent or troubles.returning else None
            if trouble is not None and trouble.due < due:
                due = trouble.due
            until = due if due < end else end
            faults.run(now, until, OPERATING)
            w.now = until
            if due >= end:
                self._finish(end)
                return None
            if due == fault:
                stop = self._struck()
            elif trouble is not None and due == trouble.due:
                stop = self._came_due(trouble)
            else:
                return self._maintenance.begin(w.now)
            if stop is not None:
                return stop
            if self._work is not None:
                end = self._end(self._work)

    def _finish(self, end: float) -> None:
        """The run ends at work: at the horizon, or because the work is done."""
        w = self._world
        if end >= w.horizon or self._work is None:
            self.record_until(end)
            w.end("horizon")
            return
        progress = w.checkpoints.progress
        held = progress(w.checkpoints.wall_until_work(self._work))
        w.record.running(self._start, end, progress, self._breaks, held)
        w.end("work done")

    def _start_troubles(self) -> None:
        troubles = self._world.troubles
        troubles.start_again(self._start, lambda trouble: self._strikes_again.at(trouble.key))
        if troubles.rate() < 1.0:
            self._set_rate()

    def _end(self, work: float) -> float:
        """When the work is done, or the horizon."""
        w = self._world
        return min(self._start + w.checkpoints.wall_until_work(work), w.horizon)

    def _struck(self) -> Stop | None:
        """A fault is due now: it stops the job, or stays in it unseen (slow, corruption), or hits nobody."""
        now = self._world.now
        event = self._world.faults.take(now, OPERATING)
        if event is None:
            return None
        key = incident_key((event.stream, event.number, 0))
        if event.effect in STOPPING_EFFECTS:
            return make_stop((event, key, now, True, False))
        return self._take_effect(event, key)

    def _take_effect(self, event: FaultEvent, key: IncidentKey) -> Stop | None:
        w = self._world
        if event.effect in STOPPING_EFFECTS:
            return make_stop((event, key, w.now, True, False))
        w.troubles.latent.append(Trouble(event, key, w.now, w.now + self._detection.delay(event, key)))
        if event.effect == "slow":
            self._set_rate()
        return None

    def _came_due(self, trouble: Trouble) -> Stop | None:
        """A slow node or a corruption is noticed, which stops the job; or a fault that stayed strikes again."""
        self._world.troubles.take(trouble)
        if not trouble.latent:
            return self._take_effect(trouble.event, trouble.key)
        return Stop(trouble.event, trouble.key, trouble.since, operating=True, noticed=True)

    def _set_rate(self) -> None:
        w = self._world
        cause = w.troubles.slowest_cause()
        w.checkpoints.set_rate(w.now - self._start, w.troubles.rate())
        self._breaks.append((w.now, NO_CAUSE if cause is None else cause))

    def phase_now(self) -> str | None:
        """What the job does now, as far as a watchdog's limit depends on it: first_step, save, evaluation or None."""
        wall = self._world.now - self._start
        return "first_step" if wall < self._first_step else self._world.checkpoints.phase_at(wall)

    def record_until(self, until: float) -> None:
        """Write the running time of this stretch up to `until` into the ledger."""
        self._world.record.running(self._start, until, self._world.checkpoints.progress, self._breaks)

    def save_and_stop(self) -> tuple[float, float]:
        """End the stretch with a save outside the schedule. Returns the time, s, until it is durable and the time to
        load it.
        """
        w = self._world
        self.record_until(w.now)
        return w.checkpoints.save_now(w.now)

    def roll_back(
        self, event: FaultEvent, incident: int, corrupt_since: float | None = None, phase: int = _LOST
    ) -> float:
        """End the stretch: what no durable checkpoint holds is lost to this incident.

        corrupt_since: checkpoints written since then are worthless. phase: what lost work counts as. Returns the time,
        s, that loading takes.
        """
        w = self._world
        now, cause, record, checkpoints = w.now, event.class_index, w.record, w.checkpoints
        kept, _, load, failed_loads, no_progress, held = checkpoints.rollback(now, event, corrupt_since)
        if kept >= self._start:
            record.running(self._start, kept, checkpoints.progress, self._breaks, held)
            record.stopped(kept, now, phase, cause, incident)
        else:
            self.record_until(now)
            record.throw_away(kept, held, phase, cause, incident, checkpoints.progress_at)
        if w.troubles.latent:
            w.troubles.rolled_back(kept)
        if no_progress:
            w.end("no progress")
        return load + failed_loads
