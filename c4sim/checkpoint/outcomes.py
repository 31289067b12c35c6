"""Which saves fail and which are corrupt: drawn by address when somebody asks, so that other saves cost nothing."""

from c4sim.checkpoint.shelf import Item
from c4sim.streams import Purpose, Streams

_TIERS = 1024  # streams a leg


class Outcomes:
    """failure: probability that a save never becomes durable; corrupt: that it does but cannot be loaded.

    The draw of a save is addressed by its leg, tier and number there: asked again, it is the same.
    """

    def __init__(self, streams: Streams, failure: float, corrupt: float) -> None:
        self._streams = streams
        self._failure = failure
        self._corrupt = corrupt

    def failed(self, item: Item) -> bool:
        """Whether the save never became durable."""
        return self._draw(Purpose.SAVE, item) < self._failure

    def corrupt(self, item: Item) -> bool:
        """Whether the durable save cannot be loaded."""
        return self._corrupt > 0.0 and self._draw(Purpose.CORRUPT, item) < self._corrupt

    def _draw(self, purpose: Purpose, item: Item) -> float:
        return self._streams.uniform(purpose, item.leg.number * _TIERS + item.tier, item.number)
