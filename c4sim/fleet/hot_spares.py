"""Failures of hot spares: a Poisson stream of their own over the units that stand on a shelf."""

import math

import numpy as np

from c4sim.faults.places import Topology
from c4sim.faults.rates import event_rate, hits_per_event
from c4sim.fleet.draws import HOT_SPARE_STREAM
from c4sim.scenario import Scenario
from c4sim.streams import BlockReader, Floats, Purpose, Streams

_ARRIVALS = HOT_SPARE_STREAM
_PLACES = HOT_SPARE_STREAM - 1


def _unit_exponential(u: Floats) -> Floats:
    return -np.log1p(-u)


def hot_spare_rate(scenario: Scenario) -> float:
    """Failures per second of one hot spare.

    A hot spare is powered and warm, so it breaks as an operating node does, on calendar time: by every class whose
    place is a gpu, a node or a link and that ends in an error or a hang, at the class's long-run rate (1 / mean
    whatever the law), for the share of its faults that are confined and permanent: no other fault takes one node out.
    Ages, rates that move and lemons do not apply to spares.
    """
    topology = Topology.of(scenario)
    hits = (
        event_rate(fault, topology) * hits_per_event(fault, topology) * fault.confined * fault.permanent
        for fault in scenario.faults.values()
        if fault.scope in ("gpu", "node", "link") and fault.effect in ("crash", "hang")
    )
    return math.fsum(hits) / topology.nodes


class HotSpares:
    """When the next hot spare fails and which one.

    The clock is the sum over all spares of the time that each stood on a shelf. Failure k is due at the clock time
    that the k-th partial sum of unit exponentials over the rate gives, and strikes the spare at the share `place(k)`
    of the shelves: the sequence (clock time, share) is the same under every policy.
    """

    def __init__(self, rate: float, streams: Streams) -> None:
        self._rate = rate
        self._gaps = BlockReader(streams, Purpose.HOT_SPARE, _ARRIVALS, _unit_exponential)
        self._places = BlockReader(streams, Purpose.HOT_SPARE, _PLACES)
        self._clock = 0.0
        self._since = 0.0
        self._standing = 0
        self._due = self._gaps.get(0)
        self.number = 0
        self.next_s = math.inf

    def stand(self, now: float, spares: int) -> None:
        """From `now` on, `spares` units stand on the shelves."""
        self._clock += (now - self._since) * self._standing * self._rate
        self._since = now
        self._standing = spares
        speed = spares * self._rate
        self.next_s = now + max(self._due - self._clock, 0.0) / speed if speed > 0.0 else math.inf

    def strike(self) -> tuple[int, int]:
        """The failure due now: (its number, index of the spare that it strikes, counted over the shelves in order)."""
        number = self.number
        index = min(int(self._places.get(number) * self._standing), self._standing - 1)
        self._clock = self._due
        self._since = self.next_s
        self.number += 1
        self._due += self._gaps.get(self.number)
        return number, index
