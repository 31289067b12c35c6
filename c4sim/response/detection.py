"""How long until a fault is noticed: one delay, or a chain of layers."""

from typing import NamedTuple

import numpy as np

from c4sim.distributions import Fixed, law_of
from c4sim.faults import FaultEvent
from c4sim.response.draws import IncidentKey, Sampler
from c4sim.scenario import Scenario
from c4sim.scenario.combinations import BLIND_TO_SLOWNESS
from c4sim.scenario.faults import FaultClass
from c4sim.scenario.response import Layer
from c4sim.streams import Floats, Purpose, Streams

_COLUMNS = 4  # numbers that a layer draws for one incident: delay, phase, coverage, none
_LAYERS = 8  # that share a stream: a chain of more takes several
_FIRST_BLOCK = 16
_LARGEST_BLOCK = 1024


class _Layer:
    """One layer of the chain."""

    def __init__(self, spec: Layer) -> None:
        self._kind = spec.kind
        self._symptoms = spec.symptoms
        self._period = spec.period
        self._limits = {phase: limit for phase, limit in spec.limits or () if limit is not None}
        self._law = law_of(spec.delay)
        self._fixed = self._law.mean if isinstance(self._law, Fixed) else None
        self._coverage = spec.coverage
        self.after_previous = spec.since == "previous"
        self.needs_phase = bool(self._limits)

    def can_see(self, fault: FaultClass) -> bool:
        """Whether faults of this class are of the kind that the layer looks for."""
        if fault.effect == "slow" and self._kind in BLIND_TO_SLOWNESS:
            return False
        return self._symptoms is None or fault.symptom in self._symptoms

    def covered(self, drawn: Floats, fired: Floats | float) -> Floats | float:
        """`fired`, but inf for each incident that it misses."""
        return fired if self._coverage >= 1.0 else np.where(drawn[:, 2] < self._coverage, fired, np.inf)

    def fires_after(self, drawn: Floats, phase: str | None) -> Floats | float:
        """Time, s, from when its clock starts until it fires, for each incident or the same for all."""
        delay: Floats | float | None = self._limits.get(phase) if phase is not None else None
        if delay is None:
            delay = self._fixed if self._fixed is not None else self._law.quantile(drawn[:, 0])
        if self._period is None:
            return delay
        waited = self._period * drawn[:, 1]
        return np.maximum(delay - waited, 0.0) if self._kind == "heartbeat" else delay + waited


class _Link(NamedTuple):
    """A layer, by its number in the chain, as one fault class meets it. sees: it looks for such faults."""

    number: int
    layer: _Layer
    sees: bool


def _links(layers: list[_Layer], fault: FaultClass) -> list[_Link]:
    """The layers that matter to a class, in their order: those that look for it, and those whose alarm starts the clock
    of one that matters.
    """
    links: list[_Link] = []
    starts_next = False
    for number, layer in reversed(list(enumerate(layers))):
        sees = layer.can_see(fault)
        matters = sees or starts_next
        if matters:
            links.insert(0, _Link(number, layer, sees))
        starts_next = matters and layer.after_previous
    return links


class _Chain:
    """The chain's delays for the incidents of one class, drawn in blocks.

    Layer i of incident n draws numbers 4 (i mod 8) to 4 (i mod 8) + 3 of the incident's 32 in stream number i div 8.
    """

    def __init__(self, layers: list[_Layer], fault: FaultClass, streams: Streams) -> None:
        self._links = _links(layers, fault)
        self._streams = streams
        self._first: dict[tuple[int, str | None], list[float]] = {}

    def delay(self, key: IncidentKey, phase: str | None) -> float:
        """The incident's own delay, s; inf if no layer sees it."""
        if key.attempt:
            return float(self._delays(key, 1, phase)[0])
        drawn = self._first.setdefault((key.stream, phase), [])
        while key.number >= len(drawn):
            size = min(max(_FIRST_BLOCK, len(drawn)), _LARGEST_BLOCK)
            drawn += self._delays(IncidentKey(key.stream, len(drawn)), size, phase).tolist()
        return drawn[key.number]

    def _delays(self, first: IncidentKey, count: int, phase: str | None) -> Floats:
        """Delays, s, of `count` incidents from `first` on."""
        noticed: Floats | float = np.inf
        fired: Floats | float = 0.0
        columns: dict[int, Floats] = {}
        for number, layer, sees in self._links:
            part, place = divmod(number, _LAYERS)
            if part not in columns:
                columns[part] = self._draw(first, count, part)
            drawn = columns[part][:, _COLUMNS * place : _COLUMNS * (place + 1)]
            after = layer.fires_after(drawn, phase)
            fired = after + fired if layer.after_previous else after
            if sees:
                noticed = np.minimum(noticed, layer.covered(drawn, fired))
        return np.broadcast_to(noticed, count)

    def _draw(self, first: IncidentKey, count: int, part: int) -> Floats:
        stride = _COLUMNS * _LAYERS
        numbers = self._streams.uniforms(Purpose.LAYERS, first.entity(part), stride * first.number, stride * count)
        return numbers.reshape(count, stride)


class Detection:
    """Delays of detection of one run, drawn by incident."""

    def __init__(self, scenario: Scenario, streams: Streams) -> None:
        self._delay = Sampler(streams, Purpose.DETECTION, law_of(scenario.detection.delay))
        layers = [_Layer(layer) for layer in scenario.detection.layers or ()]
        faults = scenario.faults.values()
        latencies = [None if fault.latency is None else law_of(fault.latency) for fault in faults]
        self._latency = [Sampler(streams, Purpose.LATENCY, law) for law in latencies]
        self._chains = [_Chain(layers, fault, streams) for fault in faults] if layers else None
        self.needs_phase = any(layer.needs_phase for layer in layers)

    def delay(self, event: FaultEvent, key: IncidentKey, phase: str | None = None) -> float:
        """Time, s, from the fault until it is noticed; inf if no layer sees it.

        A crash ends in an error at once. A silent corruption has its class's own latency. Hangs and slow nodes wait
        for `detection.delay`, or for the first of the layers that sees them. `phase`: what the job did (first_step,
        save, evaluation).
        """
        effect = event.effect
        if effect == "crash":
            return 0.0
        if effect == "corruption":
            return self._latency[event.class_index].at(key)
        if self._chains is None:
            return self._delay.at(key)
        return self._chains[event.class_index].delay(key, phase)
