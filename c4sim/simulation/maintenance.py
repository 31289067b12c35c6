"""Planned maintenance: windows that stop the whole job."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from c4sim.distributions import Fixed, law_of
from c4sim.faults import FaultEvent
from c4sim.ledger import NO_CAUSE, NO_INCIDENT, Phase
from c4sim.response import IncidentKey
from c4sim.scenario import Scenario
from c4sim.streams import BlockReader, Purpose, Streams

if TYPE_CHECKING:
    from c4sim.simulation.operation import Operation
    from c4sim.simulation.recovery import Recovery
    from c4sim.simulation.world import Stop, World

_STREAM = (1 << 20) - 1  # address of the restarts after maintenance, apart from every fault class's


class Window(NamedTuple):
    """Maintenance window `number` (0: the first), which lasts `duration`, s. notice: the job saves before it stops."""

    number: int
    duration: float
    notice: bool


class MaintenancePlan:
    """Windows at every multiple of `every` of calendar time; one that falls into a stop of the job begins with its
    next stretch.

    next_start: time of the next window, s; inf without maintenance.
    """

    def __init__(self, scenario: Scenario, streams: Streams) -> None:
        spec = scenario.maintenance
        self._every = math.inf if spec is None else spec.every
        self._law = Fixed(0.0) if spec is None else law_of(spec.duration)
        self._notice = spec is not None and spec.notice
        self._lengths = BlockReader(streams, Purpose.MAINTENANCE, 0, self._law.quantile)
        self._number = 0
        self.next_start = self._every

    def begin(self, now: float) -> Window:
        """The window that is due now; the next one is the first multiple after `now` (missed ones are not made up
        for).
        """
        window = Window(self._number, self._lengths.get(self._number), self._notice)
        self._number += 1
        multiple = max(math.floor(now / self._every), 1)
        while multiple * self._every <= now:
            multiple += 1
        self.next_start = multiple * self._every
        return window


def carry_out(window: Window, world: World, operation: Operation, recovery: Recovery) -> Stop | None:
    """Stop the job for the window and start it again. Returns the fault that struck the restart, if one did.

    With notice the job first writes a checkpoint, outside its schedule, and stops when that is durable; without, it
    loses what was not saved. Neither is an incident, and all that the stop costs but the save is maintenance, restart
    and lost work included: planned stops are counted apart from downtime.
    """
    world.ledger.planned_stops += 1
    key = IncidentKey(_STREAM, window.number)
    if window.notice:
        stall, load = operation.save_and_stop()
        world.stand(int(Phase.CHECKPOINT_STALL), stall, NO_CAUSE, NO_INCIDENT)
    else:
        load = operation.roll_back(_planned_stop(), NO_INCIDENT, phase=int(Phase.MAINTENANCE))
    if not world.ended:
        world.stand(int(Phase.MAINTENANCE), window.duration, NO_CAUSE, NO_INCIDENT)
    return None if world.ended else recovery.resume_after_maintenance(key, load)


def _planned_stop() -> FaultEvent:
    return FaultEvent(NO_CAUSE, "maintenance", _STREAM, 0, (), None, False, False, "crash")
