"""The clocks that faults follow. A clock stands still while the job's activity is below its level."""

from typing import Protocol

from c4sim.faults.activity import Activity
from c4sim.faults.pace import TimeChange


class FaultClock(Protocol):
    """`value`: what the clock shows, s; it ticks while the job's activity is at least `level`."""

    level: Activity
    value: float

    def run(self, start: float, end: float) -> None:
        """Tick from calendar time `start` to `end`."""

    def time_of(self, due: float, now: float) -> float:
        """Calendar time, not before `now`, at which a clock that ticks from now on shows `due`."""

    def set(self, due: float) -> None:
        """Show exactly `due`: rounding of the way there must not add up."""


class CalendarClock:
    """Shows the calendar time itself, so no rounding at all."""

    __slots__ = ("level", "value")

    def __init__(self) -> None:
        self.level = Activity.STOPPED
        self.value = 0.0

    def run(self, start: float, end: float) -> None:  # noqa: ARG002 - the protocol's signature
        self.value = end

    def time_of(self, due: float, now: float) -> float:
        return due if due > now else now

    def set(self, due: float) -> None:
        self.value = due


class ActivityClock:
    """Adds up the time spent at its level or above."""

    __slots__ = ("level", "value")

    def __init__(self, level: Activity) -> None:
        self.level = level
        self.value = 0.0

    def run(self, start: float, end: float) -> None:
        self.value += end - start

    def time_of(self, due: float, now: float) -> float:
        remaining = due - self.value
        return now + remaining if remaining > 0.0 else now

    def set(self, due: float) -> None:
        self.value = due


class PacedClock:
    """A clock whose speed moves: with the calendar (`calendar`) and with what it has counted so far (`own`).

    It counts u, the integral of the calendar multiplier over its ticking time, and shows own(u). Lives and gaps drawn
    in its units do not depend on how fast it runs, which keeps them the same under every policy.
    """

    __slots__ = ("_calendar", "_counted", "_own", "level", "value")

    def __init__(self, level: Activity, calendar: TimeChange, own: TimeChange) -> None:
        self.level = level
        self.value = 0.0
        self._calendar = calendar
        self._own = own
        self._counted = 0.0

    def run(self, start: float, end: float) -> None:
        self._counted += self._calendar.forward(end) - self._calendar.forward(start)
        self.value = self._own.forward(self._counted)

    def time_of(self, due: float, now: float) -> float:
        """See FaultClock."""
        if due == float("inf"):
            return due
        remaining = self._own.inverse(due) - self._counted
        return self._calendar.inverse(self._calendar.forward(now) + remaining) if remaining > 0.0 else now

    def set(self, due: float) -> None:
        self._counted = self._own.inverse(due)
        self.value = due


class PacedCalendarClock:
    """A calendar clock whose speed moves: what it shows follows from the calendar time alone, without adding up."""

    __slots__ = ("_calendar", "_own", "level", "value")

    def __init__(self, calendar: TimeChange, own: TimeChange) -> None:
        self.level = Activity.STOPPED
        self.value = 0.0
        self._calendar = calendar
        self._own = own

    def run(self, start: float, end: float) -> None:  # noqa: ARG002 - the protocol's signature
        self.value = self._own.forward(self._calendar.forward(end))

    def time_of(self, due: float, now: float) -> float:
        """See FaultClock."""
        if due == float("inf"):
            return due
        return max(self._calendar.inverse(self._own.inverse(due)), now)

    def set(self, due: float) -> None:
        self.value = due
