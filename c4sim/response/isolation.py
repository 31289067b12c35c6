"""Who is taken out of the job, and how long it takes to know."""

import math
from functools import partial
from typing import NamedTuple

from c4sim.distributions import law_of
from c4sim.faults import FaultEvent
from c4sim.response.draws import IncidentKey, Sampler
from c4sim.scenario import Scenario
from c4sim.streams import Purpose, Streams


class Verdict(NamedTuple):
    """Outcome of an isolation: its time, s; the slots taken out; whether the fault is still in the job."""

    delay: float
    blamed: tuple[int, ...]
    fault_stays: bool


_verdict = partial(tuple.__new__, Verdict)  # without the Python constructor of a NamedTuple


class Isolation:
    """Diagnosis and isolation of one run, drawn by incident.

    A fault that is not confined to a node is put right within the delay; no node leaves the job. A confined one leaves
    with its node, unless a healthy node is blamed or the job is first restarted in place.
    """

    def __init__(self, scenario: Scenario, streams: Streams) -> None:
        spec = scenario.isolation
        by_cause = spec.by_cause or {}
        self._people = [
            Sampler(streams, Purpose.ISOLATION, law_of(by_cause.get(name, spec.delay))) for name in scenario.faults
        ]
        automatic = spec.automatic
        self._automatic = None if automatic is None else Sampler(streams, Purpose.AUTOMATIC, law_of(automatic.delay))
        self._names_node = 0.0 if automatic is None else automatic.names_node
        self._naming = Sampler(streams, Purpose.NAMING)
        halving = spec.halving
        self._halving = None if halving is None else Sampler(streams, Purpose.ISOLATION, law_of(halving.test))
        self._nodes = scenario.job.nodes
        self._tests = math.ceil(math.log2(self._nodes)) if self._nodes > 1 else 0
        self._wrong_blame = spec.wrong_blame
        self._blame = Sampler(streams, Purpose.BLAME)
        self._blamed_place = Sampler(streams, Purpose.BLAMED_PLACE)
        self._in_place = 0 if spec.restart_in_place is None else spec.restart_in_place.attempts

    def judge(self, event: FaultEvent, key: IncidentKey) -> Verdict:
        """The isolation of one incident."""
        confined = event.confined and bool(event.slots)
        if self._in_place and key.attempt < self._in_place:
            return Verdict(0.0, (), fault_stays=event.permanent)
        if not confined:
            return _verdict((self._people[event.class_index].at(key), (), False))
        if self._automatic is not None and (self._names_node >= 1.0 or self._naming.at(key) < self._names_node):
            return _verdict((self._automatic.at(key), event.slots, False))
        delay = self._peoples_delay(event, key)
        if self._wrong_blame > 0.0 and self._blame.at(key) < self._wrong_blame:
            return Verdict(delay, (self._innocent(event, key),), fault_stays=True)
        return _verdict((delay, event.slots, False))

    def _peoples_delay(self, event: FaultEvent, key: IncidentKey) -> float:
        if self._halving is not None:
            return self._tests * self._halving.at(key)
        return self._people[event.class_index].at(key)

    def _innocent(self, event: FaultEvent, key: IncidentKey) -> int:
        others = self._nodes - len(event.slots)
        if others < 1:
            return event.slots[0]
        place = int(self._blamed_place.at(key) * others)
        for slot in sorted(event.slots):
            place += place >= slot
        return place
