"""Faults in the job that have not stopped it: slow nodes, silent corruption, faults about to strike again."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from c4sim.faults import FaultEvent
from c4sim.response import IncidentKey


@dataclass(slots=True)
class Trouble:
    """A fault in the job. since: when it struck, s; due: when it is noticed (slow, corruption) or strikes again, s."""

    event: FaultEvent
    key: IncidentKey
    since: float
    due: float

    @property
    def latent(self) -> bool:
        """The job goes on with it: it is slow, or computes garbage."""
        return self.event.effect in ("slow", "corruption")

    def next_attempt(self) -> IncidentKey:
        """The address of the draws for the next time this fault is answered."""
        return self.key._replace(attempt=self.key.attempt + 1)


@dataclass(slots=True)
class Troubles:
    """The troubles of one job, in the order in which they struck."""

    slow_factors: dict[int, float]
    latent: list[Trouble] = field(default_factory=list)
    returning: list[Trouble] = field(default_factory=list)

    def rate(self) -> float:
        """Rate of the job: the slowest node sets the pace of a synchronous job."""
        factors = (self.slow_factors[t.event.class_index] for t in self.latent if t.event.effect == "slow")
        return min(factors, default=1.0)

    def slowest_cause(self) -> int | None:
        """The class that sets the pace, None at full speed."""
        slow = [t for t in self.latent if t.event.effect == "slow"]
        if not slow:
            return None
        return min(slow, key=lambda t: self.slow_factors[t.event.class_index]).event.class_index

    def next_due(self) -> Trouble | None:
        """The trouble that is due first; of those due at the same time the one that struck first."""
        return min((*self.latent, *self.returning), key=lambda t: (t.due, t.since), default=None)

    def take(self, trouble: Trouble) -> None:
        """Remove one trouble that is now answered."""
        (self.latent if trouble in self.latent else self.returning).remove(trouble)

    def start_again(self, now: float, delay: Callable[[Trouble], float]) -> None:
        """The job runs again from `now`: what returns is due after its delay; what was to be noticed meanwhile is
        noticed now.
        """
        for trouble in self.returning:
            trouble.due = now + delay(trouble)
        for trouble in self.latent:
            trouble.due = max(trouble.due, now)

    def node_left(self, slots: Iterable[int]) -> None:
        """Nodes were taken out: what was wrong with them leaves the job."""
        gone = set(slots)
        self.latent = [t for t in self.latent if not _all_in(t.event, gone)]
        self.returning = [t for t in self.returning if not _all_in(t.event, gone)]

    def restarted(self) -> None:
        """A restart ends what was transient."""
        self.latent = [t for t in self.latent if t.event.permanent or t.event.effect == "corruption"]

    def rolled_back(self, kept_until: float) -> None:
        """Data written after `kept_until` is gone, and with it the corruption that began later."""
        self.latent = [t for t in self.latent if t.event.effect != "corruption" or t.since < kept_until]


def _all_in(event: FaultEvent, gone: set[int]) -> bool:
    # Corruption is in the data: it stays when its node leaves.
    return event.effect != "corruption" and bool(event.slots) and gone.issuperset(event.slots)
