"""How slots are numbered and what else is changed must not move what the random numbers say."""

import random

import pytest
from fleet_tools import scenario_of

from c4sim.fleet import Fleet
from c4sim.scenario import Scenario
from c4sim.streams import Streams

REPAIR = {
    "stages": [
        {"duration": {"law": "lognormal", "mean": "30s", "cv": 1.0}, "crews": 2, "success": 0.6, "silent_failure": 0.1},
        {"duration": {"law": "exponential", "mean": "60s"}, "crews": 1},
    ],
    "retirement": {"faults": 3, "window": "200s", "replacement": "100s"},
}


def history(scenario: Scenario, seed: int, order: list[int]) -> list[tuple[int, float, float | None, bool]]:
    """(slot emptied, out, back, retired) of a random job whose slot i is called order[i]; times without ties."""
    fleet, rng, now, left = Fleet(scenario, Streams(seed, 0, 0)), random.Random(seed), 0.0, []
    name = {called: slot for slot, called in enumerate(order)}
    for number in range(60):
        now += rng.expovariate(0.1)
        fleet.request(now)
        fleet.seat(now)
        slot = order[rng.randrange(fleet.nodes)]
        if not fleet.is_empty(slot):
            fleet.take_out(slot, now, broken=True, stream=0, number=number)
            left.append(name[slot])
    return [(slot, o.out_s, o.back_s, o.retired) for slot, o in zip(left, fleet.outages, strict=True)]


@pytest.mark.parametrize("seed", range(20))
def test_slots_may_be_numbered_in_any_order(seed: int) -> None:
    scenario = scenario_of(9, {"total": 3, "provisioning": "4s"}, REPAIR)
    order = random.Random(seed + 1_000).sample(range(9), 9)
    plain = history(scenario, seed, list(range(9)))
    assert history(scenario, seed, order) == plain
    assert len(plain) > 20


@pytest.mark.parametrize("seed", range(20))
def test_slots_of_one_pool_may_change_places(seed: int) -> None:
    scenario = scenario_of(9, {"per_pool": 1, "pool_nodes": 3}, REPAIR)
    order = [slot for first in (0, 3, 6) for slot in random.Random(seed).sample(range(first, first + 3), 3)]
    assert history(scenario, seed, order) == history(scenario, seed, list(range(9)))


def stays(spares: dict[str, object], crews: object) -> list[float]:
    repair = {"duration": {"law": "gamma", "mean": "3h", "cv": 0.8}, "crews": crews}
    fleet = Fleet(scenario_of(6, spares, repair), Streams(3, 0, 0))
    for number in range(200):
        now = 1e6 * number
        fleet.request(now)
        fleet.seat(now)
        fleet.take_out(number % 6, now, broken=True, stream=number % 3, number=number // 3)
    fleet.advance(1e12)
    return [round((o.back_s or 0.0) - o.out_s, 3) for o in fleet.outages]


def test_the_repair_of_an_incident_is_the_same_under_every_policy() -> None:
    plain = stays({"per_pool": "unlimited"}, "unlimited")
    assert len(set(plain)) == 200
    assert stays({"total": 1}, "unlimited") == plain
    assert stays({"total": 4, "provisioning": {"law": "exponential", "mean": "5min"}}, 1) == plain
    assert stays({"per_pool": 1, "pool_nodes": 2, "borrowing": True}, 3) == plain
