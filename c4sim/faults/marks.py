"""What an event is like beyond its time and place: how many nodes, confined or not, permanent or not."""

from collections.abc import Callable, Set
from functools import partial

from c4sim.faults.event import FaultEvent
from c4sim.faults.places import Topology
from c4sim.scenario.faults import FaultClass
from c4sim.streams import BlockReader, Purpose, Streams

_FIRST_BLOCK = 16
_event = partial(tuple.__new__, FaultEvent)  # a NamedTuple without its Python constructor: one is made per fault


class Marks:
    """Turns (number, place) of one stream of a fault class into a FaultEvent.

    Every draw is addressed by the event's number, so it is the same whatever else is drawn or not.
    """

    __slots__ = (
        "_class_index", "_compound", "_confined", "_effect", "_gpu_of", "_name", "_per_node", "_permanent", "_scope",
        "_together", "_topology", "stream",
    )  # fmt: skip

    def __init__(
        self, streams: Streams, topology: Topology, class_index: int, name: str, fault: FaultClass, stream: int
    ) -> None:
        self._topology = topology
        self._class_index = class_index
        self._name = name
        self._scope = fault.scope
        self._effect = fault.effect
        self._per_node = topology.per_node(fault.scope)
        self._gpu_of = _gpu_of(fault, topology)
        self._confined = _coin(streams, Purpose.CONFINED, stream, fault.confined)
        self._permanent = _coin(streams, Purpose.PERMANENT, stream, fault.permanent)
        compound = fault.compound
        self._compound = None if compound is None else _coin(streams, Purpose.COMPOUND, stream, compound.share)
        self._together = 1 if compound is None else compound.nodes
        self.stream = stream

    def event(self, number: int, place: int, empty: Set[int]) -> FaultEvent | None:
        """Event `number` at `place`; None when every slot that it hits is in `empty`."""
        per_node = self._per_node
        gpu = None
        if per_node:
            slot, inner = divmod(place, per_node)
            slots: tuple[int, ...] = (slot,)
            if self._gpu_of is not None:
                gpu = self._gpu_of[inner]
            if self._compound is not None and self._compound(number):
                slots = self._topology.neighbours(slot, self._together)
        else:
            slots = self._topology.slots(self._scope, place)
        if empty and slots:
            gpu = gpu if slots[0] not in empty else None
            slots = tuple(slot for slot in slots if slot not in empty)
            if not slots:
                return None
        confined, permanent = self._confined(number), self._permanent(number)
        index, name, stream, effect = self._class_index, self._name, self.stream, self._effect
        return _event((index, name, stream, number, slots, gpu, confined, permanent, effect))


def _gpu_of(fault: FaultClass, topology: Topology) -> list[int] | None:
    """GPU of each place in a node: itself for scope gpu; links are shared out evenly over the GPUs."""
    if fault.scope == "gpu":
        return list(range(topology.gpus_per_node))
    if fault.scope == "link":
        return [link * topology.gpus_per_node // topology.links_per_node for link in range(topology.links_per_node)]
    return None


def _coin(streams: Streams, purpose: Purpose, stream: int, probability: float) -> Callable[[int], bool]:
    if probability >= 1.0:
        return _always
    if probability <= 0.0:
        return _never
    get = BlockReader(streams, purpose, stream, first=_FIRST_BLOCK).get
    return lambda number: get(number) < probability


def _always(_number: int) -> bool:
    return True


def _never(_number: int) -> bool:
    return False
