"""Who is taken out of the job, and how long it takes to know."""

import math
from typing import NamedTuple

from c4sim.distributions import law_of
from c4sim.faults import FaultEvent
from c4sim.response.draws import Draws, IncidentKey
from c4sim.scenario import Scenario
from c4sim.streams import Purpose


class Verdict(NamedTuple):
    """Outcome of an isolation: its time, s; the slots taken out; whether the fault is still in the job."""

    delay: float
    blamed: tuple[int, ...]
    fault_stays: bool


class Isolation:
    """Diagnosis and isolation of one run, drawn by incident.

    A fault that is not confined to a node is put right within the delay; no node leaves the job. A confined one leaves with its node,
    unless a healthy node is blamed or the job is first restarted in place.
    """

    def __init__(self, scenario: Scenario, draws: Draws) -> None:
        self._draws = draws
        spec = scenario.isolation
        by_cause = spec.by_cause or {}
        self._people = [law_of(by_cause.get(name, spec.delay)) for name in scenario.faults]
        self._automatic = None if spec.automatic is None else law_of(spec.automatic.delay)
        self._names_node = 0.0 if spec.automatic is None else spec.automatic.names_node
        self._halving = None if spec.halving is None else law_of(spec.halving.test)
        self._tests = math.ceil(math.log2(scenario.job.nodes)) if scenario.job.nodes > 1 else 0
        self._wrong_blame = spec.wrong_blame
        self._in_place = 0 if spec.restart_in_place is None else spec.restart_in_place.attempts
        self._nodes = scenario.job.nodes

    def judge(self, event: FaultEvent, key: IncidentKey) -> Verdict:
        """The isolation of one incident."""
        confined = event.confined and bool(event.slots)
        if key.attempt < self._in_place:
            return Verdict(0.0, (), fault_stays=event.permanent and confined)
        if confined and self._automatic is not None and self._named(key):
            return Verdict(self._draws.delay(self._automatic, Purpose.AUTOMATIC, key), event.slots, fault_stays=False)
        delay = self._peoples_delay(event, key, confined)
        if not confined:
            return Verdict(delay, (), fault_stays=False)
        if self._wrong_blame > 0.0 and self._draws.uniform(Purpose.BLAME, key) < self._wrong_blame:
            return Verdict(delay, (self._innocent(event, key),), fault_stays=True)
        return Verdict(delay, event.slots, fault_stays=False)

    def _named(self, key: IncidentKey) -> bool:
        return self._names_node >= 1.0 or self._draws.uniform(Purpose.NAMING, key) < self._names_node

    def _peoples_delay(self, event: FaultEvent, key: IncidentKey, confined: bool) -> float:
        if confined and self._halving is not None:
            return self._tests * self._draws.delay(self._halving, Purpose.ISOLATION, key)
        return self._draws.delay(self._people[event.class_index], Purpose.ISOLATION, key)

    def _innocent(self, event: FaultEvent, key: IncidentKey) -> int:
        others = self._nodes - len(event.slots)
        if others < 1:
            return event.slots[0]
        place = int(self._draws.uniform(Purpose.BLAMED_PLACE, key) * others)
        for slot in sorted(event.slots):
            place += place >= slot
        return place
