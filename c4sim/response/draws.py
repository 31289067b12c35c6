"""Draws of the response, addressed by incident: the same under every policy and whatever else was drawn."""

from functools import partial
from typing import NamedTuple

from c4sim.distributions import Fixed, Law
from c4sim.streams import BlockReader, Streams

_ATTEMPT_BITS = 20
_PART_BITS = 40
_FIRST_BLOCK = 16
_LARGEST_BLOCK = 1024


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

    part: number of the draw where an incident needs several of one purpose (tries of a restart).
    The draws of first attempts are kept, as nearly every incident asks for one: 8 bytes and a float each.
    """

    __slots__ = ("_again", "_first", "_purpose", "_streams", "_transform", "fixed")

    def __init__(self, streams: Streams, purpose: int, law: Law | None = None) -> None:
        self._streams = streams
        self._purpose = int(purpose)
        self._transform = None if law is None else law.quantile
        self._first: dict[int, list[float]] = {}
        self._again: dict[int, BlockReader] = {}
        self.fixed = law.mean if isinstance(law, Fixed) else None

    def at(self, key: IncidentKey, part: int = 0) -> float:
        """The incident's own draw."""
        if self.fixed is not None:
            return self.fixed
        stream, number, attempt = key
        if attempt or part:
            return self._draw_again(key, part)
        try:
            return self._first[stream][number]
        except (KeyError, IndexError):
            return self._draw(stream, number)

    def _draw(self, stream: int, number: int) -> float:
        drawn = self._first.setdefault(stream, [])
        while number >= len(drawn):
            size = min(max(_FIRST_BLOCK, len(drawn)), _LARGEST_BLOCK)
            values = self._streams.uniforms(self._purpose, stream, len(drawn), size)
            drawn += (values if self._transform is None else self._transform(values)).tolist()
        return drawn[number]

    def _draw_again(self, key: IncidentKey, part: int) -> float:
        entity = key.entity(part)
        reader = self._again.get(entity)
        if reader is None:
            reader = self._again[entity] = BlockReader(self._streams, self._purpose, entity, self._transform)
        return reader.get(key.number)
