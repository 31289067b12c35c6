"""Help for the tests of the fleet: short scenarios, a partition check, and a job that only loses nodes."""

import math
import random
from collections.abc import Iterator
from typing import Any

from c4sim.fleet import Fleet, Place
from c4sim.scenario import Scenario, validate
from c4sim.streams import Streams


def scenario_of(nodes: int, spares: dict[str, Any], repair: dict[str, Any], **sections: Any) -> Scenario:
    """A scenario of `nodes` job nodes with these sections; everything else as shipped."""
    if "total" in spares:
        spares = {"per_pool": None} | spares
    return validate({"job": {"nodes": nodes}, "spares": spares, "repair": repair} | sections)


def fleet_of(
    nodes: int, spares: dict[str, Any], repair: dict[str, Any], *, seed: int = 1, replication: int = 0
) -> Fleet:
    """A fleet of that scenario."""
    return Fleet(scenario_of(nodes, spares, repair), Streams(seed, 0, replication))


def check_partition(fleet: Fleet) -> None:
    """Every unit is in exactly one place, told alike by every question that can be asked about it."""
    units = range(fleet.units())
    places = {unit: fleet.place_of(unit) for unit in units}
    seated = [fleet.unit_in(slot) for slot in range(fleet.nodes) if not fleet.is_empty(slot)]
    assert len(seated) == len(set(seated)) == fleet.nodes - len(fleet.empty_slots())
    assert sorted(seated) == [unit for unit in units if places[unit] is Place.JOB]
    for unit in units:
        slot = fleet.slot_of(unit)
        assert (slot is not None) == (places[unit] is Place.JOB)
        assert slot is None or fleet.unit_in(slot) == unit
        assert (fleet.stage_of(unit) is not None) == (places[unit] is Place.SHOP)
    shelved = sorted(unit for shelf in fleet._pools.shelves for unit in shelf)
    assert shelved == [unit for unit in units if places[unit] is Place.SPARE]
    reserved = sorted(vacancy.unit for vacancy in fleet._vacancies.values() if vacancy.unit >= 0)
    assert reserved == [unit for unit in units if places[unit] is Place.RESERVED]
    away = {outage.unit for outage in fleet.outages if outage.back_s is None}
    assert {unit for unit in units if places[unit] is Place.SHOP} <= away
    assert sum(map(sum, fleet.shop_load())) == sum(place is Place.SHOP for place in places.values())


def lose_nodes(
    fleet: Fleet, rng: random.Random, rate: float, *, clock: str, end: float
) -> Iterator[tuple[float, float, bool, int]]:
    """A job whose nodes fail at `rate` each; yields (from, to, every slot filled?, empty slots) piecewise until `end`.

    clock operating: no node fails while a slot is empty; calendar: the nodes that are left go on failing.
    """
    now, number = 0.0, 0
    while now < end:
        ready = fleet.request(now)
        fleet.seat(now)
        while fleet.defective_slots():
            fleet.take_out(fleet.defective_slots()[0], now, broken=True, stream=1, number=number)
            number += 1
            ready = fleet.request(now)
            fleet.seat(now)
        empty = len(fleet.empty_slots())
        working = fleet.nodes - empty if clock == "calendar" or not empty else 0
        failure = now + rng.expovariate(working * rate) if working else math.inf
        wake = min(failure, fleet.next_change(), ready if ready > now else math.inf, end)
        yield now, wake, not empty, empty
        now = wake
        if now == failure < end:
            occupied = [slot for slot in range(fleet.nodes) if not fleet.is_empty(slot)] if empty else None
            slot = rng.choice(occupied) if occupied else rng.randrange(fleet.nodes)
            fleet.take_out(slot, now, broken=True, stream=0, number=number)
            number += 1


def share_filled(fleet: Fleet, rng: random.Random, rate: float, *, clock: str, warmup: float, end: float) -> float:
    """Share of the time from `warmup` to `end` in which every slot is filled."""
    filled = 0.0
    for start, stop, full, _ in lose_nodes(fleet, rng, rate, clock=clock, end=end):
        if full and stop > warmup:
            filled += stop - max(start, warmup)
    return filled / (end - warmup)


def nodes_down(fleet: Fleet, at: float) -> int:
    """Units that are out at time `at`."""
    return sum(o.out_s <= at and (o.back_s is None or o.back_s > at) for o in fleet.outages)


def assert_mean(values: list[float], exact: float) -> None:
    """The mean lies within 4 standard errors of `exact`."""
    n = len(values)
    mean = math.fsum(values) / n
    error = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (n * (n - 1)))
    assert abs(mean - exact) <= 4.0 * error, f"mean {mean} +- {error}, exact {exact}"
