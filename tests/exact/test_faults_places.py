"""Where faults strike and how often: scopes, neighbours, rates."""

import pytest
from fault_tools import DAY, process_of, walk

from c4sim.faults.places import Topology
from c4sim.faults.rates import event_rate
from c4sim.scenario.faults import FaultClass, Scope

# 10 nodes of 8 GPUs and 4 links, 3 nodes a rack: racks 0-2, 3-5, 6-8, 9; 2 racks a power domain.
SMALL = Topology(10, 8, 4, 3, 2)


@pytest.mark.parametrize(
    ("scope", "count", "times"),
    [
        ("gpu", 80, 8),
        ("link", 40, 4),
        ("node", 10, 1),
        ("switch", 4, 1),
        ("rack", 4, 1),
        ("power", 2, 1),
        ("job", 1, 0),
    ],
)
def test_places_of_a_scope_cover_every_slot_equally_often(scope: Scope, count: int, times: int) -> None:
    assert SMALL.count(scope) == count
    slots = [slot for place in range(count) for slot in SMALL.slots(scope, place)]
    assert sorted(slots) == sorted(list(range(10)) * times)


def test_last_rack_and_domain_may_be_smaller() -> None:
    assert SMALL.slots("rack", 3) == (9,)
    assert SMALL.slots("power", 0) == (0, 1, 2, 3, 4, 5)
    assert SMALL.slots("power", 1) == (6, 7, 8, 9)


def test_neighbours_go_round() -> None:
    assert SMALL.neighbours(8, 4) == (8, 9, 0, 1)
    assert SMALL.neighbours(3, 99) == (3, 4, 5, 6, 7, 8, 9, 0, 1, 2)


@pytest.mark.parametrize(
    ("given", "per_second"),
    [
        ({"mtbf": "50000h per gpu"}, 80 / 180e6),
        ({"mtbf": "12h per job"}, 1 / 43_200),
        ({"rate": "6.5 per 1000 node-days", "scope": "job"}, 10 * 6.5e-3 / DAY),
        ({"rate": "40 per job-month"}, 40 / (30 * DAY)),
        ({"rate": "1 per link-day"}, 40 / DAY),
        ({"rate": "1 per rack-day"}, 4 / DAY),
        ({"rate": "1 per power-day"}, 2 / DAY),
        ({"rate": "1 per node-day", "compound": {"share": 0.1, "nodes": 8}}, 10 / DAY / 1.7),
        ({"rate": "1 per node-day", "compound": {"share": 0.5, "nodes": 99}}, 10 / DAY / 5.5),
        ({"rate": "1 per rack-day", "scope": "rack", "compound": {"share": 0.5, "nodes": 9}}, 4 / DAY),
        ({"law": "empirical", "values": ["1d", "3d"], "scope": "node"}, 10 / (2 * DAY)),
        ({}, 0.0),
    ],
)
def test_rate_of_the_whole_job(given: dict[str, object], per_second: float) -> None:
    assert event_rate(FaultClass(**given), SMALL) == pytest.approx(per_second, rel=1e-12)  # type: ignore[arg-type]


def test_job_mtbf_adds_up_classes_and_lemons() -> None:
    faults = {"a": {"rate": "2 per job-day", "scope": "node"}, "b": {"rate": "1 per rack-day", "scope": "rack"}}
    lemons = {"nodes_per_rack": 2, "lemons": {"share": 0.25, "multiplier": 5}}
    assert process_of(faults, nodes=4).operating_mtbf_s() == pytest.approx(DAY / 3)
    assert process_of(faults, nodes=4, cluster=lemons).operating_mtbf_s() == pytest.approx(DAY / (2 * 2 + 2))


def test_gpu_and_link_of_an_event() -> None:
    """Links are shared out over the GPUs of their node: of 4 links and 8 GPUs link 1 serves GPU 2."""
    job = {"gpus_per_node": 8, "links_per_node": 4}
    faults = {name: {"rate": "1 per job-hour", "scope": name} for name in ("gpu", "link", "node", "rack", "job")}
    seen: dict[str, set[int | None]] = {name: set() for name in faults}
    for _, event in walk(process_of(faults, nodes=2, job=job), 30 * DAY):
        assert event is not None
        seen[event.name].add(event.gpu)
    assert seen["gpu"] == set(range(8))
    assert seen["link"] == {0, 2, 4, 6}
    assert seen["node"] == seen["rack"] == seen["job"] == {None}


def test_confined_and_permanent_are_certain_at_their_limits() -> None:
    faults = {
        "sure": {"rate": "1 per job-hour"},
        "no": {"rate": "1 per job-hour", "confined": 0.0, "permanent": 0.0},
    }
    for _, event in walk(process_of(faults), 30 * DAY):
        assert event is not None
        assert event.confined is event.permanent is (event.name == "sure")


def test_compound_event_of_the_whole_job_hits_every_node_once() -> None:
    faults = {"a": {"rate": "1 per node-day", "scope": "node", "compound": {"share": 1.0, "nodes": 9}}}
    for _, event in walk(process_of(faults, nodes=4), 30 * DAY):
        assert event is not None
        assert sorted(event.slots) == [0, 1, 2, 3]
