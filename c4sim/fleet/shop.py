"""The repair shop: stages one after another, each with its crews and one first-come-first-served queue."""

import heapq
import math
from collections import deque
from enum import Enum, auto

from c4sim.distributions import law_of
from c4sim.fleet.draws import IncidentDraws
from c4sim.fleet.places import Outage
from c4sim.scenario.cluster import Repair, RepairStage
from c4sim.streams import Purpose, Streams

# At equal times repairs end first, in the order of unit numbers; then replacements arrive.
REPAIR_ENDS = 0
REPLACEMENT_ARRIVES = 1

Event = tuple[float, int, int, Outage]  # time, kind, unit, its outage


class Verdict(Enum):
    """What a finished stage of repair says about a unit."""

    HANDED_BACK = auto()  # mended, or taken for mended (then the outage is `defective`)
    ANOTHER_STAGE = auto()
    GIVEN_UP = auto()


HANDED_BACK = Verdict.HANDED_BACK


class _Stage:
    """Crews and queue of one stage."""

    def __init__(self, stage: RepairStage, streams: Streams) -> None:
        self.crews = math.inf if stage.crews == "unlimited" else stage.crews
        self.success = stage.success
        self.handed_back = stage.success + stage.silent_failure
        self.durations = IncidentDraws(streams, Purpose.REPAIR, law_of(stage.duration))
        self.fixed = self.durations.fixed
        self.outcomes = IncidentDraws(streams, Purpose.REPAIR_OUTCOME)
        self.busy = 0
        self.waiting: deque[Outage] = deque()


class Shop:
    """Repair of units that were taken out; ends of repair go into `events`, the fleet's heap.

    A stage mends a broken unit with probability `success`, hands it back still broken with probability
    `silent_failure`, and else sees that it did not mend it: then `escalation` says what follows. A healthy unit
    (blamed wrongly) is handed back after the stage that it is in: nothing is found. Without `stages` the shop has
    one stage that always succeeds.
    """

    def __init__(self, repair: Repair, streams: Streams, events: list[Event]) -> None:
        stages = repair.stages or (RepairStage.model_construct(duration=repair.duration, crews=repair.crews),)
        self._stages = [_Stage(stage, streams) for stage in stages]
        self._escalation = repair.escalation
        self._events = events

    def admit(self, outage: Outage, now: float) -> bool:
        """A unit joins the stage that its outage names: work begins at once if a crew is free.

        Returns whether it can come back; it cannot from a stage without a crew.
        """
        stage = self._stages[outage.stage]
        if stage.busy < stage.crews:
            self._begin(stage, outage, now)
            return True
        stage.waiting.append(outage)
        return stage.crews > 0

    def _begin(self, stage: _Stage, outage: Outage, now: float) -> None:
        stage.busy += 1
        duration = stage.fixed
        if duration is None:
            duration = stage.durations.get(outage, outage.attempts)
        heapq.heappush(self._events, (now + duration, REPAIR_ENDS, outage.unit, outage))

    def finish(self, outage: Outage, now: float) -> Verdict:
        """The stage that works on the unit ends; its crew turns to the unit that has waited longest."""
        stage = self._stages[outage.stage]
        stage.busy -= 1
        if stage.waiting:
            self._begin(stage, stage.waiting.popleft(), now)
        if not outage.broken or stage.success >= 1.0:
            return HANDED_BACK
        return self._judge(stage, outage, now)

    def _judge(self, stage: _Stage, outage: Outage, now: float) -> Verdict:
        u = stage.outcomes.get(outage, outage.attempts)
        if u < stage.handed_back:
            outage.defective = u >= stage.success
            return HANDED_BACK
        outage.attempts += 1
        if self._escalation == "retire":
            return Verdict.GIVEN_UP
        if self._escalation == "next_stage" and outage.stage < len(self._stages) - 1:
            outage.stage += 1
        self.admit(outage, now)
        return Verdict.ANOTHER_STAGE

    def stuck(self, outage: Outage) -> bool:
        """Whether the unit stands in a stage without a crew, for ever."""
        return self._stages[outage.stage].crews == 0

    def load(self) -> list[tuple[int, int]]:
        """Units in work and units waiting, stage by stage."""
        return [(stage.busy, len(stage.waiting)) for stage in self._stages]
