"""Draws of the response, addressed by incident: the same under every policy and whatever else was drawn."""

from typing import NamedTuple

from c4sim.distributions import Fixed, Law
from c4sim.streams import BlockReader, Purpose, Streams


class IncidentKey(NamedTuple):
    """Which fault this is: number `number` of its stream, striking for the `attempt`-th time again (0: the first)."""

    stream: int
    number: int
    attempt: int = 0


_ATTEMPT_BITS = 20
_PART_BITS = 40


class Draws:
    """Uniforms and delays by (incident, purpose). `part` tells several draws of one purpose apart (layers of a chain)."""

    def __init__(self, streams: Streams) -> None:
        self._streams = streams
        self._readers: dict[tuple[int, int], BlockReader] = {}

    def uniform(self, purpose: Purpose, key: IncidentKey, part: int = 0) -> float:
        """The incident's own uniform of that purpose."""
        return self._read(purpose, key, part, None)

    def delay(self, law: Law, purpose: Purpose, key: IncidentKey, part: int = 0) -> float:
        """The incident's own draw, s, from the law of that purpose (one law per purpose and part and stream)."""
        if type(law) is Fixed:
            return law.mean
        return self._read(purpose, key, part, law)

    def _read(self, purpose: Purpose, key: IncidentKey, part: int, law: Law | None) -> float:
        stream, number, attempt = key
        entity = stream + (attempt << _ATTEMPT_BITS) + (part << _PART_BITS)
        address = (purpose, entity)
        reader = self._readers.get(address)
        if reader is None:
            transform = None if law is None else law.quantile
            reader = BlockReader(self._streams, purpose, entity, transform)
            self._readers[address] = reader
        return reader.get(number)
