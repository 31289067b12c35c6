"""Hand-computed logs of single stretches: what a stretch holds, and when its saves are done."""

from typing import Any

import pytest
from checkpoint_cases import SOMEWHERE, background, blocking, checkpoints

from c4sim.checkpoint import Progress


@pytest.mark.parametrize(
    ("wall", "progress"),
    [
        (0.0, (0.0, 0.0, 0.0, 0)),
        (599.0, (599.0, 0.0, 0.0, 0)),
        (600.0, (600.0, 0.0, 0.0, 0)),
        (650.0, (600.0, 50.0, 0.0, 0)),
        (700.0, (600.0, 100.0, 0.0, 1)),
        (1350.0, (1200.0, 150.0, 0.0, 1)),
        (1400.0, (1200.0, 200.0, 0.0, 2)),
    ],
)
def test_blocking_stretch(wall: float, progress: tuple[float, ...]) -> None:
    assert checkpoints(checkpoint=blocking("600s", "100s")).progress(wall) == progress


def test_uptime_is_not_progress() -> None:
    """tau = C = 600 s, no failures, 1,200 s x 1,000: the half of it is work, exactly."""
    progress = checkpoints(checkpoint=blocking("600s", "600s")).progress(1_200_000.0)
    assert progress == (600_000.0, 600_000.0, 0.0, 1000)


@pytest.mark.parametrize("interval", [0.1, 0.3, 0.7, 1.1, 3.3])
def test_a_fault_at_the_instant_of_a_commit_comes_after_it(interval: float) -> None:
    """Thirty times .1 is 3.0000000000000013 when added up and 3.0 when multiplied: multiples decide."""
    for number in range(1, 400):
        made = checkpoints(checkpoint=blocking(f"{interval}s"))
        assert made.progress(number * interval).saves == number
        assert made.rollback(number * interval, SOMEWHERE).kept_until == number * interval


@pytest.mark.parametrize("interval", [0.1, 0.3, 0.7, 1.1, 3.3])
def test_snapshots_are_multiples_too(interval: float) -> None:
    for number in range(1, 400):
        made = checkpoints(checkpoint=background(f"{interval}s", "0s", "0.05s", 0.0))
        assert made.progress(number * interval).saves == number
        assert made.rollback(number * interval, SOMEWHERE).kept_until == (number - 1) * interval


def test_tiers_commit_at_multiples_of_whole_seconds() -> None:
    tiers = [{"name": n, "stall": "0s", "persist": "0s", "every": k} for n, k in (("a", 1), ("b", 3))]
    for number in range(1, 400):
        made = checkpoints(checkpoint={"mode": "async", "interval": "7s", "tiers": tiers})
        assert made.progress(number * 7.0).saves == number
        assert made.rollback(number * 7.0, SOMEWHERE).kept_until == number * 7.0


def test_just_before_a_commit_nothing_of_it_counts() -> None:
    made = checkpoints(checkpoint=blocking("600s", "100s"))
    assert made.progress(699.9999).saves == 0
    assert made.rollback(699.9999, SOMEWHERE).kept_until == 0.0


def test_slow_writing_costs_its_share_of_the_rate() -> None:
    """10 % during 240 s: 24 s an interval, which takes 624 s of wall time from snapshot to snapshot."""
    made = checkpoints(checkpoint=background("600s", "0s", "240s", 0.1))
    assert made.progress(600.0) == (600.0, 0.0, 0.0, 1)
    assert made.progress(840.0) == (816.0, 0.0, 24.0, 1)
    assert made.progress(600.0 + 100 * 624.0) == (101 * 600.0, 0.0, pytest.approx(2400.0), 101)


def test_two_writers_slow_the_job_together() -> None:
    """Rates multiply: .9 x .5 while both tiers are being written, .5 while only the second is."""
    tiers = [
        {"name": "near", "stall": "10s", "persist": "20s", "slowdown": 0.1},
        {"name": "far", "every": 2, "stall": "30s", "persist": "60s", "slowdown": 0.5},
    ]
    made = checkpoints(checkpoint={"mode": "async", "interval": "100s", "tiers": tiers})
    assert made.progress(110.0) == (100.0, 10.0, 0.0, 1)
    # 20 s at .9 leave 82 s of work: the second save is due at 212, stalls for the longer of both, ends at 242.
    assert made.progress(212.0) == (200.0, 10.0, pytest.approx(2.0), 1)
    assert made.progress(242.0) == (200.0, 40.0, pytest.approx(2.0), 2)
    assert made.progress(262.0).productive_s == pytest.approx(209.0)
    assert made.progress(302.0).productive_s == pytest.approx(229.0)
    assert made.progress(303.0).productive_s == pytest.approx(230.0)


@pytest.mark.parametrize(
    ("overrun", "ends", "progress"),
    [
        # Written 1,500 s after a stall of 10 s. block: 600 s of work, then wait until 610 + 1,500 = 2,110.
        ("block", (610.0, 2120.0, 3630.0), (1200.0, 920.0, 0.0, 2)),
        # skip: the saves due at 1,210 and 1,810 are left out, the one at 2,410 is taken.
        ("skip", (610.0, 2420.0, 4230.0), (2110.0, 10.0, 0.0, 1)),
        # rearm: the interval counts anew from 2,110.
        ("rearm", (610.0, 2720.0, 4830.0), (2110.0, 10.0, 0.0, 1)),
    ],
)
def test_a_save_that_outlasts_the_interval(overrun: str, ends: tuple[float, ...], progress: Any) -> None:
    section = background("600s", "10s", "1500s", 0.0, overrun=overrun)
    made = checkpoints(checkpoint=section)
    assert made.progress(2120.0) == progress
    for count, end in enumerate(ends):
        assert made.progress(end - 0.001).saves == count
        assert made.progress(end).saves == count + 1


def test_a_save_waits_for_all_tiers_that_it_goes_to() -> None:
    """Written 150 and 250 s after the snapshots at 100 s: the second, due at 200 s, waits until 350 s."""
    tiers = [{"name": n, "stall": "0s", "persist": p, "slowdown": 0.0} for n, p in (("a", "150s"), ("b", "250s"))]
    made = checkpoints(checkpoint={"mode": "async", "interval": "100s", "tiers": tiers})
    assert made.progress(349.0) == (200.0, 149.0, 0.0, 1)
    assert made.progress(350.0) == (200.0, 150.0, 0.0, 2)
    assert made.progress(600.0) == (300.0, 300.0, 0.0, 3)


def test_evaluation_comes_before_the_save_due_with_it() -> None:
    made = checkpoints(checkpoint=blocking("1h", "60s"), evaluation={"every": "1h", "duration": "300s"})
    log = [(made.phase_at(wall), made.progress(wall)) for wall in (3599.0, 3600.0, 3900.0, 3960.0, 7860.0)]
    assert log == [
        (None, (3599.0, 0.0, 0.0, 0)),
        ("evaluation", (3600.0, 0.0, 0.0, 0)),
        ("save", (3600.0, 0.0, 300.0, 0)),
        (None, (3600.0, 60.0, 300.0, 1)),
        ("save", (7200.0, 60.0, 600.0, 1)),
    ]
    made.rollback(3960.0, SOMEWHERE)
    made.begin(4000.0)  # the evaluation at 1 h of work was done: the next one is due at 2 h
    assert made.progress(3600.0) == (3600.0, 0.0, 0.0, 0)
    assert made.phase_at(3600.0) == "evaluation"


def test_free_saves_also_wait_for_the_evaluation() -> None:
    made = checkpoints(checkpoint=blocking("1h"), evaluation={"every": "1h", "duration": "300s"})
    assert [made.progress(wall).saves for wall in (3600.0, 3899.0, 3900.0)] == [0, 0, 1]
    assert made.rollback(3899.0, SOMEWHERE).kept_until == 0.0
    made.begin(0.0)
    assert made.rollback(5000.0, SOMEWHERE) == (3900.0, 3600.0, 0.0, 0.0, False, (3600.0, 0.0, 300.0, 1))


def test_evaluations_more_often_than_saves() -> None:
    made = checkpoints(checkpoint=blocking("1h", "60s"), evaluation={"every": "15min", "duration": "100s"})
    assert made.progress(1000.0) == (900.0, 0.0, 100.0, 0)
    assert made.progress(4000.0 + 60.0) == (3600.0, 60.0, 400.0, 1)
    assert made.wall_until_work(3600.0) == 3900.0
    assert made.wall_until_work(3601.0) == 4061.0


def test_a_slow_node_stretches_work_but_not_the_save() -> None:
    made = checkpoints(checkpoint=blocking("600s", "60s"))
    made.set_rate(100.0, 0.5)
    assert made.progress(100.0) == (100.0, 0.0, 0.0, 0)
    assert made.progress(1130.0) == (600.0, 30.0, 500.0, 0)
    assert made.wall_until_work(600.0) == 1100.0
    made.set_rate(1110.0, 1.0)  # in the save, which ends at 1,160 as before
    assert made.progress(1130.0) == (600.0, 30.0, 500.0, 0)
    assert made.progress(1170.0) == (610.0, 60.0, 500.0, 1)
    assert made.rollback(1170.0, SOMEWHERE)[:5] == (1160.0, 600.0, 0.0, 0.0, False)


def test_writing_goes_on_when_a_node_turns_slow() -> None:
    made = checkpoints(checkpoint=background("600s", "0s", "240s", 0.1))
    made.set_rate(700.0, 0.5)
    assert made.progress(840.0) == (pytest.approx(690.0 + 140.0 * 0.45), 0.0, pytest.approx(10.0 + 140.0 * 0.55), 1)
    assert made.rollback(840.0, SOMEWHERE).kept_until == 600.0
    made.begin(1000.0)
    made.set_rate(700.0, 0.5)
    assert made.rollback(1839.0, SOMEWHERE).kept_until == 1000.0


@pytest.mark.parametrize(("work", "wall"), [(0.0, 0.0), (1.0, 1.0), (600.0, 600.0), (600.5, 700.5), (1800.0, 2000.0)])
def test_fixed_work_ends_before_the_save_after_it(work: float, wall: float) -> None:
    assert checkpoints(checkpoint=blocking("600s", "100s")).wall_until_work(work) == wall


def test_fixed_work_counts_from_the_restart_point() -> None:
    made = checkpoints(checkpoint=blocking("600s", "100s"))
    made.rollback(1500.0, SOMEWHERE)
    assert made.work == 1200.0
    made.begin(2000.0)
    assert made.wall_until_work(1800.0) == 600.0
    assert made.wall_until_work(1801.0) == 701.0


def test_a_planned_stop_saves_at_once() -> None:
    made = checkpoints(checkpoint=background("600s", "5s", "240s", 0.1, load="30s"))
    assert made.save_now(700.0) == (245.0, 30.0)
    assert made.work == pytest.approx(600.0 + 0.9 * 95.0)
    made.begin(1000.0)
    back = made.rollback(1100.0, SOMEWHERE)
    assert (back.kept_until, back.work) == (1000.0, made.work)


def test_progress_is_a_named_tuple_of_its_parts() -> None:
    assert Progress._fields == ("productive_s", "stall_s", "slowdown_s", "saves")
