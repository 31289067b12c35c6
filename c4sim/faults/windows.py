"""Arrivals more clustered than Poisson: a gamma-distributed rate drawn anew in each window of the class's clock."""

import math
from bisect import bisect_right

from c4sim.distributions import Gamma
from c4sim.streams import Purpose, Streams

_FIRST_BLOCK = 64
_LARGEST_BLOCK = 4096
_MOST_WINDOWS = 1 << 20


class GammaWindows:
    """Change of time whose speed is a gamma variable of mean 1 and variance v, independent from window to window.

    Counts of a Poisson class of rate r in a window of length w are then negative binomial with mean r w and variance
    r w + v (r w)^2, so v = (dispersion - 1) / (r w) gives the dispersion (variance over mean) asked for; 1 is Poisson.
    Clock values beyond `last` (at most 2^20 windows) are not looked for: what lies there never comes.
    """

    def __init__(
        self, streams: Streams, entity: int, rate: float, window: float, dispersion: float, last: float
    ) -> None:
        self._streams = streams
        self._entity = entity
        self._window = window
        variance = (dispersion - 1.0) / (rate * window)
        self._law = Gamma(1.0, 1.0 / variance) if variance > 0.0 else None
        self._most = min(last / window + 1.0, _MOST_WINDOWS)
        self._size = _FIRST_BLOCK
        self._speeds: list[float] = []
        self._sums = [0.0]

    def forward(self, time: float) -> float:
        """The changed time, s, when the class's clock shows `time`."""
        index = int(time / self._window)
        while index >= len(self._speeds):
            self._draw()
        return self._sums[index] + self._speeds[index] * (time - index * self._window)

    def inverse(self, changed: float) -> float:
        """What the class's clock shows, s, when the changed time reaches `changed`; inf after `last`."""
        while self._sums[-1] <= changed:
            if len(self._speeds) >= self._most:
                return math.inf
            self._draw()
        index = bisect_right(self._sums, changed) - 1
        return index * self._window + (changed - self._sums[index]) / self._speeds[index]

    def _draw(self) -> None:
        start = len(self._speeds)
        if self._law is None:
            speeds = [1.0] * self._size
        else:
            speeds = self._law.quantile(
                self._streams.uniforms(Purpose.CLUSTERING, self._entity, start, self._size)
            ).tolist()
        self._speeds.extend(speeds)
        for speed in speeds:
            self._sums.append(self._sums[-1] + speed * self._window)
        self._size = min(2 * self._size, _LARGEST_BLOCK)
