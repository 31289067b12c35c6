"""The same sequences whatever the job does: block sizes, order of activities, other classes, rates."""

from typing import Any

import numpy as np
import pytest
from fault_tools import DAY, process_of, replace_by_new, walk
from hypothesis import given, settings
from hypothesis import strategies as st

from c4sim.distributions import Gamma, Lognormal, Weibull
from c4sim.faults import Activity, FaultProcess
from c4sim.faults.lives import Lives
from c4sim.faults.marks import Marks
from c4sim.faults.places import Topology
from c4sim.faults.poisson import PoissonSource
from c4sim.scenario.faults import FaultClass
from c4sim.streams import Streams

WEIBULL = {"law": "weibull", "shape": 0.7, "mtbf": "20d per node", "scope": "node"}
KINDS: dict[str, dict[str, Any]] = {
    "poisson": {"rate": "1 per job-day"},
    "compound": {"rate": "1 per node-day", "scope": "node", "compound": {"share": 0.3, "nodes": 3}, "confined": 0.6},
    "clustered": {"rate": "1 per job-day", "clustering": {"dispersion": 4, "window": "12h"}},
    "mended": {"rate": "1 per job-day", "reinforcement": {"factor": 3, "over": "40d"}},
    "as_new": WEIBULL,
    "stationary": {**WEIBULL, "law": "lognormal", "shape": None, "cv": 1.5, "start": "stationary"},
    "given": {**WEIBULL, "start": "given", "ages": ["1d", "9d"]},
    "carried": {**WEIBULL, "renewal": "carried"},
    "racks": {**WEIBULL, "scope": "rack", "mtbf": "20d per rack"},
}
CLOCKS = ("operating", "restart", "calendar")
Segments = list[tuple[Activity, float]]
segments = st.lists(st.tuples(st.sampled_from(Activity), st.floats(1.0, 6 * DAY)), min_size=1, max_size=30)


def live(process: FaultProcess, plan: Segments, *, swap: bool = False) -> None:
    """The job does one thing after the other, events or not, then operates to the end of 200 days."""
    now = 0.0
    for activity, length in [*plan, (Activity.OPERATING, 200 * DAY)]:
        end = now + length
        while (due := process.next_time(now, activity)) < end:
            process.run(now, due, activity)
            event = process.take(due, activity)
            if event is not None and swap:
                replace_by_new(process, due, event)
            now = due
        process.run(now, end, activity)
        now = end


def assert_one_continues_the_other(first: list[Any], second: list[Any]) -> None:
    common = min(len(first), len(second))
    assert common > 10
    assert first[:common] == second[:common]


@pytest.mark.parametrize("clock", CLOCKS)
@pytest.mark.parametrize("kind", KINDS)
@given(plan=segments)
@settings(max_examples=10, deadline=None)
def test_what_the_job_does_moves_no_sequence_by_a_bit(kind: str, clock: str, plan: Segments) -> None:
    faults = {"other": {"rate": "2 per job-day"}, kind: {**KINDS[kind], "clock": clock}}
    steady, troubled = (process_of(faults, nodes=6, cluster={"nodes_per_rack": 2}) for _ in range(2))
    live(steady, [])
    live(troubled, plan)
    for stream in (0, 1):
        assert_one_continues_the_other(steady.drawn(stream), troubled.drawn(stream))


@pytest.mark.parametrize("renewal", ["as_new", "carried"])
@given(plan=segments)
@settings(max_examples=10, deadline=None)
def test_nor_where_units_that_failed_are_swapped(renewal: str, plan: Segments) -> None:
    """Two classes on one clock, every struck node replaced at once: the swaps come at the same clock values."""
    faults = {"other": {"rate": "1 per job-day", "scope": "node"}, "aged": {**WEIBULL, "renewal": renewal}}
    steady, troubled = (process_of(faults, nodes=6) for _ in range(2))
    live(steady, [], swap=True)
    live(troubled, plan, swap=True)
    for stream in (0, 1):
        assert_one_continues_the_other(steady.drawn(stream), troubled.drawn(stream))


@given(first=st.integers(1, 300), number=st.integers(1, 400))
@settings(max_examples=40, deadline=None)
def test_block_sizes_move_no_bit(first: int, number: int) -> None:
    def sequence(block: int) -> list[tuple[float, int | None]]:
        streams = Streams(3, 0, 7)
        marks = Marks(streams, Topology(6, 8, 8, 16, 8), 0, "a", FaultClass(), 0)
        source = PoissonSource(1.7, 48, marks, expected=float(block))
        for _ in range(number):
            source.pop()
        return source.drawn

    assert sequence(first) == sequence(16) == sequence(1)


@given(start=st.integers(0, 2000), count=st.integers(1, 40))
@settings(max_examples=40, deadline=None)
@pytest.mark.parametrize("law", [Weibull(3e6, 0.7), Lognormal(3e6, 1.5), Gamma(3e6, 0.4)])
def test_a_life_does_not_depend_on_what_is_drawn_beside_it(law: Weibull, start: int, count: int) -> None:
    streams = Streams(1, 2, 3)
    together = law.quantile(streams.uniforms(6, 0, 0, start + count))
    alone = [law.quantile(streams.uniforms(6, 0, k, 1))[0] for k in range(start, start + count)]
    assert together[start:].tolist() == alone


@given(asked=st.lists(st.tuples(st.integers(0, 1_099), st.integers(0, 3)), min_size=1, max_size=80))
@settings(max_examples=40, deadline=None)
def test_nor_on_what_was_asked_before(asked: list[tuple[int, int]]) -> None:
    """1,000 elements: the ninth life asked of a generation draws it as a block; elements beyond are drawn alone."""
    lives = Lives(Streams(1, 0, 0), 2, Weibull(3e6, 0.7), 1_000)
    for element, generation in asked:
        alone = Lives(Streams(1, 0, 0), 2, Weibull(3e6, 0.7), 1_000)
        assert lives.life(element, generation) == alone.life(element, generation)


@pytest.mark.parametrize("kind", ["poisson", "as_new", "compound"])
def test_twice_the_rate_halves_every_time(kind: str) -> None:
    """Powers of two, so to the bit."""
    fault = KINDS[kind]
    faster = {**fault, "mtbf": "10d per node"} if "mtbf" in fault else {**fault, "rate": "2" + fault["rate"][1:]}
    once, twice = process_of({"a": fault}), process_of({"a": faster})
    list(walk(once, 400 * DAY))
    list(walk(twice, 200 * DAY))
    assert len(twice.drawn(0)) > 40
    assert [(time / 2, place) for time, place in once.drawn(0)] == twice.drawn(0)


@pytest.mark.parametrize("kind", KINDS)
def test_other_classes_move_no_sequence(kind: str) -> None:
    alone = process_of({kind: KINDS[kind]}, nodes=6)
    together = process_of({kind: KINDS[kind], "b": KINDS["as_new"], "c": KINDS["clustered"]}, nodes=6)
    list(walk(alone, 100 * DAY))
    list(walk(together, 100 * DAY))
    assert alone.drawn(0) == together.drawn(0)
    assert len(alone.drawn(0)) > 4


def test_replications_and_classes_draw_apart() -> None:
    twins = dict.fromkeys(("a", "b"), KINDS["as_new"])
    first, second = process_of(twins), process_of(twins, replication=1)
    for process in (first, second):
        list(walk(process, 200 * DAY))
    times = [time for process in (first, second) for stream in (0, 1) for time, _ in process.drawn(stream)]
    assert len(set(times)) == len(times) > 100


def test_marks_belong_to_the_number_of_the_event() -> None:
    """A quarter of the events is not taken, by a job that is not there: the others keep their kind."""
    fault = {**KINDS["compound"], "permanent": 0.4}
    full, thinned = process_of({"a": fault}), process_of({"a": fault})
    thinned.swap(3, 3, None, 0.0)
    kinds = {e.number: (e.confined, e.permanent, len(e.slots)) for _, e in walk(full, 100 * DAY) if e}
    for _, event in walk(thinned, 100 * DAY):
        if event is not None:
            confined, permanent, size = kinds[event.number]
            assert (event.confined, event.permanent) == (confined, permanent)
            assert size - len(event.slots) in (0, 1)
    assert np.mean([confined for confined, _, _ in kinds.values()]) == pytest.approx(0.6, abs=0.15)
