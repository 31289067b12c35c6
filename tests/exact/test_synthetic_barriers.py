"""Barriers, counters and stops of synthetic telemetry against times worked out by hand."""

import numpy as np
import pytest

from c4sim.synthetic.barriers import propagate
from c4sim.synthetic.counters import count
from c4sim.synthetic.layout import Layout


def edge(layout, src, dst):
    return int(np.flatnonzero((layout.src == src) & (layout.dst == dst))[0])


def run(layout, own, ring, delay=0.1, input_s=0.0):
    own = np.array([own], dtype=float)
    waits_for_input = np.zeros_like(own) + input_s
    delays = np.full((1, layout.src.size), delay)
    return propagate(layout, own, waits_for_input, delays, ring)


def test_edges_of_two_stages_two_shards_and_two_replicas():
    layout = Layout(dp=2, pp=2, tp=2, per_host=4)
    pairs = {name: list(zip(layout.src[part], layout.dst[part], strict=True))
             for name, part in layout.edges.items()}  # fmt: skip
    assert pairs["forward"] == [(0, 4), (1, 5), (2, 6), (3, 7)]
    assert pairs["backward"] == [(4, 0), (5, 1), (6, 2), (7, 3)]
    assert pairs["tp"] == [(0, 1), (1, 0), (2, 3), (3, 2), (4, 5), (5, 4), (6, 7), (7, 6)]
    assert pairs["dp"] == [(0, 2), (1, 3), (2, 0), (3, 1), (4, 6), (5, 7), (6, 4), (7, 5)]
    assert layout.crosses.tolist() == [False] * 8 + [True] * 8 + [False] * 8
    assert layout.dp_group.tolist() == [0, 1, 0, 1, 2, 3, 2, 3]


def test_direct_exchange_waits_for_its_own_sender_only():
    layout = Layout(dp=3, pp=1, tp=1, per_host=1)
    timing = run(layout, [1.0, 2.0, 4.0], ring=False)
    assert timing.arrival_s[0].tolist() == [1.0, 2.0, 4.0]
    assert timing.wait_s[0, edge(layout, 0, 1)] == pytest.approx(0.1)
    assert timing.wait_s[0, edge(layout, 1, 0)] == pytest.approx(1.1)
    assert timing.wait_s[0, edge(layout, 2, 0)] == pytest.approx(3.1)
    assert timing.wait_s[0, edge(layout, 2, 1)] == pytest.approx(2.1)
    assert timing.step_s[0] == pytest.approx(4.1)


def test_ring_ends_for_all_at_once_and_its_slowest_link_sets_the_pace():
    layout = Layout(dp=3, pp=1, tp=1, per_host=1)
    own, delay = np.array([[1.0, 2.0, 4.0]]), np.full((1, 6), 0.1)
    delay[0, edge(layout, 0, 1)] = 0.5
    timing = propagate(layout, own, np.zeros((1, 3)), delay, ring=True)
    assert timing.wait_s[0, edge(layout, 1, 0)] == pytest.approx(3.5)
    assert timing.wait_s[0, edge(layout, 0, 2)] == pytest.approx(0.5)
    assert timing.step_s[0] == pytest.approx(4.5)


def test_input_delays_the_arrival_but_is_not_own_work():
    layout = Layout(dp=2, pp=1, tp=1, per_host=1)
    timing = run(layout, [1.0, 1.0], ring=False, input_s=np.array([0.5, 0.0]))
    assert timing.arrival_s[0].tolist() == [1.5, 1.0]
    assert timing.wait_s[0, edge(layout, 0, 1)] == pytest.approx(0.6)


def test_pipeline_of_two_stages_and_four_micro_batches():
    """Work 3 s each: forward .25, backward .5; messages .1 forward, .2 backward.

    Stage 1's forward messages complete at .35, .7, 1.05, 1.4 (waits .35 .1 .1 .1), stage 0's
    backward ones at 2.35, 3.05, 3.75, 4.45 (waits 1.35 .2 .2 .2).
    """
    layout = Layout(dp=1, pp=2, tp=1, per_host=1)
    delay = np.zeros((1, 2))
    delay[0, layout.edges["forward"]] = 0.4
    delay[0, layout.edges["backward"]] = 0.8
    timing = propagate(layout, np.array([[3.0, 3.0]]), np.zeros((1, 2)), delay, ring=True)
    assert timing.wait_s[0, edge(layout, 0, 1)] == pytest.approx(0.65)
    assert timing.wait_s[0, edge(layout, 1, 0)] == pytest.approx(1.95)
    assert timing.forward_s[0, :, 0] == pytest.approx([1.0, 1.65])
    assert timing.arrival_s[0] == pytest.approx([4.95, 3.65])
    assert timing.step_s[0] == pytest.approx(4.95)


def test_tensor_parallel_peers_wait_for_the_slowest_shard():
    layout = Layout(dp=1, pp=1, tp=3, per_host=3)
    timing = run(layout, [1.0, 1.0, 2.0], ring=True)
    assert timing.wait_s[0].tolist() == pytest.approx([1.1, 0.1, 1.1])
    assert timing.arrival_s[0] == pytest.approx([2.1, 2.1, 2.1])


def test_counters_stand_still_in_evaluation_and_show_operations_in_flight():
    layout = Layout(dp=2, pp=1, tp=1, per_host=1)
    flying = np.array([[0, 0], [0, 0], [1, 0]], dtype=bool)
    counters = count(layout, np.array([True, False, True]), flying)
    started, done = counters.family("dp")
    assert done.tolist() == [[1, 1], [1, 1], [2, 2]]
    assert started.tolist() == [[1, 1], [1, 1], [3, 2]]
    assert counters.group.tolist() == [0, 0, 1, 1]
    assert counters.worker.tolist() == [0, 1, 0, 1]
