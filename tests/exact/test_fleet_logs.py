"""Fleet histories with times computed by hand, compared exactly."""

import math

import pytest
from fleet_tools import check_partition, fleet_of, scenario_of

from c4sim.distributions import law_of
from c4sim.fleet import Fleet, Place, Reason
from c4sim.fleet.draws import ATTEMPT_SHIFT, ORDINAL_SHIFT
from c4sim.fleet.pools import Pools
from c4sim.scenario import ScenarioError, validate
from c4sim.streams import Purpose, Streams

DAY = 86_400.0


def spans(fleet: Fleet) -> list[tuple[int, float, float | None]]:
    return [(o.unit, o.out_s, o.back_s) for o in fleet.outages]


def test_a_node_goes_to_the_shop_a_spare_takes_its_slot_and_it_returns_as_a_spare() -> None:
    fleet = fleet_of(4, {"total": 1, "provisioning": "30s"}, {"duration": "100s"})
    assert [fleet.slot_of(unit) for unit in range(5)] == [0, 1, 2, 3, None]
    assert fleet.next_change() == math.inf
    fleet.take_out(2, 10.0, broken=True, stream=0, number=0)
    assert fleet.place_of(2) is Place.SHOP
    assert fleet.is_empty(2)
    assert fleet.place_of(4) is Place.SPARE
    assert fleet.request(10.0) == 40.0
    assert fleet.place_of(4) is Place.RESERVED
    assert fleet.seat(39.0) == []
    assert fleet.seat(40.0) == [(2, 2, 4)]
    assert fleet.unit_in(2) == 4
    assert fleet.slot_of(4) == 2
    assert fleet.slot_of(2) is None
    assert fleet.next_change() == 110.0
    fleet.advance(109.0)
    assert fleet.place_of(2) is Place.SHOP
    fleet.advance(110.0)
    assert fleet.place_of(2) is Place.SPARE
    assert spans(fleet) == [(2, 10.0, 110.0)]
    check_partition(fleet)


def test_without_a_spare_the_slot_waits_for_the_repair() -> None:
    fleet = fleet_of(2, {"total": 0, "provisioning": "5s"}, {"duration": "100s"})
    fleet.take_out(1, 7.0, broken=True, stream=0, number=0)
    assert fleet.request(7.0) == math.inf
    assert fleet.can_ever_fill()
    assert fleet.next_change() == 107.0
    assert fleet.request(107.0) == 112.0
    assert fleet.seat(112.0) == [(1, 1, 1)]
    assert fleet.request(112.0) == 112.0


def test_a_repair_that_takes_no_time_makes_its_own_spare() -> None:
    fleet = fleet_of(2, {"total": 0}, {"duration": "0s"})
    fleet.take_out(0, 3.0, broken=True, stream=0, number=0)
    assert fleet.request(3.0) == 3.0
    assert fleet.seat(3.0) == [(0, 0, 0)]


def test_spares_are_made_ready_in_parallel() -> None:
    fleet = fleet_of(4, {"total": 3, "provisioning": "60s"}, {"duration": "1h"})
    for slot in (3, 1, 0):
        fleet.take_out(slot, 10.0, broken=True, stream=0, number=0)
    assert fleet.request(10.0) == 70.0
    assert fleet.seat(70.0) == [(3, 3, 4), (1, 1, 5), (0, 0, 6)]


def test_crews_serve_first_come_first_served() -> None:
    fleet = fleet_of(4, {"total": 4}, {"duration": "100s", "crews": 2})
    for slot, time in ((0, 0.0), (1, 10.0), (2, 20.0), (3, 30.0)):
        fleet.take_out(slot, time, broken=True, stream=0, number=slot)
    assert fleet.shop_load() == [(2, 2)]
    fleet.advance(1_000.0)
    assert spans(fleet) == [(0, 0.0, 100.0), (1, 10.0, 110.0), (2, 20.0, 200.0), (3, 30.0, 210.0)]


def test_one_crew_is_a_single_queue() -> None:
    fleet = fleet_of(3, {"total": 3}, {"duration": "100s", "crews": 1})
    for slot, time in ((0, 0.0), (1, 0.0), (2, 150.0)):
        fleet.take_out(slot, time, broken=True, stream=0, number=slot)
    fleet.advance(1_000.0)
    assert [back for _, _, back in spans(fleet)] == [100.0, 200.0, 300.0]


def test_stages_each_have_their_own_crews() -> None:
    """Both fail the automatic stage (success 0) together at 10; the one manual crew takes unit 0 till 110, then 1."""
    stages = [{"duration": "10s", "success": 0.0}, {"duration": "100s", "crews": 1}]
    fleet = fleet_of(2, {"total": 2}, {"stages": stages})
    fleet.take_out(1, 0.0, broken=True, stream=0, number=0)
    fleet.take_out(0, 0.0, broken=True, stream=0, number=1)
    fleet.advance(10.0)
    assert [fleet.stage_of(unit) for unit in (0, 1)] == [1, 1]
    assert fleet.shop_load() == [(0, 0), (1, 1)]
    fleet.advance(1_000.0)
    assert spans(fleet) == [(1, 0.0, 210.0), (0, 0.0, 110.0)]
    assert [o.attempts for o in fleet.outages] == [1, 1]


@pytest.mark.parametrize(
    ("escalation", "back"),
    [("next_stage", 10.0 + 100.0 + 100.0), ("repeat", 10.0 * 3), ("retire", None)],
)
def test_named_escalation(escalation: str, back: float | None) -> None:
    """The outcome draws decide: the first two attempts of this incident fail at success .5, the third mends."""
    half = {"success": 0.5, "silent_failure": 0.0}
    stages = [{"duration": "10s"} | half, {"duration": "100s"} | half]
    streams = Streams(1, 0, 0)
    number = next(n for n in range(1_000) if [outcome(streams, n, a) > 0.5 for a in range(3)] == [True, True, False])
    fleet = fleet_of(2, {"total": 1}, {"stages": stages, "escalation": escalation})
    fleet.take_out(0, 0.0, broken=True, stream=0, number=number)
    fleet.advance(1_000.0)
    assert spans(fleet) == [(0, 0.0, back)]
    assert fleet.place_of(0) is (Place.RETIRED if back is None else Place.SPARE)


def outcome(streams: Streams, number: int, attempt: int) -> float:
    return streams.uniform(Purpose.REPAIR_OUTCOME, attempt << ATTEMPT_SHIFT, number)


def test_a_silent_failure_comes_back_defective_until_it_is_mended() -> None:
    stages = [{"duration": "10s", "success": 0.5, "silent_failure": 0.5}]
    streams = Streams(1, 0, 0)
    bad = next(n for n in range(100) if outcome(streams, n, 0) > 0.5)
    good = next(n for n in range(100) if outcome(streams, n, 0) < 0.5)
    fleet = fleet_of(1, {"total": 0}, {"stages": stages})
    fleet.take_out(0, 0.0, broken=True, stream=0, number=bad)
    fleet.request(10.0)
    assert fleet.defective_slots() == ()
    fleet.seat(10.0)
    assert fleet.defective_slots() == (0,)
    # Blamed "wrongly", yet it is broken: it must be mended, not merely looked at.
    fleet.take_out(0, 20.0, broken=False, stream=0, number=good)
    assert fleet.defective_slots() == ()
    assert fleet.outages[1].broken
    fleet.request(30.0)
    fleet.seat(30.0)
    assert fleet.defective_slots() == ()
    assert [o.defective for o in fleet.outages] == [True, False]


def test_a_healthy_node_goes_through_the_shop_too_and_nothing_is_found() -> None:
    stages = [{"duration": "10s", "success": 0.0, "silent_failure": 0.0}, {"duration": "100s"}]
    fleet = fleet_of(2, {"total": 1}, {"stages": stages})
    fleet.take_out(0, 0.0, broken=False, stream=0, number=0)
    fleet.advance(1_000.0)
    assert spans(fleet) == [(0, 0.0, 10.0)]
    assert fleet.outages[0].reason is Reason.BLAMED
    assert not fleet.outages[0].defective


def retiring(times: list[float], **retirement: object) -> Fleet:
    """One node, repaired at once, blamed at these times."""
    fleet = fleet_of(1, {"total": 0}, {"retirement": {"faults": 3, "window": "100s"} | retirement})
    for number, time in enumerate(times):
        fleet.take_out(0, time, broken=False, stream=0, number=number)
        fleet.request(time)
        fleet.seat(time)
    return fleet


def test_retirement_counts_within_its_window() -> None:
    assert retiring([0.0, 50.0, 99.0]).place_of(0) is Place.RETIRED
    assert retiring([0.0, 50.0, 100.0]).place_of(0) is Place.JOB  # the first blame is exactly one window old
    assert retiring([0.0, 50.0, 100.0, 149.0]).place_of(0) is Place.RETIRED
    fleet = retiring([0.0, 50.0, 99.0])
    assert not fleet.can_ever_fill()
    assert fleet.next_change() == math.inf
    assert fleet.outages[-1].retired
    assert fleet.outages[-1].back_s is None


def test_a_retired_node_is_replaced_by_a_new_one() -> None:
    fleet = retiring([0.0, 50.0, 99.0], replacement="1h")
    assert fleet.can_ever_fill()
    assert fleet.units() == 1
    assert fleet.next_change() == 99.0 + 3_600.0
    assert fleet.request(3_699.0) == 3_699.0
    assert fleet.seat(3_699.0) == [(0, 0, 1)]
    assert fleet.place_of(0) is Place.RETIRED
    assert fleet.outages[-1].back_s == 3_699.0
    check_partition(fleet)


def test_pools_split_the_slots_evenly_and_do_not_lend() -> None:
    fleet = fleet_of(300, {"per_pool": 1}, {"duration": "1d"})
    assert fleet.spares_on_shelf() == 3
    fleet.take_out(99, 0.0, broken=True, stream=0, number=0)
    fleet.request(0.0)
    assert fleet.seat(0.0) == [(99, 99, 300)]
    fleet.take_out(100, 0.0, broken=True, stream=0, number=1)
    fleet.request(0.0)
    assert fleet.seat(0.0) == [(100, 100, 301)]
    fleet.take_out(0, 5.0, broken=True, stream=0, number=2)
    assert fleet.request(5.0) == math.inf
    assert fleet.spares_on_shelf() == 1
    assert fleet.can_ever_fill()
    fleet.request(DAY)
    assert fleet.seat(DAY) == [(0, 0, 99)]  # unit 100 is back too, but on the shelf of its own pool


def test_pools_are_consecutive_nearly_equal_and_never_larger_than_said() -> None:
    for nodes in range(1, 40):
        for most in range(1, 12):
            pools = Pools(scenario_of(nodes, {"per_pool": 2, "pool_nodes": most}, {}).spares, nodes)
            served = [pools.of_slot(slot) for slot in range(nodes)]
            sizes = [served.count(pool) for pool in range(pools.count)]
            assert served == sorted(served)
            assert sum(sizes) == nodes
            assert max(sizes) <= most
            assert max(sizes) - min(sizes) <= 1
            assert [pools.home(unit) for unit in range(nodes)] == served
            assert [pools.home(nodes + k) for k in range(2 * pools.count)] == [k // 2 for k in range(2 * pools.count)]
    assert [Pools(scenario_of(5, {"per_pool": 1, "pool_nodes": 3}, {}).spares, 5).of_slot(s) for s in (1, 2)] == [0, 1]


@pytest.mark.parametrize("borrowing", [False, True])
def test_a_spare_of_another_pool_is_no_hope_without_borrowing(borrowing: bool) -> None:
    spares = {"per_pool": 1, "pool_nodes": 1, "borrowing": borrowing}
    fleet = fleet_of(2, spares, {"duration": "1h", "crews": 0})
    for number in range(2):
        fleet.take_out(0, float(number), broken=True, stream=0, number=number)
        ready = fleet.request(float(number))
        fleet.seat(float(number))
    assert ready == (1.0 if borrowing else math.inf)
    assert fleet.can_ever_fill() is borrowing


def test_a_pool_borrows_from_the_nearest_and_the_unit_goes_home() -> None:
    spares = {"per_pool": 1, "pool_nodes": 2, "borrowing": True}
    fleet = fleet_of(8, spares, {"duration": "1d"})
    seated = []
    for number, slot in enumerate((4, 5, 4, 5)):
        fleet.take_out(slot, 10.0 * number, broken=True, stream=0, number=number)
        fleet.request(10.0 * number)
        seated += fleet.seat(10.0 * number)
    assert [unit for _, _, unit in seated] == [10, 9, 11, 8]  # pool 2: its own, then 1 and 3 (the lower first), then 0
    fleet.take_out(4, 50.0, broken=True, stream=0, number=4)  # unit 11, of pool 3
    assert fleet.request(50.0) == math.inf
    fleet.advance(50.0 + DAY - 1.0)
    assert list(fleet._pools.shelves[2]) == [4, 5, 10]
    assert fleet.place_of(11) is Place.SHOP
    fleet.advance(50.0 + DAY)
    assert list(fleet._pools.shelves[3]) == [11]


def test_the_spare_that_has_stood_longest_goes_first_of_equals_the_lower_number() -> None:
    fleet = fleet_of(4, {"total": 1}, {"duration": "100s"})
    for number, slot in enumerate((3, 1)):
        fleet.take_out(slot, 0.0, broken=True, stream=0, number=number)
    fleet.advance(100.0)
    assert list(fleet._pools.shelves[0]) == [4, 1, 3]


def test_an_unlimited_pool_never_runs_dry_and_reuses_what_came_back() -> None:
    fleet = fleet_of(2, {"per_pool": "unlimited"}, {"duration": "100s"})
    for number in range(3):
        fleet.take_out(0, float(number), broken=True, stream=0, number=number)
        assert fleet.request(float(number)) == float(number)
        assert fleet.seat(float(number))[0][2] == 2 + number
    fleet.take_out(0, 150.0, broken=True, stream=0, number=3)
    fleet.request(150.0)
    assert fleet.seat(150.0)[0][2] == 0
    assert fleet.units() == 5
    assert fleet.can_ever_fill()


def test_nothing_can_return_from_a_shop_without_crews() -> None:
    fleet = fleet_of(2, {"total": 1}, {"duration": "1h", "crews": 0})
    fleet.take_out(0, 0.0, broken=True, stream=0, number=0)
    fleet.request(0.0)
    fleet.seat(0.0)
    assert fleet.can_ever_fill()
    fleet.take_out(0, 1.0, broken=True, stream=0, number=1)
    assert fleet.request(1.0) == math.inf
    assert not fleet.can_ever_fill()


def test_one_node_under_way_cannot_fill_two_slots() -> None:
    stages = [{"duration": "10s", "success": 0.0}, {"duration": "1h", "crews": 0}]
    fleet = fleet_of(2, {"total": 0}, {"stages": stages})
    fleet.take_out(0, 0.0, broken=True, stream=0, number=0)
    fleet.take_out(1, 5.0, broken=True, stream=0, number=1)
    assert fleet.request(5.0) == math.inf
    assert fleet.can_ever_fill()
    fleet.advance(10.0)
    assert not fleet.can_ever_fill()


def test_repair_times_belong_to_the_incident_not_to_the_order_of_the_draws() -> None:
    spec = {"law": "lognormal", "mean": "2d", "cv": 1.0}
    scenario = scenario_of(4, {"total": 4}, {"duration": spec})
    streams = Streams(7, 0, 3)
    law = law_of(scenario.repair.duration)
    fleet = Fleet(scenario, streams)
    for slot, number in ((0, 900), (1, 3), (2, 3)):  # two nodes of one incident have draws of their own
        fleet.take_out(slot, 0.0, broken=True, stream=5, number=number)
    fleet.advance(1e9)
    addresses = [(5, 900), (5, 3), (5 + (1 << ORDINAL_SHIFT), 3)]
    expected = [float(law.quantile(streams.uniforms(Purpose.REPAIR, e, n, 1))[0]) for e, n in addresses]
    assert [o.back_s for o in fleet.outages] == expected


def test_the_provisioning_of_a_spare_belongs_to_the_incident_too() -> None:
    """The slot waits for its own node, which two attempts do not mend: still number 0 of this incident's draws."""
    streams = Streams(1, 0, 0)
    number = next(n for n in range(1_000) if [outcome(streams, n, a) > 0.5 for a in range(3)] == [True, True, False])
    spares = {"total": 0, "provisioning": {"law": "exponential", "mean": "60s"}}
    scenario = scenario_of(1, spares, {"stages": [{"duration": "10s", "success": 0.5}]})
    fleet = Fleet(scenario, streams)
    fleet.take_out(0, 0.0, broken=True, stream=0, number=number)
    law = law_of(scenario.spares.provisioning)
    ready = float(law.quantile(streams.uniforms(Purpose.PROVISIONING, 0, number, 1))[0])
    assert fleet.request(30.0) == 30.0 + ready


def test_time_does_not_go_back_and_slots_must_be_occupied() -> None:
    fleet = fleet_of(2, {"total": 0}, {"duration": "1h"})
    fleet.advance(10.0)
    with pytest.raises(ValueError, match=r"now: must not lie before 10\.0"):
        fleet.advance(9.0)
    with pytest.raises(ValueError, match="now: "):
        fleet.request(math.nan)
    fleet.take_out(0, 10.0, broken=True, stream=0, number=0)
    for slot in (0, 2, -1):
        with pytest.raises(ValueError, match="slot: must be an occupied slot of 0 to 1"):
            fleet.take_out(slot, 10.0, broken=True, stream=0, number=1)
    with pytest.raises(ValueError, match="unit: must be 0 to 1"):
        fleet.place_of(2)


@pytest.mark.parametrize(
    ("repair", "path"),
    [
        (
            {"stages": [{"duration": "1d", "success": 0.9, "silent_failure": 0.2}]},
            r"repair\.stages\[0\]: success \+ silent",
        ),
        ({"stages": [{"duration": "1d", "success": 0.0}]}, "repair: a stage that is repeated"),
        ({"stages": []}, "repair: stages must name at least one"),
    ],
)
def test_impossible_shops_are_refused(repair: dict[str, object], path: str) -> None:
    with pytest.raises(ScenarioError, match=path):
        validate({"repair": repair})
