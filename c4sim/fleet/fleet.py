"""The fleet: which unit sits in which slot, and how units come and go. A passive state machine driven by the job's
calls.

At equal times: repairs end (by unit number), replacements arrive, hot spares fail; then what the caller asks for
happens, in the order of the calls. Nothing depends on the order in which objects were made.
"""

import heapq
import math

from c4sim.distributions import law_of
from c4sim.fleet.draws import HOT_SPARE_STREAM, IncidentDraws
from c4sim.fleet.hot_spares import HotSpares, hot_spare_rate
from c4sim.fleet.places import (
    GONE,
    IN_PROVISIONING,
    IN_SHOP,
    ON_SHELF,
    Outage,
    Place,
    Reason,
    Vacancy,
    place_of_code,
)
from c4sim.fleet.pools import Pools
from c4sim.fleet.retirement import Blames
from c4sim.fleet.shop import HANDED_BACK, REPLACEMENT_ARRIVES, Event, Shop, Verdict
from c4sim.scenario import Scenario
from c4sim.streams import Purpose, Streams

FAULT, BLAMED = Reason.FAULT, Reason.BLAMED


class Fleet:
    """Nodes, pools and repair shop of one job; times in seconds, never going back.

    Slots 0 .. nodes-1 are the job's places; unit i sits in slot i at time 0, the spares come after them. Every call
    first lets happen what is due until `now`. Construction costs O(pools + spares); an outage O(log of the units in
    repair).

    outages: every unit taken out so far, in order. It is down until it, or what replaces it, is back on a shelf.
    """

    def __init__(self, scenario: Scenario, streams: Streams) -> None:
        self.nodes = scenario.job.nodes
        self.outages: list[Outage] = []
        self._now = 0.0
        self._events: list[Event] = []
        self._pools = Pools(scenario.spares, self.nodes)
        self._shop = Shop(scenario.repair, streams, self._events)
        provisioning = law_of(scenario.spares.provisioning)
        self._provisioning = IncidentDraws(streams, Purpose.PROVISIONING, provisioning)
        self._ready_at_once = provisioning.mean == 0.0 and scenario.spares.state == "shelf"
        self._where: dict[int, int] = {}  # whereabouts of the units that have moved
        self._occupants: dict[int, int] = {}  # of the slots whose first unit has left
        self._vacancies: dict[int, Vacancy] = {}
        self._taken: dict[tuple[int, int], int] = {}  # units that each incident has taken out
        self._defective: set[int] = set()
        retirement = scenario.repair.retirement
        self._blames = None if retirement is None else Blames(retirement)
        replacement = None if retirement is None else retirement.replacement
        # The delay of a replacement takes the place of the next attempt at repair, which a retired unit never has.
        self._replacements = (
            None if replacement is None else IncidentDraws(streams, Purpose.REPAIR, law_of(replacement))
        )
        self._hot: HotSpares | None = None
        if scenario.spares.state == "hot":
            self._hot = HotSpares(hot_spare_rate(scenario), streams)
            self._hot.stand(0.0, self.spares_on_shelf())

    # ---- time ----------------------------------------------------------------------------------------------------

    def next_change(self) -> float:
        """Time of the next event inside the fleet, s; inf if there is none."""
        time = self._events[0][0] if self._events else math.inf
        return time if self._hot is None or time <= self._hot.next_s else self._hot.next_s

    def advance(self, now: float) -> None:
        """Let everything happen that is due until `now`, `now` included.

        Raises ValueError when `now` lies before an earlier call, or is not a number.
        """
        if not now >= self._now:
            raise ValueError(f"now: must not lie before {self._now!r} (got {now!r})")
        events = self._events
        if self._hot is not None:
            while self.next_change() <= now:
                self._happen()
        else:
            while events and events[0][0] <= now:
                self._happen()
        self._now = now

    def _happen(self) -> None:
        events = self._events
        if self._hot is not None and not (events and events[0][0] <= self._hot.next_s):
            self._hot_spare_fails(self._hot)
            return
        now, kind, unit, outage = heapq.heappop(events)
        if kind == REPLACEMENT_ARRIVES:
            self._return(outage, self._pools.new_unit(self._pools.home(unit)), now)
            return
        verdict = self._shop.finish(outage, now)
        if verdict is HANDED_BACK:
            self._return(outage, unit, now)
        elif verdict is Verdict.GIVEN_UP:
            self._pools.returning[self._pools.home(unit)] -= 1
            self._retire(outage, now)
        else:
            self._where[unit] = IN_SHOP - outage.stage
            if self._shop.stuck(outage):
                self._pools.returning[self._pools.home(unit)] -= 1

    def _return(self, outage: Outage, unit: int, now: float) -> None:
        """`unit` (the one that was out, or its replacement) goes to the shelf of its pool."""
        outage.back_s = now
        if outage.defective:
            self._defective.add(unit)
        pools = self._pools
        home = pools.home(unit)
        pools.returning[home] -= 1
        pools.shelves[home].append(unit)
        self._where[unit] = ON_SHELF
        if self._hot is not None:
            self._hot.stand(now, self.spares_on_shelf())

    def _hot_spare_fails(self, hot: HotSpares) -> None:
        now = hot.next_s
        number, index = hot.strike()
        unit = self._pools.remove(index)
        self._send_away(unit, now, Reason.HOT_SPARE, True, HOT_SPARE_STREAM, number)
        hot.stand(now, self.spares_on_shelf())

    # ---- what the job asks for -------------------------------------------------------------------------------------

    def take_out(self, slot: int, now: float, *, broken: bool, stream: int, number: int) -> None:
        """The unit in `slot` goes to the repair shop and the slot is empty.

        broken: False for a healthy unit that was blamed wrongly (one handed back still broken is broken whatever is
        said). stream, number: the incident, which addresses every draw of the stay. Raises ValueError for an empty
        or unknown slot.
        """
        outage = self._unseat(slot, now, broken, stream, number)
        self._vacancies[slot] = Vacancy(slot, outage)

    def exchange(self, slot: int, now: float, *, broken: bool, stream: int, number: int) -> tuple[int, int | None]:
        """`take_out`, and at once a spare into the slot if one is ready: what `request` and `seat` would do.

        Returns the unit that left and the unit that came; None while the slot stays empty: then `request` and `seat`
        go on.
        """
        outage = self._unseat(slot, now, broken, stream, number)
        if self._ready_at_once and not self._vacancies:
            events, pools = self._events, self._pools
            if events and events[0][0] <= now:
                self.advance(now)  # a repair that takes no time ends first
            unit = pools.take(pools.of_slot(slot))
            if unit is not None:
                self._occupants[slot] = unit
                self._where[unit] = slot
                return outage.unit, unit
        self._vacancies[slot] = Vacancy(slot, outage)
        return outage.unit, None

    def _unseat(self, slot: int, now: float, broken: bool, stream: int, number: int) -> Outage:
        self.advance(now)
        unit = self.unit_in(slot)
        return self._send_away(unit, now, FAULT if broken else BLAMED, broken, stream, number)

    def _send_away(self, unit: int, now: float, reason: Reason, broken: bool, stream: int, number: int) -> Outage:
        if unit in self._defective:
            self._defective.remove(unit)
            broken = True
        incident = (stream, number)
        self._taken[incident] = taken = self._taken.get(incident, 0) + 1
        outage = Outage(unit, now, stream, number, taken - 1, reason, broken)
        self.outages.append(outage)
        if self._blames is not None and self._blames.record(unit, now):
            self._retire(outage, now)
            return outage
        self._where[unit] = IN_SHOP
        if self._shop.admit(outage, now):
            pools = self._pools
            pools.returning[pools.home(unit)] += 1
        return outage

    def _retire(self, outage: Outage, now: float) -> None:
        outage.retired = True
        self._where[outage.unit] = GONE
        if self._replacements is not None:
            arrival = now + self._replacements.get(outage, outage.attempts)
            heapq.heappush(self._events, (arrival, REPLACEMENT_ARRIVES, outage.unit, outage))
            self._pools.returning[self._pools.home(outage.unit)] += 1

    def request(self, now: float) -> float:
        """Reserve a spare for every empty slot, as far as the pools go, in the order in which the slots became empty.

        Returns the time, s, at which every empty slot has a spare that is ready, never before `now`; inf while
        one has none.
        """
        self.advance(now)
        ready = now
        for vacancy in self._vacancies.values():
            if vacancy.unit < 0:
                self._reserve(vacancy, now)
            ready = max(ready, vacancy.ready_s)
        return ready

    def _reserve(self, vacancy: Vacancy, now: float) -> None:
        unit = self._pools.take(self._pools.of_slot(vacancy.slot))
        if unit is None:
            return
        vacancy.unit = unit
        vacancy.ready_s = now + self._provisioning.get(vacancy.outage, 0)
        self._where[unit] = IN_PROVISIONING
        if self._hot is not None:
            self._hot.stand(now, self.spares_on_shelf())

    def seat(self, now: float) -> list[tuple[int, int, int]]:
        """Put the spares that are ready into their slots; returns (slot, unit that left, unit that came) of each."""
        self.advance(now)
        ready = [vacancy for vacancy in self._vacancies.values() if vacancy.ready_s <= now]
        for vacancy in ready:
            del self._vacancies[vacancy.slot]
            self._occupants[vacancy.slot] = vacancy.unit
            self._where[vacancy.unit] = vacancy.slot
        return [(vacancy.slot, vacancy.outage.unit, vacancy.unit) for vacancy in ready]

    def can_ever_fill(self) -> bool:
        """Whether the empty slots without a spare can still get one: from a shelf, the shop, or a replacement."""
        wanted = [0] * self._pools.count
        for vacancy in self._vacancies.values():
            if vacancy.unit < 0:
                wanted[self._pools.of_slot(vacancy.slot)] += 1
        return self._pools.can_serve(wanted)

    # ---- where everything is ---------------------------------------------------------------------------------------

    def unit_in(self, slot: int) -> int:
        """The unit in a slot. Raises ValueError when the slot is empty or the job has no such slot."""
        if slot in self._vacancies or not 0 <= slot < self.nodes:
            raise ValueError(f"slot: must be an occupied slot of 0 to {self.nodes - 1} (got {slot})")
        return self._occupants.get(slot, slot)

    def is_empty(self, slot: int) -> bool:
        """Whether no unit sits in the slot."""
        return slot in self._vacancies

    def occupant(self, slot: int) -> int:
        """The unit in a slot of the job, -1 if it is empty."""
        return -1 if slot in self._vacancies else self._occupants.get(slot, slot)

    @property
    def whole(self) -> bool:
        """Whether a unit sits in every slot."""
        return not self._vacancies

    def empty_slots(self) -> list[int]:
        """The slots in which no unit sits, in the order in which they became empty."""
        return list(self._vacancies)

    def slot_of(self, unit: int) -> int | None:
        """The slot in which a unit sits; None when it is not in the job."""
        code = self._where.get(unit)
        if code is None:
            return unit if unit < self.nodes else None
        return code if code >= 0 else None

    def place_of(self, unit: int) -> Place:
        """Where a unit is. Raises ValueError for a unit that does not exist."""
        if not 0 <= unit < self._pools.units:
            raise ValueError(f"unit: must be 0 to {self._pools.units - 1} (got {unit})")
        code = self._where.get(unit)
        if code is None:
            return Place.JOB if unit < self.nodes else Place.SPARE
        return place_of_code(code)

    def stage_of(self, unit: int) -> int | None:
        """The stage of the repair shop in which a unit is; None when it is elsewhere."""
        code = self._where.get(unit, ON_SHELF)
        return IN_SHOP - code if code <= IN_SHOP else None

    def defective_slots(self) -> tuple[int, ...]:
        """Slots whose unit was handed back still broken: there the fault strikes again. Ascending."""
        if not self._defective:
            return ()
        slots = (self.slot_of(unit) for unit in self._defective)
        return tuple(sorted(slot for slot in slots if slot is not None))

    def units(self) -> int:
        """How many units exist or existed, retired ones included; they are numbered from 0."""
        return self._pools.units

    def spares_on_shelf(self) -> int:
        """Spares that stand on the shelves of all pools."""
        return sum(map(len, self._pools.shelves))

    def shop_load(self) -> list[tuple[int, int]]:
        """(units in work, units waiting) of each repair stage."""
        return self._shop.load()
