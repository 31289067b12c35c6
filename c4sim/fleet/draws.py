"""Random draws of the fleet, addressed by the incident that they belong to."""

from c4sim.distributions import Fixed, Law
from c4sim.fleet.places import Outage
from c4sim.streams import BlockReader, Purpose, Streams

# The stream of an incident (small), how many units it had taken out before, and the attempt at repair, in one entity
# number.
ORDINAL_SHIFT = 16
ATTEMPT_SHIFT = 40
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
        self._fixed = law.mean if isinstance(law, Fixed) else None
        self._readers: dict[int, BlockReader] = {}

    def get(self, outage: Outage, attempt: int) -> float:
        """The number of this outage's attempt `attempt` (0 for what happens once)."""
        if self._fixed is not None:
            return self._fixed
        entity = outage.stream
        if outage.ordinal or attempt:
            entity += (outage.ordinal << ORDINAL_SHIFT) + (attempt << ATTEMPT_SHIFT)
        reader = self._readers.get(entity)
        if reader is None:
            first = _FIRST_BLOCK if entity == outage.stream else _RARE_BLOCK
            reader = BlockReader(self._streams, self._purpose, entity, self._transform, first=first)
            self._readers[entity] = reader
        return reader.get(outage.number)
