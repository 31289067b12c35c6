"""Hot spares: when they fail, which one, and that nothing else moves the sequence."""

import numpy as np
import pytest
from fleet_tools import scenario_of

from c4sim.fleet import Fleet, Place, Reason, hot_spare_rate
from c4sim.fleet.draws import HOT_SPARE_STREAM
from c4sim.fleet.hot_spares import HotSpares
from c4sim.scenario import Scenario, ScenarioError
from c4sim.streams import Purpose, Streams

FAULTS = {"crash": {"mtbf": "1000s per node", "scope": "node"}}


def hot(nodes: int, total: object, **sections: object) -> Scenario:
    spares = {"total": total, "state": "hot"}
    return scenario_of(nodes, spares, {"duration": "10s"}, **({"faults": FAULTS} | sections))


def gap(streams: Streams, index: int) -> float:
    """Unit exponential number `index` of the stream of hot spares."""
    return float(-np.log1p(-streams.uniform(Purpose.HOT_SPARE, HOT_SPARE_STREAM, index)))


def test_a_hot_spare_fails_when_the_clock_of_all_spares_says_so() -> None:
    """Two spares at 1 / 1,000 s each: the first failure at gap x 500 s; with one in repair half speed."""
    streams = Streams(1, 0, 0)
    fleet = Fleet(hot(3, 2), streams)
    first = gap(streams, 0) * 500.0
    assert fleet.next_change() == pytest.approx(first, rel=1e-12)
    fleet.advance(first + 1.0)
    outage = fleet.outages[0]
    struck = 3 + int(2 * streams.uniform(Purpose.HOT_SPARE, HOT_SPARE_STREAM - 1, 0))
    assert (outage.unit, outage.reason, outage.broken) == (struck, Reason.HOT_SPARE, True)
    assert fleet.place_of(struck) is Place.SHOP
    assert fleet.next_change() == pytest.approx(first + 10.0)
    fleet.advance(first + 10.0)
    assert outage.back_s == pytest.approx(first + 10.0)
    second = gap(streams, 1) * 1_000.0  # clock time, in seconds of one spare
    assert second > 10.0
    assert fleet.next_change() == pytest.approx(first + 10.0 + (second - 10.0) / 2.0)


def test_shelf_spares_never_fail() -> None:
    scenario = scenario_of(3, {"total": 2}, {"duration": "10s"}, faults=FAULTS)
    fleet = Fleet(scenario, Streams(1, 0, 0))
    fleet.advance(1e9)
    assert fleet.outages == []


def test_the_sequence_of_failures_is_the_same_however_many_spares_stand() -> None:
    """The clock (seconds of standing) at each failure does not depend on how many stand."""

    def clock_readings(standing: list[int]) -> list[float]:
        spares = HotSpares(0.001, Streams(1, 0, 0))
        readings, clock, now = [], 0.0, 0.0
        for count in standing:
            spares.stand(now, count)
            clock += (spares.next_s - now) * count
            now = spares.next_s
            assert spares.strike()[0] == len(readings)
            readings.append(clock)
        return readings

    assert clock_readings([1] * 50) == pytest.approx(clock_readings([2, 7, 1, 30, 3] * 10), rel=1e-12)


def test_reserved_spares_do_not_fail() -> None:
    """Both spares are being made ready for two hours: none stands by, so none fails."""
    spares = {"total": 2, "state": "hot", "provisioning": "2h"}
    fleet = Fleet(scenario_of(3, spares, {"duration": "9h"}, faults=FAULTS), Streams(1, 0, 0))
    for slot in (0, 1):
        fleet.take_out(slot, 0.0, broken=True, stream=0, number=slot)
    assert fleet.request(0.0) == 7_200.0
    assert fleet.next_change() == 32_400.0
    assert len(fleet.seat(7_200.0)) == 2


def test_the_rate_counts_every_class_that_takes_one_node_out() -> None:
    """Per node and second: 8 GPUs at 1e-6 x .5 confined; 4 links at 1e-6 x .25 permanent; 2e-6 a node."""
    faults = {
        "gpu": {"rate": "3.6 per 1000 gpu-hours", "scope": "gpu", "confined": 0.5},
        "link": {"rate": "3.6 per 1000 link-hours", "scope": "link", "permanent": 0.25, "clock": "calendar"},
        "node": {"mtbf": "500000s per node", "scope": "node", "law": "weibull", "shape": 0.7},
        "rack": {"mtbf": "1h per rack", "scope": "rack"},
        "software": {"mtbf": "1h per job", "scope": "job"},
        "slow": {"mtbf": "1h per node", "scope": "node", "effect": "slow", "slow_factor": 0.5},
        "never": {"scope": "node"},
    }
    job = {"nodes": 50, "gpus_per_node": 8, "links_per_node": 4}
    scenario = hot(50, 2, faults=faults).model_copy(update={"job": Scenario(job=job).job})
    assert hot_spare_rate(scenario) == pytest.approx(8e-6 * 0.5 + 4e-6 * 0.25 + 2e-6)
    compound = {"crash": FAULTS["crash"] | {"compound": {"share": 0.5, "nodes": 8}}}
    assert hot_spare_rate(hot(50, 2, faults=compound)) == pytest.approx(1e-3)


def test_an_unlimited_pool_of_hot_spares_is_refused() -> None:
    """A spare of an unlimited pool exists only from when it is needed."""
    with pytest.raises(ScenarioError, match=r"spares\.state"):
        scenario_of(3, {"per_pool": "unlimited", "state": "hot"}, {}, faults=FAULTS)
