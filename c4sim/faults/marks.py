"""The draws of events, and what an event is like beyond its time and place: how many nodes, confined, permanent."""

from collections.abc import Sequence, Set
from functools import partial
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from c4sim.faults.event import FaultEvent
from c4sim.faults.places import Topology
from c4sim.scenario.faults import FaultClass
from c4sim.streams import Floats, Purpose, Streams

_FIRST_BLOCK = 16
_LARGEST_BLOCK = 1024
_COLUMNS = 4  # gap, place, confined, permanent
_event = partial(tuple.__new__, FaultEvent)  # a NamedTuple without its Python constructor: one is made per fault


class Marks:
    """Turns (number, place) of one stream of a fault class into a FaultEvent.

    Every draw is addressed by the event's number, so it is the same whatever else is drawn or not.
    """

    __slots__ = (
        "_class_index", "_coins", "_compound", "_confined", "_effect", "_first_coin", "_gpus", "_name", "_per_node",
        "_permanent", "_scope", "_size", "_streams", "_together", "_topology", "stream",
    )  # fmt: skip

    def __init__(
        self, streams: Streams, topology: Topology, class_index: int, name: str, fault: FaultClass, stream: int
    ) -> None:
        self._streams = streams
        self._topology = topology
        self._class_index = class_index
        self._name = name
        self._scope = fault.scope
        self._effect = fault.effect
        self._per_node = topology.per_node(fault.scope)
        self._gpus = topology.gpus_per_node if fault.scope in ("gpu", "link") else 0
        self._confined = fault.confined
        self._permanent = fault.permanent
        self._compound = 0.0 if fault.compound is None else fault.compound.share
        self._together = 1 if fault.compound is None else fault.compound.nodes
        self._coins: list[tuple[bool, bool, bool]] = []
        self._first_coin = 0
        self._size = _FIRST_BLOCK
        self.stream = stream

    def draw(self, first: int, count: int) -> Floats:
        """Uniforms of events `first`, `first` + 1, ..., shape (count, 4): gap, place, confined, permanent."""
        numbers = self._streams.uniforms(Purpose.EVENT, self.stream, _COLUMNS * first, _COLUMNS * count)
        return numbers.reshape(count, _COLUMNS)

    def events(self, first: int, places: NDArray[np.int64], drawn: Floats) -> list[FaultEvent]:
        """Events `first`, `first` + 1, ... at `places`; `drawn` is what `draw` says of them."""
        count = len(places)
        slots, gpus = self._seats(places)
        if self._compound:
            for k, (_, _, compound) in enumerate(self._toss(first, drawn)):
                if compound:
                    slots[k] = self._topology.neighbours(slots[k][0], self._together)
        confined, permanent = _heads(drawn[:, 2], self._confined), _heads(drawn[:, 3], self._permanent)
        fixed = (repeat(self._class_index), repeat(self._name), repeat(self.stream))
        own = (range(first, first + count), slots, gpus, confined, permanent)
        return list(map(_event, zip(*fixed, *own, repeat(self._effect), strict=False)))

    def _seats(self, places: NDArray[np.int64]) -> tuple[list[tuple[int, ...]], Sequence[int | None]]:
        """Slots and GPU of events at `places`: links are shared out evenly over the GPUs of their node."""
        per_node = self._per_node
        nothing: list[int | None] = [None] * len(places)
        if not per_node:
            return [self._topology.slots(self._scope, place) for place in places.tolist()], nothing
        slots: list[tuple[int, ...]] = list(zip((places // per_node).tolist(), strict=True))
        return slots, (places % per_node * self._gpus // per_node).tolist() if self._gpus else nothing

    def event(self, number: int, place: int) -> FaultEvent:
        """Event `number` at `place`, for sources that know the place only when the event comes."""
        offset = number - self._first_coin
        if not 0 <= offset < len(self._coins):
            self._coins = self._toss(number, self.draw(number, self._size))
            self._first_coin, offset = number, 0
            self._size = min(2 * self._size, _LARGEST_BLOCK)
        confined, permanent, compound = self._coins[offset]
        per_node = self._per_node
        slots = self._topology.slots(self._scope, place)
        if compound:
            slots = self._topology.neighbours(slots[0], self._together)
        gpu = place % per_node * self._gpus // per_node if self._gpus else None
        index, name, stream, effect = self._class_index, self._name, self.stream, self._effect
        return _event((index, name, stream, number, slots, gpu, confined, permanent, effect))

    def _toss(self, first: int, drawn: Floats) -> list[tuple[bool, bool, bool]]:
        """(confined, permanent, compound) of each event."""
        confined, permanent = _heads(drawn[:, 2], self._confined), _heads(drawn[:, 3], self._permanent)
        if not self._compound:
            return list(zip(confined, permanent, repeat(False), strict=False))
        u = self._streams.uniforms(Purpose.COMPOUND, self.stream, first, len(drawn))
        return list(zip(confined, permanent, _heads(u, self._compound), strict=True))


def without(event: FaultEvent, empty: Set[int]) -> FaultEvent | None:
    """The event less the slots in which no unit sits; None when it hits nothing else."""
    if not event.slots or empty.isdisjoint(event.slots):
        return event
    slots = tuple(slot for slot in event.slots if slot not in empty)
    if not slots:
        return None
    return event._replace(slots=slots, gpu=event.gpu if event.slots[0] not in empty else None)


def _heads(u: Floats, probability: float) -> list[bool]:
    if not 0.0 < probability < 1.0:
        return [probability >= 1.0] * len(u)
    heads: list[bool] = (u < probability).tolist()
    return heads
