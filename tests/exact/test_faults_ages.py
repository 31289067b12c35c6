"""Units with age: renewal as new, carried ages, starts; lives of fixed length, times by hand."""

import math

import numpy as np
import pytest
from fault_tools import process_of, replace_by_new, walk

from c4sim.faults import Activity, FaultProcess
from c4sim.scenario import validate
from c4sim.streams import Purpose, Streams

OPERATING, STOPPED = Activity.OPERATING, Activity.STOPPED


def lasting(seconds: float, **more: object) -> dict[str, object]:
    return {"law": "empirical", "values": [f"{seconds}s"], "scope": "node", **more}


def aged(*ages: float, renewal: str = "as_new", **more: object) -> dict[str, object]:
    """Lives of 100 s, the nodes of these ages at time 0."""
    texts = [f"{age}s" for age in ages]
    return lasting(100.0, start="given", ages=texts, renewal=renewal, **more)


def times(process: FaultProcess, end: float, **how: object) -> list[tuple[float, int]]:
    return [(time, event.slots[0]) for time, event in walk(process, end, **how) if event]  # type: ignore[arg-type]


@pytest.mark.parametrize("renewal", ["as_new", "carried"])
def test_ages_at_the_start(renewal: str) -> None:
    process = process_of({"a": aged(70, 10, 40, renewal=renewal)}, nodes=5)
    first = [(30.0, 0), (30.0, 3), (60.0, 2), (90.0, 1), (90.0, 4)]
    assert times(process, 220.0) == first + [(time + 100.0, slot) for time, slot in first]


def test_a_unit_that_outlived_its_law_fails_at_once() -> None:
    assert times(process_of({"a": aged(250)}, nodes=1), 250.0) == [(0.0, 0), (100.0, 0), (200.0, 0)]


def test_the_swap_that_answers_a_failure_renews_once() -> None:
    process = process_of({"a": aged(90, 0)}, nodes=2)
    found = times(process, 215.0, answer=replace_by_new)
    assert found == [(10.0, 0), (100.0, 1), (110.0, 0), (200.0, 1), (210.0, 0)]
    assert process.drawn(0) == found


def test_after_a_failure_the_next_life_starts_at_the_failure_and_not_at_the_late_swap() -> None:
    process = process_of({"a": lasting(100.0, clock="calendar")}, nodes=1)
    process.run(0.0, 100.0, OPERATING)
    assert process.take(100.0, OPERATING) is not None
    process.swap(0, 0, None, 100.0)
    process.run(100.0, 130.0, STOPPED)
    process.swap(0, None, 7, 130.0)
    assert process.next_time(130.0, OPERATING) == 200.0


def test_answering_a_failure_by_a_swap_or_not_leaves_the_sequence_as_it_is() -> None:
    weibull = {"law": "weibull", "shape": 0.7, "mtbf": "10d per node", "scope": "node"}
    kept, swapped = process_of({"a": weibull}), process_of({"a": weibull})
    assert times(kept, 4e7) == times(swapped, 4e7, answer=replace_by_new)
    assert len(kept.drawn(0)) > 100


def test_a_swap_for_another_reason_renews_the_slot_and_only_it() -> None:
    process = process_of({"a": lasting(100.0)}, nodes=2)
    process.run(0.0, 60.0, OPERATING)
    process.swap(1, 1, 5, 60.0)
    process.run(60.0, 65.0, STOPPED)
    assert times(process, 200.0)[:1] == [(40.0, 0)]  # walk counts from 0 again: 40 s more of operation


def test_once_the_job_operates_again_a_swap_answers_something_else() -> None:
    process = process_of({"a": lasting(100.0)}, nodes=1)
    process.run(0.0, 100.0, OPERATING)
    assert process.take(100.0, OPERATING) is not None  # transient: nobody swaps
    process.run(100.0, 110.0, STOPPED)
    process.run(110.0, 150.0, OPERATING)
    process.swap(0, 0, 1, 150.0)
    assert process.next_time(150.0, OPERATING) == 250.0


def test_all_gpus_of_a_swapped_node_are_new_but_one_failure_renews_one() -> None:
    job = {"gpus_per_node": 2}
    fault = {"law": "empirical", "values": ["100s"], "start": "given", "ages": ["60s", "30s"]}
    kept = process_of({"a": fault}, nodes=1, job=job)
    assert [(time, event.gpu) for time, event in walk(kept, 150.0) if event] == [(40.0, 0), (70.0, 1), (140.0, 0)]
    swapped = process_of({"a": fault}, nodes=1, job=job)
    found = [(time, event.gpu) for time, event in walk(swapped, 150.0, replace_by_new) if event]
    assert found == [(40.0, 0), (140.0, 0)]  # GPU 1 is new at 40, due at 140 too, and new again at 140


def test_racks_are_not_renewed_by_the_swap_of_a_node() -> None:
    process = process_of({"a": lasting(100.0, scope="rack")}, nodes=4, cluster={"nodes_per_rack": 2})
    process.run(0.0, 50.0, OPERATING)
    process.swap(0, 0, 4, 50.0)
    assert process.next_time(50.0, OPERATING) == 100.0


def test_a_unit_taken_out_freezes_its_remaining_life() -> None:
    """Unit 0 of age 70 leaves at 10 with 20 s left and comes back into slot 1 at 50: it fails at 70."""
    process = process_of(
        {"a": aged(70, 0, renewal="carried", clock="calendar")}, nodes=2, spares={"total": 1, "per_pool": None}
    )
    process.run(0.0, 10.0, OPERATING)
    process.swap(0, 0, None, 10.0)
    process.run(10.0, 20.0, STOPPED)
    process.swap(0, None, 2, 20.0)  # a spare of age 70 too (ages repeat): fails at 50
    assert process.next_time(20.0, STOPPED) == 50.0
    process.run(20.0, 50.0, OPERATING)
    failed = process.take(50.0, OPERATING)
    assert failed is not None
    assert failed.slots == (0,)
    process.swap(1, 1, None, 50.0)
    process.swap(1, None, 0, 50.0)
    assert process.next_time(50.0, OPERATING) == 70.0
    process.run(50.0, 70.0, OPERATING)
    failed = process.take(70.0, OPERATING)
    assert failed is not None
    assert failed.slots == (1,)


def test_units_beyond_the_spares_of_time_0_come_new() -> None:
    process = process_of({"a": aged(70, renewal="carried")}, nodes=1, spares={"total": 1, "per_pool": None})
    process.swap(0, 0, 1, 0.0)
    assert process.next_time(0.0, OPERATING) == 30.0
    process.swap(0, 1, 2, 0.0)
    assert process.next_time(0.0, OPERATING) == 100.0


def test_the_callers_word_on_where_a_unit_sits_counts() -> None:
    scenario = validate({"job": {"nodes": 2}, "faults": {"a": aged(90, 80, renewal="carried")}})
    process = FaultProcess(scenario, Streams(1, 0, 0), lambda unit: None if unit == 0 else 5)
    found = list(walk(process, 30.0))
    assert [(time, event and event.slots) for time, event in found] == [(10.0, None), (20.0, (5,))]
    assert process.drawn(0) == [(10.0, None), (20.0, 5)]


@pytest.mark.parametrize("renewal", ["as_new", "carried"])
def test_lives_are_read_off_their_addresses(renewal: str) -> None:
    """Life k of element e of class 1 of 2: number e of the stream 1 + 65,536 k, by the Weibull quantile."""
    weibull = {"law": "weibull", "shape": 0.7, "mtbf": "100d per node", "scope": "node", "renewal": renewal}
    process = process_of({"none": {}, "a": weibull}, nodes=3, seed=5, replication=2)
    found: dict[int, list[float]] = {0: [], 1: [], 2: []}
    for time, slot in times(process, 86_400.0 * 400):
        found[slot].append(time)
    scale = 100 * 86_400.0 / math.gamma(1 + 1 / 0.7)
    streams = Streams(5, 0, 2)
    for slot, ends in found.items():
        u = [streams.uniform(Purpose.LIFE, 1 + 65_536 * k, slot) for k in range(len(ends))]
        lives = scale * (-np.log1p(-np.array(u))) ** (1 / 0.7)
        np.testing.assert_allclose(ends, np.cumsum(lives), rtol=1e-12)
    assert sum(map(len, found.values())) > 5
