"""The arithmetic of checkpoints against a slow second implementation, on random schedules and random faults."""

from __future__ import annotations

import math
from random import Random
from typing import Any

import pytest
from checkpoint_reference import Place, SlowCheckpoints
from hypothesis import given, settings
from hypothesis import strategies as st

from c4sim.checkpoint import Checkpoints
from c4sim.checkpoint.tiers import destroys
from c4sim.scenario import validate
from c4sim.streams import Purpose, Streams

NODES, NODES_PER_RACK = 12, 4
STREAMS = Streams(7, 0, 3)


class Fault:
    def __init__(self, *slots: int) -> None:
        self.slots = slots


tiers = st.fixed_dictionaries(
    {
        "every": st.sampled_from([1, 1, 2, 3, 4]),
        "stall": st.sampled_from([0, 5, 20]),
        "persist": st.sampled_from([0, 40, 150, 450, 1300]),
        "slowdown": st.sampled_from([0.0, 0.1, 0.5, 1.0]),
        "load": st.sampled_from([1, 10, 60]),
        "lost_with": st.sampled_from(["job", "node", "neighbours", "rack", "nothing"]),
    }
)
schedules = st.fixed_dictionaries(
    {
        "interval": st.sampled_from([60, 100, 350]),
        "overrun": st.sampled_from(["block", "skip", "rearm"]),
        "tiers": st.lists(tiers, min_size=1, max_size=3),
        "retention": st.none() | st.tuples(st.integers(1, 3), st.sampled_from(["before", "after"])),
        "save_failure": st.sampled_from([0.0, 0.0, 0.4]),
        "corrupt": st.sampled_from([0.0, 0.0, 0.4]),
        "evaluation": st.none() | st.tuples(st.sampled_from([61.7, 93.1, 707.3]), st.sampled_from([7, 130])),
    }
)
# Offsets that no sum of the times above can hit, so that rounding decides no tie.
lengths = st.integers(0, 4000).map(lambda n: n / 2 + 0.1234567)
stretches = st.lists(
    st.fixed_dictionaries(
        {
            "rates": st.lists(st.tuples(lengths, st.sampled_from([0.3, 0.5, 0.9, 1.0])), max_size=2),
            "length": lengths,
            "slots": st.lists(st.integers(0, NODES - 1), max_size=4, unique=True).map(tuple),
            "corrupt_for": st.none() | lengths,
            "down": st.sampled_from([0.0, 17.0]),
        }
    ),
    min_size=1,
    max_size=5,
)


def scenario_of(s: dict[str, Any]) -> Any:
    seconds = ("stall", "persist", "load")
    named = [
        {k: f"{v}s" if k in seconds else v for k, v in tier.items()} | {"name": f"tier{i}"}
        for i, tier in enumerate(s["tiers"])
    ]
    checkpoint: dict[str, Any] = {
        "mode": "async",
        "interval": f"{s['interval']}s",
        "overrun": s["overrun"],
        "tiers": named,
        "save_failure": s["save_failure"],
        "corrupt": s["corrupt"],
        "fallback": {"tries": 3, "each": "90s"},
    }
    if s["retention"] is not None:
        checkpoint["retention"] = {"keep": s["retention"][0], "delete": s["retention"][1]}
    document: dict[str, Any] = {
        "job": {"nodes": NODES},
        "cluster": {"nodes_per_rack": NODES_PER_RACK},
        "checkpoint": checkpoint,
    }
    if s["evaluation"] is not None:
        document["evaluation"] = {"every": f"{s['evaluation'][0]}s", "duration": f"{s['evaluation'][1]}s"}
    return validate(document)


def reference_of(s: dict[str, Any]) -> SlowCheckpoints:
    def draw(purpose: Purpose, address: tuple[int, int, int]) -> float:
        leg, tier, number = address
        return STREAMS.uniform(purpose, leg * 1024 + tier, number)

    places = [
        Place(
            t["every"],
            t["stall"],
            t["persist"],
            t["slowdown"],
            t["load"],
            lambda slots, lost=t["lost_with"]: destroys(lost, slots, NODES, NODES_PER_RACK),
        )
        for t in s["tiers"]
    ]
    return SlowCheckpoints(
        s["interval"],
        places,
        s["overrun"],
        None if s["evaluation"] is None else s["evaluation"][0],
        0.0 if s["evaluation"] is None else s["evaluation"][1],
        None if s["retention"] is None else s["retention"][0],
        s["retention"] is not None and s["retention"][1] == "before",
        270.0,
        lambda address: draw(Purpose.SAVE, address) < s["save_failure"],
        lambda address: draw(Purpose.CORRUPT, address) < s["corrupt"],
    )


def same(value: float, exact: Any) -> bool:
    return math.isclose(value, float(exact), rel_tol=1e-9, abs_tol=1e-7)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(schedules, stretches)
def test_agrees_with_the_slow_reference(schedule: dict[str, Any], plan: list[dict[str, Any]]) -> None:
    check(schedule, plan)


@pytest.mark.parametrize("seed", range(20))
def test_agrees_with_the_slow_reference_on_dense_cases(seed: int) -> None:
    """Hypothesis prefers small cases; these have more tiers that overrun each other, more stretches, more cuts."""
    random = Random(seed)
    for _ in range(6):
        check(dense_schedule(random), [dense_stretch(random) for _ in range(random.randint(2, 5))])


@pytest.mark.parametrize("persists", [(9000,), (7640, 1910)])
def test_saves_that_are_skipped_for_hundreds_of_turns(persists: tuple[int, ...]) -> None:
    """The schedule repeats only after more turns than are looked for in exact arithmetic."""
    tier = {"every": 1, "stall": 0, "slowdown": 0.0, "load": 1, "lost_with": "nothing"}
    schedule = dense_schedule(Random(0)) | {
        "interval": 10,
        "overrun": "skip",
        "tiers": [tier | {"persist": persist} for persist in persists],
        "retention": None,
        "save_failure": 0.0,
        "corrupt": 0.0,
        "evaluation": None,
    }
    stretch = {"rates": [], "length": 60_000.5, "slots": (0,), "corrupt_for": None, "down": 0.0}
    check(schedule, [stretch, stretch])


def test_saves_that_never_come_near_a_repetition_are_refused() -> None:
    tiers = [tier_of(12_345.678, 1), tier_of(7777.7, 3)]
    section = {"mode": "async", "interval": "60s", "overrun": "skip", "tiers": tiers}
    with pytest.raises(ValueError, match=r"checkpoint\.tiers: with overrun: skip these saves do not repeat within"):
        Checkpoints(validate({"job": {"nodes": 4}, "checkpoint": section}), STREAMS, 1e6)


def tier_of(persist: float, every: int) -> dict[str, Any]:
    return {"name": f"t{every}", "every": every, "stall": "1s", "persist": f"{persist}s", "slowdown": 0.1}


def dense_schedule(random: Random) -> dict[str, Any]:
    kept = ["job", "node", "neighbours", "rack", "nothing"]
    return {
        "interval": random.choice([60, 100, 350]),
        "overrun": random.choice(["block", "skip", "rearm"]),
        "tiers": [
            {
                "every": random.choice([1, 1, 2, 3]),
                "stall": random.choice([0, 5, 20]),
                "persist": random.choice([0, 40, 150, 250, 450]),
                "slowdown": random.choice([0.0, 0.1, 0.5, 1.0]),
                "load": random.choice([1, 10, 60]),
                "lost_with": random.choice(kept),
            }
            for _ in range(random.randint(1, 3))
        ],
        "retention": random.choice([None, (random.randint(1, 3), random.choice(["before", "after"]))]),
        "save_failure": random.choice([0.0, 0.4]),
        "corrupt": random.choice([0.0, 0.4]),
        "evaluation": random.choice([None, None, (61.7, 7), (93.1, 130), (707.3, 130)]),
    }


def dense_stretch(random: Random) -> dict[str, Any]:
    def length() -> float:
        return random.randint(0, 3000) / 2 + 0.1234567

    return {
        "rates": [(length(), random.choice([0.3, 0.5, 0.9, 1.0])) for _ in range(random.randint(0, 3))],
        "length": length(),
        "slots": tuple(random.sample(range(NODES), random.randint(0, 4))),
        "corrupt_for": random.choice([None, length()]),
        "down": random.choice([0.0, 17.0]),
    }


def check(schedule: dict[str, Any], plan: list[dict[str, Any]]) -> None:
    slow = reference_of(schedule)
    fast = Checkpoints(scenario_of(schedule), STREAMS, 1e6)
    now = 0.0
    for stretch in plan:
        fast.begin(now)
        slow.begin(now)
        assert same(fast.work, slow.work)
        start = now
        for length, factor in stretch["rates"]:
            now += length
            slow.run(now)
            slow.set_rate(factor)
            fast.set_rate(now - start, factor)
        now += stretch["length"]
        slow.run(now)
        progress = fast.progress(now - start)
        assert same(progress.productive_s, slow.work - slow.base)
        assert same(progress.stall_s, slow.stall)
        assert same(progress.slowdown_s, slow.slow)
        assert progress.saves == slow.saves
        assert same(sum(progress[:3]), now - start)
        since = None if stretch["corrupt_for"] is None else max(now - stretch["corrupt_for"], 0.0)
        back = fast.rollback(now, Fault(*stretch["slots"]), since)
        expected = slow.rollback(stretch["slots"], since)
        assert back.kept_until <= now
        assert all(same(x, y) for x, y in zip(back[:5], expected[:5], strict=True)), (back, expected)
        assert all(same(x, y) for x, y in zip(back.held, expected[5], strict=True)), (back, expected)
        now += stretch["down"]


@settings(max_examples=40, deadline=None, derandomize=True)
@given(schedules, lengths, st.lists(lengths, min_size=2, max_size=6))
def test_progress_is_monotone_and_adds_up(schedule: dict[str, Any], cut: float, walls: list[float]) -> None:
    fast = Checkpoints(scenario_of(schedule), STREAMS, 1e6)
    fast.begin(0.0)
    fast.set_rate(cut, 0.7)
    before = fast.progress(0.0)
    for wall in sorted(walls):
        after = fast.progress(wall)
        assert sum(after[:3]) == pytest.approx(wall, rel=1e-9)
        assert all(x <= y + 1e-9 * wall for x, y in zip(before, after, strict=True))
        reached = fast.wall_until_work(after.productive_s)
        assert reached <= wall + 1e-6
        assert fast.progress(reached).productive_s == pytest.approx(after.productive_s, rel=1e-9, abs=1e-6)
        before = after
