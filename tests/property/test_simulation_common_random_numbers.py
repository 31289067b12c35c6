"""What a policy must not change: the sequence of faults of each class, to the bit, and the luck of each incident."""

from typing import Any

import numpy as np
import pytest
import simpy

from c4sim import metrics
from c4sim.ledger import Ledger
from c4sim.scenario import Scenario, validate
from c4sim.simulation import run
from c4sim.simulation.recorder import Recorder
from c4sim.simulation.run import job_process
from c4sim.simulation.world import World
from c4sim.streams import Streams

BASE: dict[str, Any] = {
    "horizon": "60d",
    "job": {"nodes": 32},
    "checkpoint": {"interval": "2h", "write": "10s"},
    "spares": {"per_pool": 2},
    "repair": {"duration": {"law": "lognormal", "mean": "2d", "cv": 1.0}},
    "isolation": {"delay": {"law": "lognormal", "mean": "1h", "cv": 1.0}},
    "restart": {"duration": "10min"},
    "faults": {
        "gpu": {"mtbf": "3d per job", "confined": 0.8},
        "link": {"mtbf": "5d per job", "clock": "restart", "scope": "link"},
        "rack": {"mtbf": "9d per job", "clock": "calendar", "scope": "rack"},
    },
}
WORN = {"worn": {"mtbf": "60d per node", "law": "weibull", "shape": 0.7, "scope": "node"}}
POLICIES: dict[str, dict[str, Any]] = {
    "spares": {"spares": {"per_pool": 6}},
    "repair": {"repair": {"duration": "8d", "crews": 1}},
    "interval": {"checkpoint": {"interval": "10min", "write": "60s"}},
    "isolation": {"isolation": {"delay": "5min"}},
}


def sequences(scenario: Scenario, replication: int) -> dict[int, list[tuple[float, int | None]]]:
    """(clock time, place) of every fault of each stream that the run took."""
    env, ledger = simpy.Environment(), Ledger(causes=tuple(scenario.faults))
    streams = Streams(4, 0, replication)
    world = World(scenario, streams, ledger, Recorder(ledger, []))
    env.run(until=env.process(job_process(env, world, scenario, streams)))
    return {stream: world.faults.drawn(stream) for stream in range(2 * len(scenario.faults))}


@pytest.mark.parametrize("policy", POLICIES)
def test_a_policy_leaves_every_classs_sequence_alone(policy: str) -> None:
    """Classes without age: the sequence of (clock time, place) on the class's own clock, whatever that clock is."""
    compared = 0
    for replication in range(5):
        before = sequences(validate(BASE), replication)
        after = sequences(validate({**BASE, **POLICIES[policy]}), replication)
        for stream in before:
            shared = min(len(before[stream]), len(after[stream]))
            assert before[stream][:shared] == after[stream][:shared]
            compared += shared
    assert compared > 20


@pytest.mark.parametrize("policy", POLICIES)
def test_a_policy_leaves_the_sequence_of_each_slot_alone(policy: str) -> None:
    """Classes with age, replaced as new: the failure times of each slot on the class's clock."""
    worn = {**BASE, "faults": WORN}
    for replication in range(5):
        before = _by_slot(sequences(validate(worn), replication)[0])
        after = _by_slot(sequences(validate({**worn, **POLICIES[policy]}), replication)[0])
        assert max(map(len, before.values())) > 1
        for slot in set(before) & set(after):
            shared = min(len(before[slot]), len(after[slot]))
            assert before[slot][:shared] == after[slot][:shared]


def _by_slot(sequence: list[tuple[float, int | None]]) -> dict[int | None, list[float]]:
    times: dict[int | None, list[float]] = {}
    for time, place in sequence:
        times.setdefault(place, []).append(time)
    return times


def test_a_change_without_effect_changes_nothing() -> None:
    """A key that this scenario never uses: a difference of exactly 0 in every total."""
    base = validate(BASE)
    same = validate({**BASE, "isolation": {**BASE["isolation"], "strikes_again": "1h"}})
    for replication in range(5):
        one = metrics.totals(run(base, 4, 0, replication), base)
        other = metrics.totals(run(same, 4, 0, replication), same)
        assert (one == other).all()


def test_a_shared_fault_meets_the_same_luck() -> None:
    """Isolation takes the same time for the same fault whether or not another policy shifts it in time."""
    base = validate({**BASE, "faults": {"gpu": BASE["faults"]["gpu"]}})
    often = validate({**BASE, "faults": {"gpu": BASE["faults"]["gpu"]}, **POLICIES["interval"]})
    for replication in range(5):
        one, other = (run(s, 4, 0, replication).incidents for s in (base, often))
        shared = min(len(one), len(other)) - 1
        delays = [
            [i.isolated - i.detected for i in incidents[:shared] if i.isolated is not None and i.detected is not None]
            for incidents in (one, other)
        ]
        assert len(delays[0]) == shared
        np.testing.assert_allclose(delays[0], delays[1], rtol=0.0, atol=1e-8)  # differences of large times


def test_paired_differences_vary_far_less_than_independent_ones() -> None:
    """Two checkpoint intervals on the same faults: under half the variance of independent runs."""
    base, other = validate(BASE), validate({**BASE, **POLICIES["interval"]})
    column = metrics.columns(base).index("lost_work_s")
    pairs = np.array([[metrics.totals(run(s, 4, 0, r), s)[column] for s in (base, other)] for r in range(60)])
    paired = np.var(pairs[:, 1] - pairs[:, 0], ddof=1)
    assert paired < 1.0 * (np.var(pairs[:, 0], ddof=1) + np.var(pairs[:, 1], ddof=1))
    up = metrics.columns(base).index("isolation_s")
    isolated = np.array([[metrics.totals(run(s, 4, 0, r), s)[up] for s in (base, other)] for r in range(60)])
    assert np.var(isolated[:, 1] - isolated[:, 0], ddof=1) < 0.5 * isolated.var(axis=0, ddof=1).sum()
