"""The lean form of plain checkpoints against the general one: the same answers to the same questions, to the bit."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from c4sim.checkpoint import Checkpoints, PlainCheckpoints, make_checkpoints
from c4sim.faults import FaultEvent
from c4sim.scenario import validate
from c4sim.streams import Streams

FAULT = FaultEvent(0, "a", 0, 0, (0,), None, confined=True, permanent=True, effect="crash")

times = st.floats(0.0, 1e6) | st.integers(0, 400).map(float)


@settings(max_examples=300, deadline=None)
@given(
    st.floats(1.0, 1e5) | st.sampled_from([600.0, 0.1, 60.0]),
    st.sampled_from([0.0, 5.0, 0.3]),
    st.lists(st.tuples(times, times, st.booleans()), min_size=1, max_size=12),
)
def test_lean_and_general_agree(interval: float, write: float, stretches: list[tuple[float, float, bool]]) -> None:
    document: dict[str, Any] = {"checkpoint": {"interval": f"{interval!r}s", "write": f"{write!r}s", "load": "7s"}}
    scenario, streams = validate(document), Streams(0, 0, 0)
    lean, general = make_checkpoints(scenario, streams, 1e5), Checkpoints(scenario, streams, 1e5)
    assert isinstance(lean, PlainCheckpoints)
    now = 0.0
    for worked, stopped, planned in stretches:
        lean.begin(now)
        general.begin(now)
        assert lean.progress(worked) == general.progress(worked)
        assert lean.progress_at(now + worked) == general.progress_at(now + worked)
        assert lean.phase_at(worked) == general.phase_at(worked)
        goal = general.work + worked
        assert lean.wall_until_work(goal) == general.wall_until_work(goal)
        now += worked
        if planned:
            assert lean.save_now(now) == general.save_now(now)
        else:
            assert lean.rollback(now, FAULT) == general.rollback(now, FAULT)
        assert lean.work == general.work
        now += stopped
