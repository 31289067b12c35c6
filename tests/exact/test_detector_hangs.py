"""Who hangs: from the numbers of operations, from waits and bytes, and who is only a victim."""

import numpy as np
import pytest

from c4sim.detector import Telemetry, detect

ROWS, STOP = 12, 8


def running(members):
    """Numbers that grow by one a row and stand still from row STOP on."""
    return np.repeat(np.minimum(np.arange(ROWS), STOP)[:, None].astype(float), members, axis=1)


def step_time():
    step = np.ones(ROWS)
    step[STOP + 1 :] = np.nan
    return step


def hangs(**fields):
    return [(v.kind, v.entity) for v in detect(Telemetry(**fields)) if v.kind.endswith("hang")]


def test_never_started():
    done = running(8)
    started = done.copy()
    started[STOP + 1 :, np.arange(8) != 3] += 1
    (verdict,) = detect(Telemetry(op_started=started, op_done=done, step_time_s=step_time()))
    assert (verdict.kind, verdict.entity) == ("noncomm_hang", 3)
    assert verdict.victims == (0, 1, 2, 4, 5, 6, 7)
    assert verdict.first_step in (STOP, STOP + 1)


def test_one_operation_in_flight_is_not_a_hang():
    done = np.repeat(np.arange(ROWS)[:, None].astype(float), 4, axis=1)
    started = done.copy()
    started[-1, 1:] += 1
    assert hangs(op_started=started, op_done=done) == []
    assert hangs(op_started=started[-1:], op_done=done[-1:]) == []


def test_a_long_pause_in_which_steps_complete_is_not_a_hang():
    done = running(4)
    started = done.copy()
    started[STOP + 1 :, 1:] += 1
    assert hangs(op_started=started, op_done=done, step_time_s=np.ones(ROWS)) == []


@pytest.mark.parametrize("culprit", [0, 3, 5])
def test_the_culprit_sits_in_another_group(culprit):
    """Pairs (0,1), (2,3), (4,5) inside, and two groups across; the culprit never starts inside its pair."""
    worker = np.concatenate([np.arange(6), np.arange(6)])
    group = np.concatenate([np.repeat([0, 1, 2], 2), 3 + np.arange(6) % 2])
    done = running(12)
    started = done.copy()
    mate = culprit ^ 1
    blocked = np.isin(worker, [culprit, mate]) & (group >= 3)
    late_rows = slice(STOP + 1, None)
    started[late_rows, ~blocked] += 1
    started[late_rows, (worker == culprit) & (group < 3)] -= 1
    done[late_rows] = np.where((group < 3) & ~np.isin(worker, [culprit, mate]), done[late_rows] + 1, done[late_rows])
    found = hangs(member_worker=worker, member_group=group, op_started=started, op_done=done, step_time_s=step_time())
    assert found == [("noncomm_hang", culprit)]


def test_behind_in_completed_is_named():
    done = running(4)
    started = done + 1
    started[: STOP + 1] = done[: STOP + 1]
    done[STOP + 1 :, [0, 1, 3]] += 1
    assert hangs(op_started=started, op_done=done, step_time_s=step_time()) == [("comm_hang", 2)]


def test_numbers_of_different_groups_do_not_compare():
    done = running(4) * np.array([1, 1, 5, 5])
    started = done.copy()
    started[STOP + 1 :] += 1
    fields = {"group": [0, 0, 1, 1], "op_started": started, "op_done": done, "step_time_s": step_time()}
    assert hangs(**fields) == []
    (verdict,) = detect(Telemetry(**fields))
    assert (verdict.kind, verdict.entity) == ("unattributable", None)


def ring(n=6, stuck=2):
    """A ring exchange in which edge ``stuck`` delivers nothing while the others had moved a part."""
    src = np.arange(n)
    sent = np.full((ROWS, n), 100.0)
    sent[STOP + 1] = 10.0
    sent[STOP + 1, stuck] = 0
    sent[STOP + 2 :] = 0
    wait = np.full((ROWS, n), 0.1)
    wait[STOP + 1 :] = np.arange(1, ROWS - STOP)[:, None] + 0.01 * np.arange(n)
    done = running(n)
    started = done.copy()
    started[STOP + 1 :] += 1
    fields = {"edge_src": src, "edge_dst": (src + 1) % n, "bytes": sent, "wait_s": wait}
    return fields | {"op_started": started, "op_done": done, "step_time_s": step_time()}


@pytest.mark.parametrize("stuck", [0, 2, 5])
def test_the_edge_without_bytes_is_named(stuck):
    fields = ring(stuck=stuck)
    assert hangs(**fields) == [("comm_hang", (stuck, (stuck + 1) % 6))]
    labels = np.array([10, 20, 30, 40, 50, 60])
    assert hangs(**fields, worker=labels) == [("comm_hang", (labels[stuck], labels[(stuck + 1) % 6]))]


def test_a_pipeline_names_the_first_edge_not_those_behind_it():
    """0 -> 1 -> 2 -> 3: the message 1 -> 2 never arrives; 3 waits as long, 0 and 1 wait for the way back later."""
    src, dst = np.array([0, 1, 2, 3, 2, 1]), np.array([1, 2, 3, 2, 1, 0])
    sent = np.full((ROWS, 6), 50.0)
    sent[STOP + 1, 1:] = 0
    sent[STOP + 2 :] = 0
    wait = np.full((ROWS, 6), 0.1)
    growing = 10.0 * np.arange(1, ROWS - STOP)[:, None]
    wait[STOP + 1 :] = growing - np.array([10, 0.0, 0.0, 100, 2.0, 1.5])
    wait[STOP + 1 :, [0, 3]] = 0
    done = running(4)
    fields = {"edge_src": src, "edge_dst": dst, "bytes": sent, "wait_s": wait, "step_time_s": step_time()}
    assert hangs(**fields, op_started=done, op_done=done) == [("comm_hang", (1, 2))]


def test_waiting_behind_is_a_victim_by_its_open_wait():
    """Both workers of a replica are behind; the one that waits for a message from the other is the victim."""
    done = running(4)
    started = done.copy()
    started[STOP + 1 :, [2, 3]] += 1
    wait = np.full((ROWS, 2), 0.1)
    wait[STOP + 1 :, 0] = np.arange(1, ROWS - STOP)
    wait[STOP + 1 :, 1] = 0
    fields = {"edge_src": [0, 1], "edge_dst": [1, 0], "wait_s": wait, "bytes": np.where(np.isnan(step_time()), 0, 9.0)}
    fields["bytes"] = np.repeat(fields["bytes"][:, None], 2, axis=1)
    assert hangs(**fields, op_started=started, op_done=done, step_time_s=step_time()) == [("noncomm_hang", 0)]


def test_a_save_without_collectives_is_not_a_hang():
    done = running(4)
    started = done.copy()
    started[STOP + 1 :, 1:] += 1
    phase = np.where(np.isnan(step_time()), "save", "train")
    fields = {"op_started": started, "op_done": done, "step_time_s": step_time()}
    assert hangs(**fields, phase=phase) == []
    assert hangs(**fields, phase=np.full(ROWS, "train")) == [("noncomm_hang", 0)]


def test_a_connection_known_not_to_move_comes_before_one_that_did_not_report():
    fields = ring(stuck=2)
    fields["bytes"][STOP + 1, 4] = np.nan
    fields["wait_s"][STOP + 2 :, 4] += 0.02  # its receiver came first, by less than tells it apart
    assert hangs(**fields) == [("comm_hang", (2, 3))]


def test_of_several_that_did_not_report_none_is_named():
    fields = ring(stuck=2)
    fields["bytes"][STOP + 1, [2, 4]] = np.nan
    kinds = {v.kind for v in detect(Telemetry(**fields))}
    assert kinds == {"unattributable"}
    fields["bytes"][STOP + 1, 4] = 1e6
    assert hangs(**fields) == [("comm_hang", (2, 3))]


def test_without_a_step_time_a_connection_known_not_to_move_still_comes_first():
    fields = ring(stuck=2)
    del fields["step_time_s"]
    fields["wait_s"][STOP + 1 :] = np.arange(1, ROWS - STOP)[:, None]
    fields["bytes"][STOP + 1, 1] = np.nan
    assert hangs(**fields) == [("comm_hang", (2, 3))]


def test_a_silent_sender_is_named_also_when_nobody_reports_what_it_sent():
    src, dst = np.array([0, 0, 0]), np.array([1, 2, 3])
    sent = np.full((ROWS, 3), 50.0)
    sent[STOP + 1 :] = np.nan
    wait = np.full((ROWS, 3), 0.1)
    wait[STOP + 1 :] = np.arange(1, ROWS - STOP)[:, None]
    fields = {"edge_src": src, "edge_dst": dst, "bytes": sent, "wait_s": wait, "step_time_s": step_time()}
    assert hangs(**fields) == [("noncomm_hang", 0)]


def test_a_wait_that_stops_reporting_goes_on():
    """Of two connections that moved nothing the one whose sender waits longer is behind, whatever its last row says."""
    fields = ring(stuck=2)
    fields["bytes"][STOP + 1, 3] = 0.0  # 3 -> 4 moved nothing either: its sender waits for 2 -> 3
    fields["wait_s"][STOP + 1 :, 3] -= 0.2
    fields["wait_s"][STOP + 1 :, 1] -= 0.5
    assert hangs(**fields) == [("comm_hang", (2, 3))]
    fields["wait_s"][-1, 2] = np.nan
    assert hangs(**fields) == [("comm_hang", (2, 3))]
