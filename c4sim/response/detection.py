"""How long until a fault is noticed: one delay, or a chain of layers."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from c4sim.distributions import Law, law_of
from c4sim.faults import FaultEvent
from c4sim.response.draws import Draws, IncidentKey
from c4sim.scenario import Scenario
from c4sim.scenario.response import Layer
from c4sim.streams import Purpose

# What watches for silence cannot see a slow node: it still answers.
BLIND_TO_SLOWNESS = frozenset(
    {"process_exit", "heartbeat", "collective_watchdog", "second_monitor", "elastic_agent", "scheduler"}
)


@dataclass(frozen=True, slots=True)
class _Layer:
    spec: Layer
    law: Law
    index: int
    limits: dict[str, float]

    def sees(self, effect: str, symptom: str) -> bool:
        spec = self.spec
        if effect == "slow" and spec.kind in BLIND_TO_SLOWNESS:
            return False
        return spec.symptoms is None or symptom in spec.symptoms

    def fires_after(self, draws: Draws, key: IncidentKey, phase: str | None) -> float:
        limit = self.limits.get(phase) if phase is not None else None
        delay = draws.delay(self.law, Purpose.DETECTION, key, self.index) if limit is None else limit
        period = self.spec.period
        if period is None:
            return delay
        waited = period * draws.uniform(Purpose.LAYER_PHASE, key, self.index)
        return max(delay - waited, 0.0) if self.spec.kind == "heartbeat" else delay + waited


class Detection:
    """Delays of detection of one run, drawn by incident."""

    def __init__(self, scenario: Scenario, draws: Draws) -> None:
        self._draws = draws
        self._delay = law_of(scenario.detection.delay)
        self._layers = _layers_of(scenario.detection.layers)
        self._latency = [None if f.latency is None else law_of(f.latency) for f in scenario.faults.values()]
        self._symptoms = [fault.symptom for fault in scenario.faults.values()]
        self.needs_phase = any(layer.limits for layer in self._layers)

    def delay(self, event: FaultEvent, key: IncidentKey, phase: str | None = None) -> float:
        """Time, s, from the fault until it is noticed.

        A crash ends in an error at once. A silent corruption has its class's own latency. Hangs and slow nodes wait for
        `detection.delay`, or for the first of the layers that sees them. `phase`: what the job did (first_step, save, evaluation).
        """
        if event.effect == "crash":
            return 0.0
        if event.effect == "corruption":
            latency = self._latency[event.class_index]
            return 0.0 if latency is None else self._draws.delay(latency, Purpose.LATENCY, key)
        if not self._layers:
            return self._draws.delay(self._delay, Purpose.DETECTION, key)
        return self._first_layer(event, key, phase)

    def _first_layer(self, event: FaultEvent, key: IncidentKey, phase: str | None) -> float:
        symptom = self._symptoms[event.class_index]
        first = math.inf
        fired = 0.0
        for layer in self._layers:
            start = fired if layer.spec.since == "previous" else 0.0
            fired = start + layer.fires_after(self._draws, key, phase)
            if not layer.sees(event.effect, symptom):
                continue
            coverage = layer.spec.coverage
            if coverage >= 1.0 or self._draws.uniform(Purpose.COVERAGE, key, layer.index) < coverage:
                first = min(first, fired)
        return first


def _layers_of(layers: Sequence[Layer] | None) -> tuple[_Layer, ...]:
    return tuple(
        _Layer(layer, law_of(layer.delay), index, _limits_of(layer)) for index, layer in enumerate(layers or ())
    )


def _limits_of(layer: Layer) -> dict[str, float]:
    return {} if layer.limits is None else layer.limits.model_dump(mode="python", exclude_none=True)
