"""The clever ways of keeping ages against plain slow ones."""

import heapq
from dataclasses import dataclass, field

import numpy as np
import pytest
from fault_tools import DAY, process_of
from hypothesis import given, settings
from hypothesis import strategies as st

from c4sim.distributions import Weibull
from c4sim.faults import Activity
from c4sim.faults.agenda import NOTHING, Agenda
from c4sim.faults.lives import Lives
from c4sim.streams import Streams

times = st.floats(0.0, 100.0, allow_subnormal=False)
changes = st.lists(st.tuples(st.sampled_from(["schedule", "cancel", "head"]), st.integers(0, 9), times), max_size=60)


@given(first=st.dictionaries(st.integers(0, 9), times, max_size=10), plan=changes)
@settings(max_examples=200, deadline=None)
def test_agenda_is_a_dictionary_with_its_minimum(first: dict[int, float], plan: list[tuple[str, int, float]]) -> None:
    elements = sorted(first)
    agenda = Agenda(np.array(elements, dtype=np.int64), np.array([first[e] for e in elements], dtype=float))
    plain = dict(first)
    for what, element, due in plan:
        if what == "schedule":
            agenda.schedule(element, due)
            plain[element] = due
        elif what == "cancel":
            assert agenda.cancel(element) == plain.pop(element, None)
        assert agenda.head() == min(((due, element) for element, due in plain.items()), default=NOTHING)


@dataclass
class SlowFleet:
    """Every unit with what is left of its present life, counted down second by second of operation."""

    lives: Lives
    left: dict[int, float]
    seats: dict[int, int | None]
    generation: dict[int, int] = field(default_factory=dict)

    def next(self) -> tuple[float, int]:
        return min((self.left[unit], unit) for unit in self.seats.values() if unit is not None)

    def run(self, seconds: float) -> None:
        for unit in self.seats.values():
            if unit is not None:
                self.left[unit] -= seconds

    def fail(self, unit: int) -> None:
        self.generation[unit] = self.generation.get(unit, 0) + 1
        self.left[unit] = self.lives.life(unit, self.generation[unit])


NODES, SPARES = 4, 3
steps = st.lists(
    st.tuples(st.sampled_from(Activity), st.floats(1.0, 8 * DAY), st.integers(0, NODES - 1), st.integers(0, SPARES)),
    min_size=5,
    max_size=60,
)


@given(plan=steps)
@settings(max_examples=60, deadline=None)
def test_carried_ages_are_lives_counted_down_while_in_the_job(
    plan: list[tuple[Activity, float, int, int]],
) -> None:
    """Units leave and come back at random; a unit out of the job, or a job that stands still, ages nobody."""
    fault = {"law": "weibull", "shape": 1.5, "mtbf": "5d per node", "scope": "node", "renewal": "carried"}
    process = process_of({"a": fault}, nodes=NODES, spares={"total": SPARES, "per_pool": None})
    lives = Lives(Streams(1, 0, 0), 0, Weibull(5 * DAY, 1.5), NODES + SPARES)
    first = lives.first(np.arange(NODES + SPARES)).tolist()
    slow = SlowFleet(lives, dict(enumerate(first)), {slot: slot for slot in range(NODES)})
    shelf: list[int] = list(range(NODES, NODES + SPARES))
    now = 0.0
    for activity, length, slot, choice in plan:
        end = now + length
        while (due := process.next_time(now, activity)) < end:
            seconds, unit = slow.next()
            assert due == pytest.approx(now + max(seconds, 0.0), abs=1e-3)
            process.run(now, due, activity)
            event = process.take(due, activity)
            slow.run(due - now)
            slow.fail(unit)
            assert event is not None
            assert slow.seats[event.slots[0]] == unit
            now = due
        process.run(now, end, activity)
        if activity == Activity.OPERATING:
            slow.run(end - now)
        now = end
        leaving = slow.seats[slot]
        if leaving is not None:
            process.swap(slot, leaving, None, now)
            shelf.append(leaving)
        coming = shelf.pop(choice % len(shelf))
        process.swap(slot, None, coming, now)
        slow.seats[slot] = coming


@pytest.mark.parametrize("shape", [0.7, 3.0])
def test_superposed_renewals_come_in_the_order_of_a_merge(shape: float) -> None:
    """All slots' sequences drawn one by one, merged, against the source's own order."""
    fault = {"law": "weibull", "shape": shape, "mtbf": "9d per node", "scope": "node"}
    process = process_of({"a": fault}, nodes=50)
    now = 0.0
    while (due := process.next_time(now, Activity.OPERATING)) < 60 * DAY:
        process.run(now, due, Activity.OPERATING)
        process.take(due, Activity.OPERATING)
        now = due
    lives = Lives(Streams(1, 0, 0), 0, Weibull(9 * DAY, shape), 50)
    ends = []
    for slot in range(50):
        time, generation = lives.life(slot, 0), 0
        while time < 60 * DAY:
            heapq.heappush(ends, (time, slot))
            generation += 1
            time += lives.life(slot, generation)
    found = process.drawn(0)
    assert [slot for _, slot in found] == [slot for _, slot in sorted(ends)]
    np.testing.assert_allclose([time for time, _ in found], [time for time, _ in sorted(ends)], rtol=1e-12)
    assert len(ends) > 200
