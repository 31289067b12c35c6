"""Rates that move with the calendar: temperature and reinforcement as a change of time."""

import math
from bisect import bisect_right
from typing import Protocol

from c4sim.scenario.faults import Reinforcement, Temperature

BOLTZMANN_EV_PER_K = 8.617333262e-5  # CODATA 2018
_ZERO_CELSIUS_K = 273.15


class TimeChange(Protocol):
    """A non-decreasing map of times that a clock counts instead of the time itself."""

    def forward(self, time: float) -> float:
        """The changed time at `time`, s."""

    def inverse(self, changed: float) -> float:
        """The time at which the changed time reaches `changed`, s; inf for inf."""


class Unchanged:
    """Time as it is."""

    def forward(self, time: float) -> float:
        return time

    def inverse(self, changed: float) -> float:
        return changed


def arrhenius(temperature: Temperature, celsius: float) -> float:
    """Rate at `celsius` over the rate at the reference: exp(Ea / k (1 / T_ref - 1 / T)), T in kelvin (JEDEC JESD91)."""
    reference = 1.0 / (temperature.reference_celsius + _ZERO_CELSIUS_K)
    here = 1.0 / (celsius + _ZERO_CELSIUS_K)
    return math.exp(temperature.activation_energy_ev / BOLTZMANN_EV_PER_K * (reference - here))


class CalendarPace:
    """Integral of the rate multiplier m(t) = arrhenius(t) x reinforcement(t) over calendar time, and its inverse.

    Temperature is constant over each period and the reinforcement falls as factor^(-t / over) until `over`, so m is a
    e^(-k t) piece by piece and both directions are closed forms.
    """

    def __init__(self, temperature: Temperature | None, reinforcement: Reinforcement | None) -> None:
        self._starts = _breakpoints(temperature, reinforcement)
        self._levels = [_multiplier(t, temperature, reinforcement) for t in self._starts]
        self._decays = [_decay(t, reinforcement) for t in self._starts]
        self._sums = [0.0]
        for piece in range(len(self._starts) - 1):
            self._sums.append(self._sums[piece] + self._within(piece, self._starts[piece + 1] - self._starts[piece]))

    def multiplier(self, time: float) -> float:
        """The rate multiplier at calendar time `time`, s."""
        piece = bisect_right(self._starts, time) - 1
        return self._levels[piece] * math.exp(-self._decays[piece] * (time - self._starts[piece]))

    def forward(self, time: float) -> float:
        """Integral of the multiplier from 0 to `time`, s."""
        piece = bisect_right(self._starts, time) - 1
        return self._sums[piece] + self._within(piece, time - self._starts[piece])

    def inverse(self, changed: float) -> float:
        """The time at which the integral reaches `changed`, s."""
        piece = bisect_right(self._sums, changed) - 1
        equivalent = (changed - self._sums[piece]) / self._levels[piece]
        decay = self._decays[piece]
        return self._starts[piece] + (equivalent if decay == 0.0 else -math.log1p(-decay * equivalent) / decay)

    def _within(self, piece: int, seconds: float) -> float:
        decay = self._decays[piece]
        return self._levels[piece] * (seconds if decay == 0.0 else -math.expm1(-decay * seconds) / decay)


def _breakpoints(temperature: Temperature | None, reinforcement: Reinforcement | None) -> list[float]:
    found = {0.0}
    if temperature is not None:
        found.update(index * temperature.period for index in range(len(temperature.celsius)))
    if reinforcement is not None:
        found.add(reinforcement.over)
    return sorted(found)


def _multiplier(start: float, temperature: Temperature | None, reinforcement: Reinforcement | None) -> float:
    level = 1.0
    if temperature is not None:
        # Compared by multiples, as the breakpoints are made: a floor division could fall on the wrong side of one.
        starts = [index * temperature.period for index in range(len(temperature.celsius))]
        level = arrhenius(temperature, temperature.celsius[bisect_right(starts, start) - 1])
    if reinforcement is not None:
        level *= reinforcement.factor ** -min(start / reinforcement.over, 1.0)
    return level


def _decay(start: float, reinforcement: Reinforcement | None) -> float:
    if reinforcement is None or start >= reinforcement.over:
        return 0.0
    return math.log(reinforcement.factor) / reinforcement.over
