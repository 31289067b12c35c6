"""How long until a fault is noticed: one delay, or a chain of layers."""

import math

from c4sim.distributions import law_of
from c4sim.faults import FaultEvent
from c4sim.response.draws import IncidentKey, Sampler
from c4sim.scenario import Scenario
from c4sim.scenario.combinations import BLIND_TO_SLOWNESS
from c4sim.scenario.response import Layer
from c4sim.streams import Purpose, Streams


class _Layer:
    """One layer of the chain with its draws; its number in the chain is the part of each draw."""

    def __init__(self, spec: Layer, index: int, streams: Streams) -> None:
        self.spec = spec
        self.index = index
        self.limits = {phase: limit for phase, limit in spec.limits or () if limit is not None}
        self._delay = Sampler(streams, Purpose.DETECTION, law_of(spec.delay))
        self._phase = Sampler(streams, Purpose.LAYER_PHASE)
        self._coverage = Sampler(streams, Purpose.COVERAGE)

    def sees(self, effect: str, symptom: str, key: IncidentKey) -> bool:
        spec = self.spec
        if effect == "slow" and spec.kind in BLIND_TO_SLOWNESS:
            return False
        if spec.symptoms is not None and symptom not in spec.symptoms:
            return False
        return spec.coverage >= 1.0 or self._coverage.at(key, self.index) < spec.coverage

    def fires_after(self, key: IncidentKey, phase: str | None) -> float:
        limit = self.limits.get(phase) if phase is not None else None
        delay = self._delay.at(key, self.index) if limit is None else limit
        period = self.spec.period
        if period is None:
            return delay
        waited = period * self._phase.at(key, self.index)
        return max(delay - waited, 0.0) if self.spec.kind == "heartbeat" else delay + waited


class Detection:
    """Delays of detection of one run, drawn by incident."""

    def __init__(self, scenario: Scenario, streams: Streams) -> None:
        self._delay = Sampler(streams, Purpose.DETECTION, law_of(scenario.detection.delay))
        layers = scenario.detection.layers or ()
        self._layers = [_Layer(layer, index, streams) for index, layer in enumerate(layers)]
        faults = scenario.faults.values()
        latencies = [None if fault.latency is None else law_of(fault.latency) for fault in faults]
        self._latency = [Sampler(streams, Purpose.LATENCY, law) for law in latencies]
        self._symptoms = [fault.symptom for fault in faults]
        self.needs_phase = any(layer.limits for layer in self._layers)

    def delay(self, event: FaultEvent, key: IncidentKey, phase: str | None = None) -> float:
        """Time, s, from the fault until it is noticed.

        A crash ends in an error at once. A silent corruption has its class's own latency. Hangs and slow nodes wait
        for `detection.delay`, or for the first of the layers that sees them. `phase`: what the job did (first_step,
        save, evaluation).
        """
        effect = event.effect
        if effect == "crash":
            return 0.0
        if effect == "corruption":
            return self._latency[event.class_index].at(key)
        if not self._layers:
            return self._delay.at(key)
        return self._first_layer(effect, self._symptoms[event.class_index], key, phase)

    def _first_layer(self, effect: str, symptom: str, key: IncidentKey, phase: str | None) -> float:
        first = math.inf
        fired = 0.0
        for layer in self._layers:
            start = fired if layer.spec.since == "previous" else 0.0
            fired = start + layer.fires_after(key, phase)
            if layer.sees(effect, symptom, key):
                first = min(first, fired)
        return first
