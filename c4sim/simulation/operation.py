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
from c4sim.simulation.world import OPERATING, Stop, World, make_stop
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
        self._begin()
        end = self._end()
        while True:
            fault = w.faults.next_time(w.now, OPERATING)
            trouble = w.troubles.next_due()
            maintenance = self._maintenance.next_start
            if maintenance < w.now:
                maintenance = w.now
            due = maintenance if maintenance < fault else fault
            if trouble is not None and trouble.due < due:
                due = trouble.due
            until = due if due < end else end
            w.faults.run(w.now, until, OPERATING)
            w.now = until
            if due >= end:
                self.record_until(end)
                w.end("horizon" if end >= w.horizon else "work done")
                return None
            if due == fault:
                stop = self._struck()
            elif trouble is not None and due == trouble.due:
                stop = self._came_due(trouble)
            else:
                return self._maintenance.begin(w.now)
            if stop is not None:
                return stop
            end = self._end()

    def _begin(self) -> None:
        w = self._world
        self._start = w.now
        self._breaks.clear()
        w.checkpoints.begin(w.now)
        troubles = w.troubles
        if troubles.latent or troubles.returning:
            troubles.start_again(w.now, lambda trouble: self._strikes_again.at(trouble.key))
            if troubles.rate() < 1.0:
                self._set_rate()

    def _end(self) -> float:
        w = self._world
        if self._work is None:
            return w.horizon
        return min(self._start + w.checkpoints.wall_until_work(self._work), w.horizon)

    def _struck(self) -> Stop | None:
        """A fault is due now: it stops the job, or stays in it unseen (slow, corruption), or hits nobody."""
        w = self._world
        event = w.faults.take(w.now, OPERATING)
        return None if event is None else self._take_effect(event, incident_key((event.stream, event.number, 0)))

    def _take_effect(self, event: FaultEvent, key: IncidentKey) -> Stop | None:
        w = self._world
        if event.effect not in ("slow", "corruption"):
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
        back = w.checkpoints.rollback(w.now, event, corrupt_since)
        if back.kept_until >= self._start:
            self.record_until(back.kept_until)
            w.record.stopped(back.kept_until, w.now, phase, event.class_index, incident)
        else:
            self.record_until(w.now)
            w.record.throw_away(back.kept_until, phase, event.class_index, incident, w.checkpoints.progress_at)
        if w.troubles.latent:
            w.troubles.rolled_back(back.kept_until)
        if back.no_progress:
            w.end("no progress")
        return back.load_s + back.failed_loads_s
