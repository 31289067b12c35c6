"""What the parts of a job's loop share: time, the fleet, the faults, the checkpoints, the ledger."""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

from c4sim.checkpoint import make_checkpoints
from c4sim.faults import Activity, FaultEvent, FaultProcess
from c4sim.fleet import Fleet
from c4sim.ledger import Ledger
from c4sim.response import IncidentKey
from c4sim.scenario import Scenario
from c4sim.simulation.recorder import Recorder
from c4sim.simulation.troubles import Troubles
from c4sim.streams import Streams

STOPPING_EFFECTS = ("crash", "hang")
STOPPED, RESTARTING, OPERATING = Activity


class Stop(NamedTuple):
    """What stopped the job. since: when the fault struck; operating: the job was at work; noticed: detected already."""

    event: FaultEvent
    key: IncidentKey
    since: float
    operating: bool
    noticed: bool = False


make_stop = partial(tuple.__new__, Stop)  # from its five fields, without the Python constructor of a NamedTuple


class World:
    """State of one run. `now` is the job's time, s; the job's process lets SimPy's clock follow it.

    quiet: no fault can strike while the job does not operate.
    """

    def __init__(self, scenario: Scenario, streams: Streams, ledger: Ledger, recorder: Recorder) -> None:
        self.ledger = ledger
        self.record = recorder
        self.fleet = Fleet(scenario, streams)
        self.faults = FaultProcess(scenario, streams, self.fleet.slot_of)
        self.checkpoints = make_checkpoints(scenario, streams, self.faults.operating_mtbf_s())
        self.quiet = all(fault.clock == "operating" for fault in scenario.faults.values()) and not scenario.fault_list
        classes = scenario.faults.values()
        self.troubles = Troubles({i: f.slow_factor for i, f in enumerate(classes) if f.slow_factor is not None})
        self.broken: dict[int, tuple[FaultEvent, IncidentKey]] = {}
        self.horizon = math.inf if scenario.horizon is None else scenario.horizon
        self.now = 0.0
        self.ended = False

    def end(self, reason: str) -> None:
        """The run ends now, for this reason; the first reason stands."""
        if not self.ended:
            self.ended = True
            self.ledger.end_reason = reason

    def stand(self, phase: int, duration: float, cause: int, incident: int) -> None:
        """The job stands still for `duration`, recorded as `phase`; ends the run at the horizon."""
        start = self.now
        end = start + duration
        if end >= self.horizon:
            end = self.horizon
            self.end("horizon")
        if self.quiet:
            self.now = end
        else:
            while self.now < end:
                self.stand_until_fault(end)
        self.record.stopped(start, end, phase, cause, incident)

    def stand_until_fault(self, end: float) -> None:
        """Time passes until `end`, or until a fault strikes the job that stands still (calendar clocks): its node is
        broken then.
        """
        due = self.faults.next_time(self.now, STOPPED)
        if due >= end:
            self.faults.run(self.now, end, STOPPED)
            self.now = end
            return
        self.faults.run(self.now, due, STOPPED)
        self.now = due
        event = self.faults.take(due, STOPPED)
        if event is not None:
            self._struck_while_stopped(event)

    def _struck_while_stopped(self, event: FaultEvent) -> None:
        self.ledger.stopped_faults += 1
        if not event.confined or event.effect not in STOPPING_EFFECTS:
            return
        key = IncidentKey(event.stream, event.number)
        for slot in event.slots:
            if not self.fleet.is_empty(slot):
                self.broken.setdefault(slot, (event, key))
