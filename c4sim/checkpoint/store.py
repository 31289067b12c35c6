"""All tiers together: what is durable in each, what faults and deletion leave of it, what can be loaded."""

from c4sim.checkpoint.leg import Leg
from c4sim.checkpoint.outcomes import Outcomes
from c4sim.checkpoint.plan import Plan
from c4sim.checkpoint.shelf import Item, Shelf
from c4sim.checkpoint.tiers import destroys
from c4sim.scenario import Scenario
from c4sim.scenario.checkpoint import Retention
from c4sim.streams import Streams


class Store:
    """The durable checkpoints that the job's state descends from. `restart`: the one it started from; None: work 0.

    The state at work 0 is always there.
    """

    def __init__(self, scenario: Scenario, streams: Streams, plan: Plan) -> None:
        spec = scenario.checkpoint
        self._outcomes = Outcomes(streams, spec.save_failure, spec.corrupt)
        self._corrupt = self._outcomes.corrupt if spec.corrupt > 0.0 else None
        self._failed = self._outcomes.failed if spec.save_failure > 0.0 else None
        self._fallback = spec.fallback is not None
        self._retention = spec.retention
        self._tiers = plan.tiers
        self._lags = tuple(enumerate(plan.persist))
        self._volatile = plan.volatile
        self._shelves = [Shelf(self._failed) for _ in plan.tiers]
        self._nodes = scenario.job.nodes
        self._nodes_per_rack = scenario.cluster.nodes_per_rack
        self._tops: list[Item | None] = []
        self._loaded = 0
        self.restart: Item | None = None

    def close(self, leg: Leg, now: float) -> None:
        """The stretch whose last leg is `leg` ends at `now`: what is durable by then stays, what is being written is
        not.
        """
        legs = (leg,) if leg.previous is None else leg.so_far()
        shelves = self._shelves
        for part in legs:
            for tier, persist in self._lags:
                if part.cut is None:  # as nearly always: `Leg.durable` without its call
                    durable = part.timeline.saved(tier, now - part.begin, persist)
                else:
                    durable = part.durable(tier, now, persist)
                if durable:
                    shelves[tier].put(part, tier, 0, durable)
        if self._retention is not None:
            self._delete(self._retention, legs, now)

    def _delete(self, retention: Retention, legs: tuple[Leg, ...], now: float) -> None:
        for tier, shelf in enumerate(self._shelves):
            shelf.keep_newest(retention.keep - (retention.delete == "before" and self._writing(legs, tier, now)))

    def _writing(self, legs: tuple[Leg, ...], tier: int, now: float) -> bool:
        """Whether the tier's last save of these legs has begun and never became durable."""
        for leg in reversed(legs):
            begun = leg.begun(tier, now)
            if begun:
                durable = leg.durable(tier, now, self._tiers[tier].persist)
                last = Item(now, leg, tier, begun - 1)
                return durable < begun or (self._failed is not None and self._failed(last))
        return False

    def lose(self, slots: tuple[int, ...], corrupt_since: float | None) -> None:
        """The memory of the nodes in `slots` is gone; what was saved after `corrupt_since` is worthless."""
        for tier in self._volatile:
            if destroys(self._tiers[tier].lost_with, slots, self._nodes, self._nodes_per_rack):
                self._shelves[tier].clear()
        if corrupt_since is not None:
            for shelf in self._shelves:
                shelf.drop_after(corrupt_since)

    def newest_loadable(self) -> tuple[Item | None, int]:
        """The newest checkpoint that can be loaded, and how many were tried in vain before it.

        Of tiers that hold the same one the first is tried first. Without fallback the newest is all that is tried: if
        it is corrupt, it is returned with 1.
        """
        corrupt = self._corrupt
        tops = self._tops = [shelf.newest() for shelf in self._shelves]
        tried = 0
        while True:
            newest = None
            place = 0
            for index, top in enumerate(tops):
                if top is not None and (newest is None or top.time > newest.time):
                    newest, place = top, index
            self._loaded = place
            if newest is None or corrupt is None or not corrupt(newest):
                return newest, tried
            tried += 1
            if not self._fallback:
                return newest, tried
            self._shelves[place].drop_newest()
            tops[place] = self._shelves[place].newest()

    def restore(self, restart: Item | None) -> float:
        """The job restarts from there, and the nodes' memory holds it again. Returns the time to load it, s.

        The state at work 0 is loaded from the last tier.
        """
        self.restart = restart
        tiers = self._tiers
        if restart is None:
            return tiers[-1].load
        for tier in self._volatile:
            top = self._tops[tier]
            if top is None or top.time != restart.time:
                self._shelves[tier].put(restart.leg, restart.tier, restart.number, restart.number + 1)
        return tiers[self._loaded].load

    def save(self, leg: Leg) -> tuple[float, float]:
        """Save 0 of `leg` goes to every tier. Returns the time until all are durable and the time to load it, s."""
        tiers = self._tiers
        for shelf in self._shelves:
            shelf.put(leg, 0, 0, 1)
        self.restart = Item(leg.save_time(0, 0), leg, 0, 0)
        seconds = max(tier.stall for tier in tiers) + max(tier.persist for tier in tiers)
        return seconds, tiers[0].load
