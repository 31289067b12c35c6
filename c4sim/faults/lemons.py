"""Nodes that fail more often than the others."""

import numpy as np

from c4sim.streams import Purpose, Streams


class LemonUnits:
    """Which units are lemons.

    Of the `units` there at time 0 the share is exact as far as whole nodes allow (a fraction of a node is one node with
    that probability). A unit that comes later is a lemon with probability `share`.
    """

    def __init__(self, streams: Streams, share: float, units: int) -> None:
        self._streams = streams
        self._share = share
        self._units = units
        ranks = streams.uniforms(Purpose.LEMON, 0, 0, units)
        count = int(share * units + streams.uniform(Purpose.LEMON, 1, 0))
        self._first = frozenset(np.argsort(ranks)[:count].tolist())

    def __contains__(self, unit: object) -> bool:
        if not isinstance(unit, int):
            return False
        return unit in self._first if unit < self._units else self._later(unit)

    def _later(self, unit: int) -> bool:
        return self._streams.uniform(Purpose.LEMON, 0, unit) < self._share
