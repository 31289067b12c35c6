"""The answer to a fault: detection, isolation, spares, restart. A fault during the restart begins the answer anew."""

from __future__ import annotations

import math

from c4sim.faults import FaultEvent
from c4sim.ledger import NO_CAUSE, NO_INCIDENT, Phase
from c4sim.response import Detection, IncidentKey, Isolation, Restart, Verdict
from c4sim.scenario import Scenario
from c4sim.simulation.operation import Operation
from c4sim.simulation.troubles import Trouble
from c4sim.simulation.world import RESTARTING, STOPPING_EFFECTS, Stop, World
from c4sim.streams import Streams

_DETECTION = int(Phase.DETECTION)
_ISOLATION = int(Phase.ISOLATION)
_ATTEMPT_STRIDE = 1 << 20
_UNPLANNED = (int(Phase.SPARE_WAIT), int(Phase.RESTART))
_PLANNED = (int(Phase.MAINTENANCE), int(Phase.MAINTENANCE))
_MOST_WAITS = 100_000  # changes of the fleet and faults in one wait for nodes, after which it has no end of its own
_MOST_ATTEMPTS = 10_000  # faults without progress, or tries of one restart, after which the run has no end of its own


def _fault_of_a_node(scenario: Scenario) -> FaultEvent | None:
    """What a hot spare that failed on the shelf and came back broken strikes with: the first class of one node."""
    for index, (name, fault) in enumerate(scenario.faults.items()):
        if fault.scope in ("gpu", "node", "link") and fault.effect in STOPPING_EFFECTS:
            return FaultEvent(index, name, index, 0, (0,), None, True, True, fault.effect)
    return None


class Recovery:
    """From a stopped job to a running one."""

    def __init__(
        self, world: World, scenario: Scenario, streams: Streams, operation: Operation, detection: Detection
    ) -> None:
        self._world = world
        self._operation = operation
        self._detection = detection
        self._isolation = Isolation(scenario, streams)
        self._restart = Restart(scenario, streams)
        self._incidents = world.ledger.incident_rows
        self._symptoms = [fault.symptom for fault in scenario.faults.values()]
        self._gpus = scenario.job.gpus_per_node
        self._silent_repairs = any(stage.silent_failure > 0.0 for stage in scenario.repair.stages or ())
        self._sent_for: dict[int, FaultEvent] = {}
        self._shelf_fault = _fault_of_a_node(scenario)
        self._load = 0.0
        self._fixed_work = scenario.work is not None
        self._reached = 0.0
        self._in_vain = 0

    def answer(self, stop: Stop) -> None:
        """Bring the job back, however many faults strike meanwhile."""
        w = self._world
        following: Stop | None = stop
        while following is not None and not w.ended:
            following = self._answer_one(following)
            reached = w.checkpoints.work if self._fixed_work else w.now
            if reached > self._reached:
                self._reached = reached
                self._in_vain = 0
            else:
                self._count_in_vain()

    def _count_in_vain(self) -> None:
        """End a run that never would: no kept work (fixed work) or no time (a window) since thousands of faults."""
        self._in_vain += 1
        if self._in_vain >= _MOST_ATTEMPTS:
            self._world.end("no progress")

    def _answer_one(self, stop: Stop) -> Stop | None:
        w = self._world
        event, key, since, operating, noticed = stop
        cause = event.class_index
        incident = len(self._incidents)
        stopped = w.now
        gpu, node, rank = self._place(event)
        delay = 0.0 if noticed else self._detection_delay(stop)
        if operating:
            self._load = self._operation.roll_back(event, incident, since if event.effect == "corruption" else None)
        detected = isolated = resumed = following = None
        if delay > 0.0 and not w.ended:
            w.stand(_DETECTION, delay, cause, incident)
        if not w.ended:
            detected = w.now
            verdict = self._isolation.judge(event, key)
            if verdict.delay > 0.0:
                w.stand(_ISOLATION, verdict.delay, cause, incident)
            if not w.ended:
                isolated = w.now
                if verdict.blamed or verdict.fault_stays:
                    self._take_out(stop, verdict)
                following = self._resume(key, cause, incident, _UNPLANNED)
                resumed = w.now if following is None and not w.ended else None
        symptom, confined, permanent = self._symptoms[cause], event.confined, event.permanent
        self._incidents.append(
            (since, stopped, cause, gpu, node, rank, symptom, confined, permanent, operating, key.attempt, detected,
             isolated, resumed)
        )  # fmt: skip
        return following

    def resume_after_maintenance(self, key: IncidentKey, load: float) -> Stop | None:
        """Start the job again after a planned stop, `load` s of it to load the checkpoint. All of it is maintenance.

        Returns the fault that struck the restart, if one did.
        """
        self._load = load
        return self._resume(key, NO_CAUSE, NO_INCIDENT, _PLANNED)

    def _resume(self, key: IncidentKey, cause: int, incident: int, phases: tuple[int, int]) -> Stop | None:
        """Fill the empty slots and start the job, recorded as `phases`. Returns the fault that struck the restart."""
        w = self._world
        if w.broken:
            self._take_out_broken()
        if not w.fleet.whole:
            self._wait_for_spares(phases[0], cause, incident)
        if w.ended:
            return None
        if self._silent_repairs:
            for slot in w.fleet.defective_slots():
                self._seat_defective(slot)
        following = self._start_job(key, phases[1], cause, incident)
        if w.troubles.latent and following is None and not w.ended:
            w.troubles.restarted()
        return following

    def _detection_delay(self, stop: Stop) -> float:
        detection = self._detection
        phase = self._operation.phase_now() if detection.needs_phase and stop.operating else None
        return detection.delay(stop.event, stop.key, phase)

    def _place(self, event: FaultEvent) -> tuple[int, int, int]:
        """GPU in its node, node (unit) and rank of the seat of the fault; -1 for what it does not have."""
        if not event.slots:
            return -1, -1, -1
        slot = event.slots[0]
        node = self._world.fleet.occupant(slot)
        gpu = event.gpu
        if gpu is None:
            return -1, node, slot * self._gpus
        return gpu, node, slot * self._gpus + min(gpu, self._gpus - 1)

    # -- nodes --

    def _take_out(self, stop: Stop, verdict: Verdict) -> None:
        """The blamed nodes leave the job."""
        w = self._world
        event, key = stop.event, stop.key
        for slot in verdict.blamed:
            if not w.fleet.is_empty(slot):
                self._send_to_shop(slot, event, key, broken=slot in event.slots)
                if w.broken:
                    w.broken.pop(slot, None)
        troubles = w.troubles
        if troubles.latent or troubles.returning:
            troubles.node_left(verdict.blamed)
        if verdict.fault_stays:
            self._keep(stop)

    def _take_out_broken(self) -> None:
        """Nodes that broke while the job stood still leave too."""
        w = self._world
        for slot, (event, key) in w.broken.items():
            self._send_to_shop(slot, event, key, broken=True)
        w.troubles.node_left(w.broken)
        w.broken.clear()

    def _send_to_shop(self, slot: int, event: FaultEvent, key: IncidentKey, *, broken: bool) -> None:
        """The unit in the slot goes to the shop; a spare that stands ready takes its place at once."""
        w = self._world
        stream, number, attempt = key
        if attempt:
            stream += attempt * _ATTEMPT_STRIDE
        gone, come = w.fleet.exchange(slot, w.now, broken=broken, stream=stream, number=number)
        if broken and self._silent_repairs:
            self._sent_for[gone] = event
        if w.faults.follows_units:
            w.faults.swap(slot, gone, come, w.now)

    def _keep(self, stop: Stop) -> None:
        """The fault is still in the job: it will strike again, or go on unseen until it is noticed again."""
        w = self._world
        trouble = Trouble(stop.event, stop.key, stop.since, w.now)
        trouble.key = trouble.next_attempt()
        if stop.event.effect == "slow":
            trouble.due = w.now + self._detection.delay(stop.event, trouble.key)
            w.troubles.latent.append(trouble)
        else:
            w.troubles.returning.append(trouble)

    def _wait_for_spares(self, phase: int, cause: int, incident: int) -> None:
        w = self._world
        start = w.now
        waits = 0
        while (ready := w.fleet.request(w.now)) > w.now:
            if math.isinf(ready) and not w.fleet.can_ever_fill():
                w.end("no node can return")
                break
            waits += 1
            if waits > _MOST_WAITS and math.isinf(w.horizon):
                w.end("no progress")
                break
            self._seat()  # a node in its place can fail again, though the job still waits for others
            w.stand_until_fault(min(ready, w.fleet.next_change(), w.horizon))
            if w.now >= w.horizon:
                w.end("horizon")
                break
            if w.broken:
                self._take_out_broken()
        w.record.stopped(start, w.now, phase, cause, incident)
        if not w.ended:
            self._seat()

    def _seat(self) -> None:
        w = self._world
        for slot, _, unit in w.fleet.seat(w.now):
            w.faults.swap(slot, None, unit, w.now)

    def _seat_defective(self, slot: int) -> None:
        """A node came back from the shop still broken: the fault that sent it there strikes again."""
        w = self._world
        event = self._sent_for.get(w.fleet.unit_in(slot), self._shelf_fault)
        if event is None or any(slot in trouble.event.slots for trouble in w.troubles.returning):
            return
        again = event._replace(slots=(slot,), confined=True, permanent=True)
        w.troubles.returning.append(Trouble(again, IncidentKey(event.stream, event.number, 1), w.now, w.now))

    # -- restart --

    def _start_job(self, key: IncidentKey, phase: int, cause: int, incident: int) -> Stop | None:
        """Try until a rendezvous succeeds. Returns the fault that struck the restart, if one did."""
        w = self._world
        tries = 0
        while True:
            duration, succeeds = self._restart.attempt(key, tries)
            duration += self._load
            if duration > 0.0:
                struck = None
                if w.quiet:
                    w.stand(phase, duration, cause, incident)
                else:
                    struck = self._stand_restarting(duration, phase, cause, incident)
                if struck is not None or w.ended:
                    return struck
            tries += 1
            if succeeds:
                return None
            if tries >= (self._restart.most_attempts or _MOST_ATTEMPTS):
                w.end("gave up restarting")
                return None

    def _stand_restarting(self, duration: float, phase: int, cause: int, incident: int) -> Stop | None:
        w = self._world
        start = w.now
        end = start + duration
        if end > w.horizon:
            end = w.horizon
        stop: Stop | None = None
        while w.now < end and stop is None:
            due = w.faults.next_time(w.now, RESTARTING)
            until = min(due, end)
            w.faults.run(w.now, until, RESTARTING)
            w.now = until
            if due < end:
                stop = self._struck_restarting()
        w.record.stopped(start, w.now, phase, cause, incident)
        if w.now >= w.horizon:
            w.end("horizon")
        return stop

    def _struck_restarting(self) -> Stop | None:
        w = self._world
        event = w.faults.take(w.now, RESTARTING)
        if event is None:
            return None
        key = IncidentKey(event.stream, event.number)
        if event.effect not in ("slow", "corruption"):
            return Stop(event, key, w.now, operating=False)
        w.troubles.latent.append(Trouble(event, key, w.now, w.now + self._detection.delay(event, key)))
        return None
