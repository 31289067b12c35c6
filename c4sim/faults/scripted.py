"""Replay of a list of faults: time, node, kind."""

from collections.abc import Sequence

import numpy as np

from c4sim.faults.event import FaultEvent
from c4sim.faults.marks import Marks
from c4sim.faults.places import Topology
from c4sim.scenario.faults import FaultClass, ScriptedFault
from c4sim.streams import Streams


class ScriptedSource:
    """Faults at given calendar times in given slots; of equal times the line that stands first comes first.

    Number k is line k of the list. A fault hits the place of its class's scope that its node lies in (for GPUs and
    links: one of the node's, drawn), never several nodes by compound chance.
    """

    __slots__ = ("_faults", "_kinds", "_lines", "_next", "_topology", "drawn", "due", "marks")

    def __init__(
        self,
        streams: Streams,
        topology: Topology,
        lines: Sequence[ScriptedFault],
        faults: dict[str, FaultClass],
        stream: int,
    ) -> None:
        self._topology = topology
        self._lines = sorted(enumerate(lines), key=lambda line: line[1].time)
        self._faults = faults
        self._kinds = {
            name: Marks(streams, topology, index, name, fault.model_copy(update={"compound": None}), stream)
            for index, (name, fault) in enumerate(faults.items())
        }
        self._next = 0
        self.marks = next(iter(self._kinds.values()))
        self.drawn: list[tuple[float, int | None]] = []
        self.due = self._lines[0][1].time

    def pop(self) -> FaultEvent:
        """Take the event at `due`; `marks` are then those of its kind."""
        number, line = self._lines[self._next]
        self.marks = self._kinds[line.kind]
        drawn = self.marks.draw(number, 1)  # lines stand in any order: no block of them would serve
        place = self._place(line, float(drawn[0, 1]))
        self.drawn.append((line.time, place))
        self._next += 1
        self.due = self._lines[self._next][1].time if self._next < len(self._lines) else float("inf")
        return self.marks.events(number, np.array([place]), drawn)[0]

    def _place(self, line: ScriptedFault, chosen: float) -> int:
        """The line's place; `chosen`, a uniform, says which of the node's GPUs or links."""
        scope = self._faults[line.kind].scope
        inside = self._topology.per_node(scope)
        if not inside:
            return line.node // self._topology.per_place(scope)
        if inside == 1:
            return line.node
        return line.node * inside + int(chosen * inside)
