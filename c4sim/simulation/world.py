"""What the parts of a job's loop share: the clock, the fleet, the faults, the checkpoints, the ledger."""

from __future__ import annotations

import math
from collections.abc import Generator
from typing import Any, NamedTuple

import simpy

from c4sim.checkpoint import Checkpoints
from c4sim.faults import Activity, FaultEvent, FaultProcess
from c4sim.faults.places import Topology
from c4sim.faults.rates import event_rate
from c4sim.fleet import Fleet
from c4sim.ledger import Ledger, Phase
from c4sim.response import Draws, IncidentKey
from c4sim.scenario import Scenario
from c4sim.simulation.recorder import Recorder
from c4sim.simulation.troubles import Troubles
from c4sim.streams import Streams

Steps = Generator[simpy.Event, Any, None]


class Stop(NamedTuple):
    """What stopped the job. since: when the fault struck; operating: the job was at work; noticed: detected already."""

    event: FaultEvent
    key: IncidentKey
    since: float
    operating: bool
    noticed: bool = False


def job_mtbf_s(scenario: Scenario) -> float:
    """Mean time between the faults that stop the job (crash, hang), s of their clocks, at long-run rates; inf without any."""
    topology = Topology.of(scenario)
    rate = sum(event_rate(f, topology) for f in scenario.faults.values() if f.effect in ("crash", "hang"))
    return 1.0 / rate if rate > 0.0 else math.inf


class World:
    """State of one run. Only `now` says what time it is: SimPy's own clock may differ from it by a rounding, never by more."""

    def __init__(
        self, env: simpy.Environment, scenario: Scenario, streams: Streams, ledger: Ledger, recorder: Recorder
    ) -> None:
        self.env = env
        self.ledger = ledger
        self.record = recorder
        self.fleet = Fleet(scenario, streams)
        self.faults = FaultProcess(scenario, streams, self.fleet.slot_of)
        self.checkpoints = Checkpoints(scenario, streams, job_mtbf_s(scenario))
        self.draws = Draws(streams)
        classes = scenario.faults.values()
        self.troubles = Troubles({i: f.slow_factor for i, f in enumerate(classes) if f.slow_factor is not None})
        self.broken: dict[int, tuple[FaultEvent, IncidentKey]] = {}
        self.horizon = math.inf if scenario.horizon is None else scenario.horizon
        self.now = 0.0

    @property
    def ended(self) -> bool:
        """The run has its reason to end."""
        return bool(self.ledger.end_reason)

    def end(self, reason: str) -> None:
        """The run ends now, for this reason; the first reason stands."""
        if not self.ledger.end_reason:
            self.ledger.end_reason = reason

    def move(self, until: float, activity: Activity) -> Steps:
        """Let time pass until `until`; the clocks that this activity drives run."""
        if until > self.now:
            yield self.env.timeout(max(until - self.env.now, 0.0))
            self.faults.run(self.now, until, activity)
            self.now = until

    def stand(self, phase: Phase, duration: float, cause: int, incident: int) -> Steps:
        """The job stands still for `duration`, recorded as `phase`; ends the run at the horizon."""
        if not duration > 0.0:
            return
        start = self.now
        end = min(start + duration, self.horizon)
        while self.now < end:
            yield from self.stand_until_fault(end)
        self.record.stopped(start, end, phase, cause, incident)
        if end == self.horizon:
            self.end("horizon")

    def stand_until_fault(self, end: float) -> Steps:
        """The job stands still until `end`, or until a fault strikes it meanwhile (calendar clocks): its node is broken then."""
        due = self.faults.next_time(self.now, Activity.STOPPED)
        yield from self.move(min(due, end), Activity.STOPPED)
        if due < end:
            event = self.faults.take(due, Activity.STOPPED)
            if event is not None:
                self._struck_while_stopped(event)

    def _struck_while_stopped(self, event: FaultEvent) -> None:
        self.ledger.stopped_faults += 1
        if not event.confined or event.effect not in ("crash", "hang"):
            return
        key = IncidentKey(event.stream, event.number)
        for slot in event.slots:
            if not self.fleet.is_empty(slot):
                self.broken.setdefault(slot, (event, key))
