"""Random draws of the fleet, addressed by the incident that they belong to."""

from c4sim.distributions import Fixed, Law
from c4sim.fleet.places import Outage
from c4sim.streams import BlockReader, Purpose, Streams

# One entity number holds the incident's stream (below 2**34: class, and how often the fault has struck again), how many
# units the incident had taken out before (below 2**16) and the attempt at repair (modulo 2**14).
ORDINAL_SHIFT = 34
ATTEMPT_SHIFT = 50
_ATTEMPTS = 1 << 14
HOT_SPARE_STREAM = (1 << ORDINAL_SHIFT) - 1

_FIRST_BLOCK = 32
_RARE_BLOCK = 8


class IncidentDraws:
    """One number per (incident, unit taken out by it, attempt): a quantile of `law`, or the uniform itself without a
    law.

    The same address gives the same number whatever else was drawn, so a change of crews, pools or any other policy
    changes no draw. A fixed law draws nothing.
    """

    def __init__(self, streams: Streams, purpose: Purpose, law: Law | None = None) -> None:
        self._streams = streams
        self._purpose = purpose
        self._transform = None if law is None else law.quantile
        self.fixed = law.mean if isinstance(law, Fixed) else None
        self._readers: dict[int, BlockReader] = {}

    def get(self, outage: Outage, attempt: int) -> float:
        """The number of this outage's attempt `attempt` (0 for what happens once)."""
        if self.fixed is not None:
            return self.fixed
        entity = outage.stream
        if outage.ordinal or attempt:
            entity += (outage.ordinal << ORDINAL_SHIFT) + (attempt % _ATTEMPTS << ATTEMPT_SHIFT)
        reader = self._readers.get(entity)
        if reader is None:
            first = _FIRST_BLOCK if entity == outage.stream else _RARE_BLOCK
            reader = BlockReader(self._streams, self._purpose, entity, self._transform, first=first)
            self._readers[entity] = reader
        return reader.get(outage.number)
