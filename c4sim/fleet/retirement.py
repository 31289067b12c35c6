"""Retirement: a unit that is blamed too often leaves for good."""

from collections import deque

from c4sim.scenario.cluster import Retirement


class Blames:
    """Counts how often each unit was taken out, rightly or wrongly, within a sliding window.

    The window at time t is (t - window, t]: a blame exactly one window old has left it.
    """

    def __init__(self, retirement: Retirement) -> None:
        self._limit = retirement.faults
        self._window = retirement.window
        self._times: dict[int, deque[float]] = {}

    def record(self, unit: int, now: float) -> bool:
        """Blame `unit` now; True when that makes `faults` blames within the window."""
        times = self._times.get(unit)
        if times is None:
            times = self._times[unit] = deque(maxlen=self._limit)
        times.append(now)
        return len(times) == self._limit and now - times[0] < self._window
