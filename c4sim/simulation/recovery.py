"""The answer to a fault: detection, isolation, spares, restart. A fault that strikes a restart begins the answer anew."""

from __future__ import annotations

import math
from collections.abc import Generator
from typing import Any

import simpy

from c4sim.faults import Activity, FaultEvent
from c4sim.ledger import Incident, Phase
from c4sim.response import Detection, IncidentKey, Isolation, Restart, Verdict
from c4sim.scenario import Scenario
from c4sim.simulation.operation import Operation
from c4sim.simulation.troubles import Trouble
from c4sim.simulation.world import Steps, Stop, World

_ATTEMPT_STRIDE = 1 << 20
_MOST_ATTEMPTS = 10_000  # the same fault, or the same restart, again and again: the run has no end of its own


class Recovery:
    """From a stopped job to a running one."""

    def __init__(
        self, world: World, scenario: Scenario, operation: Operation, detection: Detection, isolation: Isolation
    ) -> None:
        self._world = world
        self._operation = operation
        self._detection = detection
        self._isolation = isolation
        self._restart = Restart(scenario, world.draws)
        self._symptoms = [fault.symptom for fault in scenario.faults.values()]
        self._gpus = scenario.job.gpus_per_node
        self._sent_for: dict[int, FaultEvent] = {}
        self._load = 0.0

    def answer(self, stop: Stop) -> Steps:
        """Bring the job back, however many faults strike meanwhile."""
        following: Stop | None = stop
        while following is not None and not self._world.ended:
            following = yield from self._answer_one(following)

    def _answer_one(self, stop: Stop) -> Generator[simpy.Event, Any, Stop | None]:
        w = self._world
        incident = len(w.ledger.incidents)
        w.ledger.incidents.append(self._describe(stop))
        times: list[float] = []
        following: Stop | None = None
        delay = 0.0 if stop.noticed else self._detection_delay(stop)
        if stop.operating:
            self._load = self._operation.roll_back(stop, incident)
        if not w.ended:
            following = yield from self._phases(stop, delay, incident, times)
        detected, isolated, resumed = (*times, None, None, None)[:3]
        w.ledger.incidents[incident] = w.ledger.incidents[incident]._replace(
            detected=detected, isolated=isolated, resumed=resumed
        )
        return following

    def _phases(
        self, stop: Stop, delay: float, incident: int, times: list[float]
    ) -> Generator[simpy.Event, Any, Stop | None]:
        """Detection, isolation, spares, restart; `times` receives the end of detection, of isolation and of the restart."""
        w = self._world
        cause = stop.event.class_index
        yield from w.stand(Phase.DETECTION, delay, cause, incident)
        if w.ended:
            return None
        times.append(w.now)
        verdict = self._isolation.judge(stop.event, stop.key)
        yield from w.stand(Phase.ISOLATION, verdict.delay, cause, incident)
        if w.ended:
            return None
        times.append(w.now)
        self._take_out(stop, verdict)
        following = yield from self.resume(stop.key, cause, incident)
        if following is None and not w.ended:
            times.append(w.now)
        return following

    def resume(
        self, key: IncidentKey, cause: int, incident: int, load: float | None = None
    ) -> Generator[simpy.Event, Any, Stop | None]:
        """Fill the empty slots and start the job. load: time, s, to load the checkpoint (None: as after the last rollback)."""
        w = self._world
        if load is not None:
            self._load = load
        self._take_out_broken()
        yield from self._wait_for_spares(cause, incident)
        if w.ended:
            return None
        following = yield from self._start_job(key, cause, incident)
        if following is None and not w.ended:
            w.troubles.restarted()
        return following

    def _detection_delay(self, stop: Stop) -> float:
        phase = self._operation.phase_now() if stop.operating and self._detection.needs_phase else None
        return self._detection.delay(stop.event, stop.key, phase)

    def _describe(self, stop: Stop) -> Incident:
        event = stop.event
        slot = event.slots[0] if event.slots else -1
        node = -1 if slot < 0 or self._world.fleet.is_empty(slot) else self._world.fleet.unit_in(slot)
        gpu = -1 if event.gpu is None else event.gpu
        rank = -1 if slot < 0 else slot * self._gpus + max(gpu, 0)
        return Incident(
            time=stop.since,
            cause=event.class_index,
            gpu=gpu,
            node=node,
            rank=rank,
            symptom=self._symptoms[event.class_index],
            confined=event.confined,
            permanent=event.permanent,
            operating=stop.operating,
            attempt=stop.key.attempt,
            detected=None,
            isolated=None,
            resumed=None,
        )

    # -- nodes --------------------------------------------------------------------------------------------------------

    def _take_out(self, stop: Stop, verdict: Verdict) -> None:
        """The blamed nodes leave, and with them those that broke while the job stood still."""
        w = self._world
        event = stop.event
        left = [slot for slot in verdict.blamed if not w.fleet.is_empty(slot)]
        for slot in left:
            self._send_to_shop(slot, event, stop.key, broken=slot in event.slots)
            w.broken.pop(slot, None)
        w.troubles.node_left(left)
        if verdict.fault_stays:
            self._keep(stop)

    def _take_out_broken(self) -> None:
        w = self._world
        for slot, (event, key) in w.broken.items():
            self._send_to_shop(slot, event, key, broken=True)
        w.troubles.node_left(w.broken)
        w.broken.clear()

    def _send_to_shop(self, slot: int, event: FaultEvent, key: IncidentKey, *, broken: bool) -> None:
        w = self._world
        unit = w.fleet.unit_in(slot)
        if broken:
            self._sent_for[unit] = event
        stream = key.stream + key.attempt * _ATTEMPT_STRIDE
        w.fleet.take_out(slot, w.now, broken=broken, stream=stream, number=key.number)
        w.faults.swap(slot, unit, None, w.now)

    def _keep(self, stop: Stop) -> None:
        """The fault is still in the job: it will strike again, or go on unseen until it is noticed again."""
        w = self._world
        trouble = Trouble(stop.event, stop.key, stop.since, w.now)
        trouble.key = trouble.next_attempt()
        if trouble.key.attempt >= _MOST_ATTEMPTS:
            w.end("no progress")
        if stop.event.effect == "slow":
            trouble.due = w.now + self._detection.delay(stop.event, trouble.key)
            w.troubles.latent.append(trouble)
        else:
            w.troubles.returning.append(trouble)

    def _wait_for_spares(self, cause: int, incident: int) -> Steps:
        w = self._world
        start = w.now
        while True:
            ready = w.fleet.request(w.now)
            if ready <= w.now or w.now >= w.horizon:
                break
            if math.isinf(ready) and not w.fleet.can_ever_fill():
                w.end("no node can return")
                break
            yield from w.stand_until_fault(min(ready, w.fleet.next_change(), w.horizon))
            self._take_out_broken()
        w.record.stopped(start, w.now, Phase.SPARE_WAIT, cause, incident)
        if w.now >= w.horizon:
            w.end("horizon")
        if not w.ended:
            self._seat()

    def _seat(self) -> None:
        w = self._world
        for slot, _, unit in w.fleet.seat(w.now):
            w.faults.swap(slot, None, unit, w.now)
        for slot in w.fleet.defective_slots():
            self._seat_defective(slot)

    def _seat_defective(self, slot: int) -> None:
        """A node that came back from the shop still broken: the fault that sent it there strikes again."""
        w = self._world
        if any(slot in trouble.event.slots for trouble in w.troubles.returning):
            return
        event = self._sent_for.get(w.fleet.unit_in(slot))
        if event is not None:
            again = event._replace(slots=(slot,), confined=True, permanent=True)
            key = IncidentKey(event.stream, event.number, 1)
            w.troubles.returning.append(Trouble(again, key, w.now, w.now))

    # -- restart --------------------------------------------------------------------------------------------------------

    def _start_job(self, key: IncidentKey, cause: int, incident: int) -> Generator[simpy.Event, Any, Stop | None]:
        """Try until a rendezvous succeeds. Returns the fault that struck the restart, if one did."""
        w = self._world
        tries = 0
        while True:
            attempt = self._restart.attempt(key, tries)
            struck = yield from self._stand_restarting(attempt.duration + self._load, cause, incident)
            if struck is not None or w.ended:
                return struck
            tries += 1
            if attempt.succeeds:
                return None
            if tries >= (self._restart.most_attempts or _MOST_ATTEMPTS):
                w.end("gave up restarting")
                return None

    def _stand_restarting(
        self, duration: float, cause: int, incident: int
    ) -> Generator[simpy.Event, Any, Stop | None]:
        w = self._world
        start = w.now
        end = min(start + duration, w.horizon)
        stop: Stop | None = None
        while w.now < end and stop is None:
            due = w.faults.next_time(w.now, Activity.RESTARTING)
            yield from w.move(min(due, end), Activity.RESTARTING)
            if due < end:
                stop = self._struck_restarting()
        w.record.stopped(start, w.now, Phase.RESTART, cause, incident)
        if w.now >= w.horizon:
            w.end("horizon")
        return stop

    def _struck_restarting(self) -> Stop | None:
        w = self._world
        event = w.faults.take(w.now, Activity.RESTARTING)
        if event is None:
            return None
        key = IncidentKey(event.stream, event.number)
        if event.effect in ("slow", "corruption"):
            due = w.now + self._detection.delay(event, key)
            w.troubles.latent.append(Trouble(event, key, w.now, due))
            return None
        return Stop(event, key, w.now, operating=False)
