"""Draws of the response, addressed by incident: the same under every policy and whatever else was drawn."""

from functools import partial
from typing import NamedTuple

from c4sim.distributions import Fixed, Law
from c4sim.streams import BlockReader, Streams

_ATTEMPT_BITS = 20
_PART_BITS = 40


class IncidentKey(NamedTuple):
    """Which fault this is: number `number` of its stream, striking for the `attempt`-th time again (0: the first)."""

    stream: int
    number: int
    attempt: int = 0

    def entity(self, part: int = 0) -> int:
        """The stream's number among the streams of one purpose; `part` tells several draws of that purpose apart."""
        return self.stream + (self.attempt << _ATTEMPT_BITS) + (part << _PART_BITS)


incident_key = partial(tuple.__new__, IncidentKey)  # from (stream, number, attempt), without the Python constructor


class Sampler:
    """Draws of one purpose by incident: delays of a law, s, or uniforms without one.

    part: number of the draw where an incident needs several of one purpose (a layer of a chain, a try of a restart).
    """

    __slots__ = ("_law", "_purpose", "_readers", "_streams", "fixed")

    def __init__(self, streams: Streams, purpose: int, law: Law | None = None) -> None:
        self._streams = streams
        self._purpose = int(purpose)
        self._law = law
        self._readers: dict[int, BlockReader] = {}
        self.fixed = law.mean if isinstance(law, Fixed) else None

    def at(self, key: IncidentKey, part: int = 0) -> float:
        """The incident's own draw."""
        if self.fixed is not None:
            return self.fixed
        stream, number, attempt = key
        entity = key.entity(part) if attempt or part else stream
        try:
            reader = self._readers[entity]
        except KeyError:
            transform = None if self._law is None else self._law.quantile
            reader = self._readers[entity] = BlockReader(self._streams, self._purpose, entity, transform)
        return reader.get(number)
