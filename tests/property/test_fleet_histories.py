"""Random fleets under random histories: one place for every unit, and the same history as the slow reference."""

import random
from collections.abc import Callable
from typing import Any

import pytest
from fleet_reference import SlowFleet
from fleet_tools import check_partition, scenario_of
from hypothesis import given, settings
from hypothesis import strategies as st

from c4sim.fleet import Fleet, Reason, hot_spare_rate
from c4sim.scenario import Scenario
from c4sim.streams import Streams

# Whole seconds, so that many things happen at the same time.
DELAYS = st.sampled_from(["0s", "1s", "2s", "5s", {"law": "exponential", "mean": "4s"}])
COUNTS = st.sampled_from([0, 1, 2, "unlimited"])
CREWS = st.sampled_from([0, 1, 2, "unlimited"])
STAGE = st.fixed_dictionaries(
    {"duration": DELAYS, "crews": CREWS},
    optional={"shares": st.sampled_from([(0.5, 0.0), (0.3, 0.4), (0.6, 0.4), (0.0, 0.5)])},
)
RETIREMENT = st.fixed_dictionaries(
    {"faults": st.integers(1, 3), "window": st.sampled_from(["2s", "10s", "1h"])},
    optional={"replacement": st.sampled_from(["0s", "3s"])},
)


def stage_of(drawn: dict[str, Any]) -> dict[str, Any]:
    success, silent = drawn.get("shares", (1.0, 0.0))
    return {k: v for k, v in drawn.items() if k != "shares"} | {"success": success, "silent_failure": silent}


@st.composite
def scenarios(draw: Callable[..., Any]) -> Scenario:
    nodes = draw(st.integers(1, 7))
    spares: dict[str, Any] = {"provisioning": draw(DELAYS), "state": draw(st.sampled_from(["shelf", "hot"]))}
    if draw(st.booleans()):
        spares |= {"total": draw(COUNTS)}
    else:
        spares |= {"per_pool": draw(COUNTS), "pool_nodes": draw(st.integers(1, 7)), "borrowing": draw(st.booleans())}
    if "unlimited" in (spares.get("total"), spares.get("per_pool")):
        spares["state"] = "shelf"
    repair: dict[str, Any] = {"retirement": draw(st.none() | RETIREMENT)}
    if draw(st.booleans()):
        repair |= {"duration": draw(DELAYS), "crews": draw(CREWS)}
    else:
        stages = [stage_of(stage) for stage in draw(st.lists(STAGE, min_size=1, max_size=3))]
        repair |= {"stages": stages, "escalation": draw(st.sampled_from(["next_stage", "repeat", "retire"]))}
    faults = {"crash": {"mtbf": "20s per node", "scope": "node"}}
    return scenario_of(nodes, spares, repair, faults=faults)


HISTORY = st.lists(
    st.tuples(
        st.sampled_from(["take_out", "take_out", "answer", "request", "seat", "advance"]),
        st.sampled_from([0.0, 0.0, 1.0, 1.0, 2.0, 3.5, 10.0]),
        st.integers(0, 6),
        st.booleans(),
    ),
    max_size=40,
)


def play(scenario: Scenario, history: list[tuple[str, float, int, bool]], seed: int) -> Fleet:
    """Do the same to both fleets and compare all that can be seen after every step."""
    fleet = Fleet(scenario, Streams(seed, 0, 0))
    slow = SlowFleet(scenario, Streams(seed, 0, 0), hot_spare_rate(scenario))
    now = 0.0
    for step, (what, wait, choice, broken) in enumerate(history):
        now += wait
        occupied = [slot for slot in range(fleet.nodes) if not fleet.is_empty(slot)]
        if what in ("take_out", "answer") and occupied:
            slot = occupied[choice % len(occupied)]
            for each in (fleet, slow):
                each.take_out(slot, now, broken=broken, stream=choice % 2, number=step // 2)
        if what in ("request", "answer"):
            assert fleet.request(now) == pytest.approx(slow.request(now))
        if what in ("seat", "answer"):
            assert fleet.seat(now) == slow.seat(now)
        fleet.advance(now)
        slow.advance(now)
        compare(fleet, slow)
        check_partition(fleet)
    return fleet


def compare(fleet: Fleet, slow: SlowFleet) -> None:
    assert fleet.units() == len(slow.units)
    assert [fleet.place_of(unit).name for unit in range(fleet.units())] == [slow.where(i) for i in range(fleet.units())]
    assert fleet.next_change() == pytest.approx(slow.next_change())
    assert fleet.can_ever_fill() == slow.can_ever_fill()
    seen = [[o.unit, o.out_s, -1.0 if o.back_s is None else o.back_s, o.stream, o.number] for o in fleet.outages]
    told = [[entry[0], entry[1], -1.0 if entry[2] is None else entry[2], *entry[3:]] for entry in slow.log]
    assert len(seen) == len(told)
    for one, other in zip(seen, told, strict=True):
        assert one == pytest.approx(other)
    assert list(fleet.defective_slots()) == sorted(u.slot for u in slow.units if u.bad and u.state == "job")


@settings(max_examples=300, deadline=None, derandomize=True)
@given(scenarios(), HISTORY, st.integers(0, 3))
def test_one_place_for_every_unit_and_the_history_of_the_reference(
    scenario: Scenario, history: list[tuple[str, float, int, bool]], seed: int
) -> None:
    play(scenario, history, seed)


def busy_fleet(rng: random.Random) -> tuple[Scenario, list[tuple[str, float, int, bool]]]:
    """A fleet in which all that can go wrong does, and a long history in which nearly every fault is answered."""
    choose = rng.choice
    stages = [
        {
            "duration": choose(["0s", "1s", "2s", {"law": "exponential", "mean": "4s"}]),
            "crews": choose([1, 2, "unlimited"]),
            "success": success,
            "silent_failure": silent,
        }
        for success, silent in (choose([(0.5, 0.3), (0.4, 0.0), (1.0, 0.0), (0.0, 0.6)]) for _ in range(2))
    ]
    stages[-1] |= {"success": 0.4}
    retirement = {"faults": rng.randint(2, 3), "window": choose(["5s", "30s"]), "replacement": choose(["0s", "3s"])}
    repair = {"stages": stages, "escalation": choose(["next_stage", "retire"]), "retirement": retirement}
    spares = {
        "state": choose(["hot", "shelf"]),
        "provisioning": choose(["0s", "1s", {"law": "exponential", "mean": "2s"}]),
    }
    spares |= choose([{"total": 3}, {"per_pool": 1, "pool_nodes": 2, "borrowing": choose([True, False])}])
    faults = {"crash": {"mtbf": "20s per node", "scope": "node"}}
    scenario = scenario_of(rng.randint(3, 6), spares, repair, faults=faults)
    kinds = ["answer", "answer", "answer", "take_out", "request", "seat", "advance"]
    steps = [(choose(kinds), choose([0.0, 1.0, 2.0, 3.5]), rng.randrange(6), rng.random() < 0.8) for _ in range(60)]
    return scenario, steps


def test_busy_fleets_have_the_history_of_the_reference() -> None:
    seen = {"defective": 0, "retired": 0, "replaced": 0, "hot": 0, "escalated": 0}
    for seed in range(60):
        scenario, history = busy_fleet(random.Random(seed))
        for outage in play(scenario, history, seed).outages:
            seen["defective"] += outage.defective
            seen["retired"] += outage.retired
            seen["replaced"] += outage.retired and outage.back_s is not None
            seen["hot"] += outage.reason is Reason.HOT_SPARE
            seen["escalated"] += outage.attempts > 0
    assert min(seen.values()) > 100


@pytest.mark.slow
@settings(max_examples=3_000, deadline=None, derandomize=True)
@given(scenarios(), HISTORY, st.integers(0, 1_000_000))
def test_thousands_of_random_fleets(scenario: Scenario, history: list[tuple[str, float, int, bool]], seed: int) -> None:
    play(scenario, history, seed)


@pytest.mark.slow
def test_thousands_of_busy_fleets() -> None:
    for seed in range(1_000, 2_000):
        scenario, history = busy_fleet(random.Random(seed))
        play(scenario, history, seed)
