"""The telemetry of a stopped job determines the culprit: a slow graph search finds it."""

import numpy as np
import pytest

from c4sim.synthetic import Layout, generate

SHAPES = [(8, 1, 1, 2), (4, 4, 1, 4), (4, 2, 2, 4), (3, 3, 3, 3), (1, 4, 2, 2), (8, 1, 2, 4)]
CONDITIONS = ["clean", "evaluation", "hot_experts", "last_stage"]
LOCAL = [(shape, seed) for shape in SHAPES for seed in range(4)]


def open_edges(telemetry):
    """Positions of the edges whose wait still grows in the last two rows."""
    wait = telemetry.wait_s
    return np.flatnonzero(wait[-1] > wait[-2])


def reaches(follows, start):
    """Workers that can be reached from ``start`` by the relation waits-for."""
    seen, todo = set(), [start]
    while todo:
        for other in follows.get(todo.pop(), ()):
            if other not in seen:
                seen.add(other)
                todo.append(other)
    return seen


def stop_row(telemetry):
    return int(np.flatnonzero(np.isnan(telemetry.step_time_s))[0])


def has_started(telemetry, worker):
    """Whether the worker is in the newest operation of its data-parallel group."""
    groups = telemetry.group if telemetry.group is not None else telemetry.member_group
    peers = groups == groups[worker]
    peers[worker] = False
    started = telemetry.op_started[-1]
    return peers.any() and started[worker] == started[peers].max()


def culprit(telemetry):
    """("noncomm_hang", (worker,)) or ("comm_hang", (sender, receiver))."""
    edges = open_edges(telemetry)
    src, dst = telemetry.edge_src, telemetry.edge_dst
    follows = {int(d): {int(src[e]) for e in edges if dst[e] == d} for d in dst[edges]}
    roots = {int(s) for s in src[edges]} - set(follows)
    silent = [root for root in roots if not has_started(telemetry, root)]
    if silent:
        (worker,) = silent
        return "noncomm_hang", (worker,)
    in_cycle = {w for w in follows if w in reaches(follows, w)}
    dead = [e for e in edges if telemetry.bytes[stop_row(telemetry), e] == 0]
    if in_cycle:
        dead = [e for e in dead if src[e] in in_cycle and dst[e] in in_cycle]
    stuck = max(dead, key=lambda e: telemetry.wait_s[-1, e])
    return "comm_hang", (int(src[stuck]), int(dst[stuck]))


@pytest.mark.parametrize("kind", ["noncomm_hang", "comm_hang"])
@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize(("shape", "seed"), LOCAL)
def test_the_culprit_follows_from_the_telemetry(shape, seed, condition, kind):
    telemetry, truth = generate(f"{condition}+{kind}", seed, layout=Layout(*shape))
    assert culprit(telemetry) == (truth.faults[0].kind, truth.faults[0].entity)


@pytest.mark.parametrize("seed", range(28))
@pytest.mark.parametrize("kind", ["noncomm_hang", "comm_hang"])
def test_a_stopped_job_shows_no_progress(kind, seed):
    telemetry, truth = generate(f"clean+{kind}", seed)
    row = truth.faults[0].first_step
    assert stop_row(telemetry) == row
    assert np.isnan(telemetry.delay_s[row:]).all()
    assert np.isnan(telemetry.compute_s[row:]).all()
    assert (telemetry.bytes[row + 1 :] == 0).all()
    assert (telemetry.bytes[row] > 0).any()
    assert (telemetry.op_done[row:] == telemetry.op_done[row]).all()
    assert (telemetry.op_started[row:] == telemetry.op_started[row]).all()
    assert (np.diff(telemetry.op_started, axis=0) >= 0).all()
    assert (np.diff(telemetry.op_done, axis=0) >= 0).all()
    assert (telemetry.op_started >= telemetry.op_done).all()


def test_all_others_are_victims_of_a_stop():
    _, truth = generate("clean+comm_hang", 4)
    fault = truth.faults[0]
    assert set(fault.victims) == set(range(len(truth.host))) - set(fault.workers)
