"""Clocks, ties, fault lists and bookkeeping, with times computed by hand."""

import math

import numpy as np
import pytest
from fault_tools import DAY, process_of, walk

from c4sim.faults import Activity, FaultProcess
from c4sim.streams import Purpose, Streams

OPERATING, RESTARTING, STOPPED = Activity.OPERATING, Activity.RESTARTING, Activity.STOPPED


def after(seconds: float, **more: object) -> dict[str, object]:
    """A class whose every node lives exactly `seconds`."""
    return {"law": "empirical", "values": [f"{seconds}s"], "scope": "node", **more}


def take(process: FaultProcess, start: float, activity: Activity) -> tuple[float, str, tuple[int, ...]]:
    due = process.next_time(start, activity)
    process.run(start, due, activity)
    event = process.take(due, activity)
    assert event is not None
    return due, event.name, event.slots


def test_a_clock_ticks_only_under_its_activities() -> None:
    process = process_of({name: after(100.0, clock=name) for name in ("operating", "restart", "calendar")}, nodes=1)
    process.run(0.0, 10.0, STOPPED)  # calendar 10
    process.run(10.0, 30.0, RESTARTING)  # calendar 30, restart 20
    process.run(30.0, 60.0, OPERATING)  # calendar 60, restart 50, operating 30
    assert process.next_time(60.0, STOPPED) == 100.0
    assert take(process, 60.0, STOPPED) == (100.0, "calendar", (0,))
    assert process.next_time(100.0, RESTARTING) == 150.0
    assert process.next_time(100.0, OPERATING) == 150.0
    assert take(process, 100.0, RESTARTING) == (150.0, "restart", (0,))
    assert take(process, 150.0, OPERATING) == (200.0, "calendar", (0,))  # 120 would be the operating class's own
    assert take(process, 200.0, OPERATING) == (220.0, "operating", (0,))


def test_no_class_no_event() -> None:
    process = process_of({"none": {}, "zero": {"rate": "0 per job-day"}})
    assert all(process.next_time(0.0, activity) == math.inf for activity in Activity)
    process.run(0.0, 1e9, OPERATING)
    assert process.operating_mtbf_s() == math.inf
    with pytest.raises(ValueError, match="no fault is due"):
        process.take(1e9, OPERATING)


def test_an_event_before_its_time_is_refused() -> None:
    process = process_of({"a": after(100.0)}, nodes=1)
    process.run(0.0, 50.0, OPERATING)
    with pytest.raises(ValueError, match=r"no fault is due at 50\.0 s \(the next one comes at 100\.0 s\)"):
        process.take(50.0, OPERATING)


@pytest.mark.parametrize("pace", [{}, {"reinforcement": {"factor": 2, "over": "1d"}}])
@pytest.mark.parametrize("clock", ["operating", "restart", "calendar"])
def test_an_event_that_was_let_pass_is_due_now(clock: str, pace: dict[str, object]) -> None:
    process = process_of({"a": after(100.0, clock=clock, **pace)}, nodes=1)
    process.run(0.0, 150.0, OPERATING)
    assert process.next_time(150.0, OPERATING) == 150.0
    assert process.take(150.0, OPERATING) is not None


def test_the_clock_is_set_to_the_events_own_value() -> None:
    """Tenths do not add up to whole numbers in binary; the events still come at exact multiples of a life."""
    process = process_of({"a": after(1.0)}, nodes=1, horizon="1d")
    now = 0.0
    for _ in range(50):
        for _ in range(3):
            process.run(now, now + 0.1, OPERATING)
            now += 0.1
        now = take(process, now, OPERATING)[0]
        process.run(now, now + 0.7, STOPPED)
        now += 0.7
    assert process.drawn(0) == [(float(k + 1), 0) for k in range(50)]


def test_ties_go_by_clock_then_class_then_place() -> None:
    faults = {
        "late": after(100.0, clock="operating"),
        "early": after(100.0, clock="calendar"),
        "next": after(100.0, clock="operating"),
    }
    script = [{"time": "100s", "node": 1, "kind": "next"}]
    process = process_of(faults, nodes=2, fault_list=script)
    found = [(time, event.name, event.slots, event.stream) for time, event in walk(process, 150.0) if event]
    assert found == [
        (100.0, "early", (0,), 1),
        (100.0, "early", (1,), 1),
        (100.0, "next", (1,), 6),
        (100.0, "late", (0,), 0),
        (100.0, "late", (1,), 0),
        (100.0, "next", (0,), 2),
        (100.0, "next", (1,), 2),
    ]


def test_a_fault_list_is_replayed_as_written() -> None:
    faults = {
        "chip": {"effect": "hang", "confined": 0.0, "permanent": 0.0, "compound": {"share": 1.0, "nodes": 3}},
        "leaf": {"scope": "switch"},
        "code": {"scope": "job"},
    }
    lines = [("60s", 3, "leaf"), ("50s", 2, "chip"), ("60s", 0, "code"), ("60s", 5, "chip")]
    script = [{"time": time, "node": node, "kind": kind} for time, node, kind in lines]
    process = process_of(faults, nodes=6, cluster={"nodes_per_rack": 2}, fault_list=script)
    found = list(walk(process, 1e9, activity=STOPPED))
    assert [(time, e.number, e.name, e.slots, e.confined, e.permanent, e.effect) for time, e in found if e] == [
        (50.0, 1, "chip", (2,), False, False, "hang"),
        (60.0, 0, "leaf", (2, 3), True, True, "crash"),
        (60.0, 2, "code", (), True, True, "crash"),
        (60.0, 3, "chip", (5,), False, False, "hang"),
    ]
    assert {e.stream for _, e in found if e} == {6}
    assert [e.gpu is None for _, e in found if e] == [False, True, True, False]
    assert process.next_time(60.0, OPERATING) == math.inf


def test_an_empty_slot_is_not_struck() -> None:
    faults = {"node": after(100.0, clock="calendar"), "rack": after(150.0, clock="calendar", scope="rack")}
    process = process_of(faults, nodes=2, cluster={"nodes_per_rack": 2})
    process.swap(0, 0, None, 0.0)
    events = [event and (event.name, event.slots) for _, event in walk(process, 160.0, activity=STOPPED)]
    assert events == [None, ("node", (1,)), ("rack", (1,))]
    process.swap(1, 1, None, 160.0)
    process.run(150.0, 300.0, STOPPED)
    assert process.take(300.0, STOPPED) is None


def test_a_unit_that_does_not_sit_there_cannot_leave() -> None:
    process = process_of({"a": after(100.0)})
    process.swap(2, 2, 9, 0.0)
    with pytest.raises(ValueError, match=r"unit 9 sits in slot 2 at 5\.0 s \(got 2\)"):
        process.swap(2, 2, 7, 5.0)


def test_events_without_age_are_read_off_their_addresses() -> None:
    """Event k of class 1: row k of its stream is (gap, place, confined, permanent); its time is the sum of -ln gap up
    to k over the rate, its place the uniform times 80 GPUs.
    """
    process = process_of({"none": {}, "a": {"rate": "2 per job-day"}}, nodes=10, seed=5, replication=2)
    found = [(time, event.slots[0] * 8 + (event.gpu or 0)) for time, event in walk(process, 100 * DAY) if event]
    streams = Streams(5, 0, 2)
    drawn = streams.uniforms(Purpose.EVENT, 1, 0, 4 * len(found)).reshape(-1, 4)
    sums = np.cumsum(-np.log(drawn[:, 0]))
    np.testing.assert_allclose([time for time, _ in found], sums * DAY / 2, rtol=1e-13)
    places = (drawn[:, 1] * 80).astype(int)
    assert [place for _, place in found] == places.tolist()
    assert len(found) > 150
