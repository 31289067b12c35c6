"""Hand-computed rollbacks: what is durable, what a fault destroys, what can be loaded."""

from itertools import combinations
from math import inf
from typing import Any

import pytest
from checkpoint_cases import NOWHERE, SOMEWHERE, Fault, background, blocking, checkpoints

from c4sim.checkpoint.interval import interval_seconds
from c4sim.checkpoint.tiers import destroys

PARTNER = {"name": "partner", "stall": "1s", "persist": "0s", "lost_with": "neighbours", "load": "5s"}
REMOTE = {"name": "remote", "every": 5, "stall": "1s", "persist": "0s", "load": "60s"}


@pytest.mark.parametrize(("after", "lost"), [(-1.0, 839.0), (0.0, 240.0), (1.0, 241.0)])
def test_saved_is_not_durable(after: float, lost: float) -> None:
    """tau = 600 s, durable 240 s after the snapshot: a failure around the moment the second one is durable."""
    made = checkpoints(checkpoint=background("600s", "0s", "240s", 0.0))
    fault = 2 * 600.0 + 240.0 + after
    assert fault - made.rollback(fault, SOMEWHERE).kept_until == lost


def test_what_was_being_written_at_a_failure_stays_unwritten() -> None:
    made = checkpoints(checkpoint=background("600s", "0s", "240s", 0.0))
    assert made.rollback(700.0, SOMEWHERE).work == 0.0
    made.begin(800.0)
    assert made.rollback(800.0 + 599.0, SOMEWHERE)[:5] == (800.0, 0.0, 0.0, 0.0, False)


@pytest.mark.parametrize(
    ("keep", "delete", "fault", "kept"),
    [
        (1, "before", 1439.0, 0.0),  # the only checkpoint was deleted for the one being written
        (1, "before", 1440.0, 1200.0),
        (1, "before", 1199.0, 600.0),
        (1, "after", 1439.0, 600.0),
        (2, "before", 1439.0, 600.0),
    ],
)
def test_retention(keep: int, delete: str, fault: float, kept: float) -> None:
    section = background("600s", "0s", "240s", 0.0, retention={"keep": keep, "delete": delete})
    assert checkpoints(checkpoint=section).rollback(fault, SOMEWHERE).kept_until == kept


def test_keep_last_one_loses_the_restart_point_too() -> None:
    """The restart point is the one checkpoint kept; the next save deletes it before it writes."""
    section = blocking("600s", "100s", retention={"keep": 1, "delete": "before"})
    made = checkpoints(checkpoint=section)
    assert made.rollback(800.0, SOMEWHERE).kept_until == 700.0
    made.begin(1000.0)
    assert made.rollback(1500.0, SOMEWHERE)[:5] == (1000.0, 600.0, 0.0, 0.0, False)
    made.begin(2000.0)
    assert made.rollback(2650.0, SOMEWHERE)[:5] == (0.0, 0.0, 0.0, 0.0, False)
    assert made.work == 0.0


def test_a_save_that_a_slow_node_put_off_deletes_nothing() -> None:
    """At the old rate the second save would have begun at 1,300 s; at a tenth of it that is at 6,250 s."""
    made = checkpoints(checkpoint=blocking("600s", "100s", retention={"keep": 1, "delete": "before"}))
    made.set_rate(750.0, 0.1)
    assert made.rollback(1350.0, SOMEWHERE).kept_until == 700.0
    made.begin(0.0)
    made.set_rate(50.0, 0.1)
    assert made.rollback(5550.0, SOMEWHERE).kept_until == 0.0


@pytest.mark.parametrize(
    ("lost", "kept", "load"),
    [((3,), 909.0, 5.0), ((3, 4), 505.0, 60.0), ((3, 6), 909.0, 5.0), ((0, 7), 505.0, 60.0), ((), 909.0, 5.0)],
)
def test_local_copies_die_with_their_nodes(lost: tuple[int, ...], kept: float, load: float) -> None:
    made = checkpoints(job={"nodes": 8}, checkpoint={"mode": "async", "interval": "100s", "tiers": [PARTNER, REMOTE]})
    back = made.rollback(950.0, Fault(*lost))
    assert (back.kept_until, back.load_s) == (kept, load)


def test_two_random_losses_are_neighbours_with_probability_two_in_n_minus_one() -> None:
    pairs = list(combinations(range(8), 2))
    together = sum(destroys("neighbours", pair, 8, 16) for pair in pairs)
    assert together / len(pairs) == pytest.approx(2 / 7)


@pytest.mark.parametrize(
    ("lost_with", "slots", "destroyed"),
    [
        ("nothing", (0, 1, 2), False),
        ("job", (), True),
        ("node", (), False),
        ("node", (5,), True),
        ("neighbours", (0, 9), True),
        ("neighbours", (0, 2, 4), False),
        ("rack", (0, 1, 2), False),
        ("rack", (0, 1, 2, 3), True),
        ("rack", (2, 3, 4, 5), False),
        ("rack", (8, 9), True),  # the last rack holds two of the ten nodes
    ],
)
def test_which_losses_destroy_which_tier(lost_with: Any, slots: tuple[int, ...], destroyed: bool) -> None:
    assert destroys(lost_with, slots, 10, 4) is destroyed


def test_memory_holds_again_what_the_job_has_loaded() -> None:
    made = checkpoints(job={"nodes": 8}, checkpoint={"mode": "async", "interval": "100s", "tiers": [PARTNER, REMOTE]})
    assert made.rollback(950.0, Fault(3, 4)).kept_until == 505.0
    made.begin(1000.0)
    assert made.rollback(1050.0, Fault(3))[:5] == (1000.0, 500.0, 5.0, 0.0, False)


def test_a_deep_rollback_reaches_an_earlier_stretch() -> None:
    """The restart point came from the partners and lies nowhere else: when they go, the older remote save is left."""
    made = checkpoints(job={"nodes": 8}, checkpoint={"mode": "async", "interval": "100s", "tiers": [PARTNER, REMOTE]})
    assert made.rollback(950.0, Fault(3)).work == 900.0
    made.begin(1000.0)
    assert made.rollback(1050.0, Fault(3, 4)) == (505.0, 500.0, 60.0, 0.0, False, (500.0, 5.0, 0.0, 5))
    assert made.progress_at(505.0) == (500.0, 5.0, 0.0, 5)


def test_corruption_found_late_invalidates_what_was_saved_since() -> None:
    made = checkpoints(checkpoint=blocking("600s"))
    assert made.rollback(4000.0, SOMEWHERE).work == 3600.0
    made.begin(5000.0)
    back = made.rollback(9000.0, NOWHERE, corrupt_since=2000.0)
    assert (back.kept_until, back.work) == (1800.0, 1800.0)
    assert made.progress_at(1800.0) == (1800.0, 0.0, 0.0, 3)
    made.begin(10_000.0)
    assert made.rollback(10_100.0, SOMEWHERE).kept_until == 10_000.0


def test_a_save_at_the_instant_of_the_corruption_is_clean() -> None:
    made = checkpoints(checkpoint=blocking("600s"))
    assert made.rollback(4000.0, NOWHERE, corrupt_since=1800.0).kept_until == 1800.0


def test_corruption_reaches_back_no_further_than_retention_allows() -> None:
    made = checkpoints(checkpoint=blocking("600s", retention={"keep": 3}))
    assert made.rollback(4000.0, NOWHERE, corrupt_since=2500.0).kept_until == 2400.0
    made = checkpoints(checkpoint=blocking("600s", retention={"keep": 3}))
    assert made.rollback(4000.0, NOWHERE, corrupt_since=2399.0).kept_until == 0.0


class Chosen:
    """Streams in which the saves at these (leg, tier, number) come out badly."""

    def __init__(self, *bad: tuple[int, int, int]) -> None:
        self._bad = {(leg * 1024 + tier, number) for leg, tier, number in bad}

    def uniform(self, purpose: int, entity: int, index: int) -> float:
        return 0.0 if (entity, index) in self._bad else 0.9


def with_bad_saves(made: Any, *bad: tuple[int, int, int]) -> Any:
    """Let these saves fail (or be corrupt), no others."""
    made._store._outcomes._streams = Chosen(*bad)
    return made


def test_a_corrupt_checkpoint_costs_its_tries_and_one_more_interval() -> None:
    section = blocking("600s", load="20s", corrupt=0.5, fallback={"tries": 3, "each": "90s"})
    made = with_bad_saves(checkpoints(checkpoint=section), (1, 0, 4))
    assert made.rollback(3100.0, SOMEWHERE)[:5] == (2400.0, 2400.0, 20.0, 270.0, False)
    made.begin(4000.0)  # the corrupt one is not tried again
    assert made.rollback(4100.0, SOMEWHERE)[:5] == (4000.0, 2400.0, 20.0, 0.0, False)


def test_without_fallback_a_corrupt_checkpoint_ends_progress() -> None:
    made = with_bad_saves(checkpoints(checkpoint=blocking("600s", corrupt=0.5)), (1, 0, 4))
    back = made.rollback(3100.0, SOMEWHERE)
    assert back.no_progress
    assert (back.kept_until, back.failed_loads_s) == (3000.0, 0.0)


def test_another_tier_may_hold_a_sound_copy() -> None:
    tiers = [
        {"name": name, "stall": "0s", "persist": "0s", "load": load, "lost_with": lost}
        for name, load, lost in (("memory", "5s", "node"), ("remote", "60s", "nothing"))
    ]
    section = {"mode": "async", "interval": "600s", "tiers": tiers, "corrupt": 0.5, "fallback": {}}
    made = with_bad_saves(checkpoints(checkpoint=section), (1, 0, 4))
    assert made.rollback(3100.0, NOWHERE)[:5] == (3000.0, 3000.0, 60.0, 270.0, False)
    made.begin(4000.0)  # and memory holds it from then on
    assert made.rollback(4100.0, NOWHERE).load_s == 5.0


def test_failed_saves_are_passed_over_and_cost_no_tries() -> None:
    made = with_bad_saves(checkpoints(checkpoint=blocking("600s", save_failure=0.5)), (1, 0, 4), (1, 0, 3))
    assert made.rollback(3100.0, SOMEWHERE)[:5] == (1800.0, 1800.0, 0.0, 0.0, False)


def test_failed_saves_do_not_push_good_ones_out() -> None:
    section = blocking("600s", save_failure=0.5, retention={"keep": 2})
    made = with_bad_saves(checkpoints(checkpoint=section), (1, 0, 4))
    assert made.rollback(3100.0, NOWHERE, corrupt_since=2000.0).kept_until == 1800.0


@pytest.mark.parametrize(
    ("nodes", "bandwidth", "node_bandwidth", "seconds"),
    [
        (2048, "2 TB/s", None, 32.768),  # 16,384 GPUs x 4 GB over 2 TB/s
        (2048, "0.2 TB/s", None, 327.68),
        (1024, "2 TB/s", None, 16.384),
        (2048, "2 TB/s", "0.5 GB/s", 64.0),  # 32 GB of one node over its own path
        (2048, None, "2 GB/s", 16.0),
    ],
)
@pytest.mark.parametrize("mode", ["blocking", "async"])
def test_sizes_give_times(nodes: int, bandwidth: Any, node_bandwidth: Any, seconds: float, mode: str) -> None:
    tier: dict[str, Any] = {"name": "remote", "bytes_per_gpu": "4 GB"}
    tier |= {"bandwidth": bandwidth, "node_bandwidth": node_bandwidth}
    if mode == "async":
        tier |= {"stall": "0s", "slowdown": 0.0}
    made = checkpoints(job={"nodes": nodes}, checkpoint={"mode": mode, "interval": "1h", "tiers": [tier]})
    assert made.progress(3600.0 + 1000.0).stall_s == pytest.approx(seconds if mode == "blocking" else 0.0)
    assert made.rollback(3600.0 + seconds - 0.01, NOWHERE).kept_until == 0.0
    made.begin(0.0)
    back = made.rollback(3600.0 + seconds + 0.01, NOWHERE)
    assert back.kept_until > 0.0
    assert back.load_s == pytest.approx(seconds)


@pytest.mark.parametrize(("rule", "seconds"), [("young", 2078.46), ("daly", 1698.0), ("exact", 1699.0)])
def test_interval_rules(rule: str, seconds: float) -> None:
    """C = 600 s, M = 3,600 s: work between saves, and the same for an asynchronous save that costs as much."""
    made = checkpoints(3600.0, checkpoint=blocking(rule, "600s"))
    assert made.interval == pytest.approx(seconds, abs=1.0)
    costs_the_same = background(rule, "500s", "1000s", 0.1)
    assert checkpoints(3600.0, checkpoint=costs_the_same).interval == pytest.approx(made.interval)


@pytest.mark.parametrize(("mtbf", "cost"), [(inf, 60.0), (3600.0, 0.0)])
def test_a_rule_without_an_answer_names_its_key(mtbf: float, cost: float) -> None:
    with pytest.raises(ValueError, match=r"^checkpoint\.interval: 'young' needs"):
        interval_seconds("young", cost, mtbf)
