"""What people who run such jobs expect: culprit, not victim; nobody rather than a guess."""

import numpy as np
import pytest

from c4sim.detector import Host, Telemetry, TelemetryError, detect


def said(**fields):
    """(kind, entity) of all verdicts."""
    return [(verdict.kind, verdict.entity) for verdict in detect(Telemetry(**fields))]


def noisy(seed, rows, workers, sigma=0.01):
    return np.exp(sigma * np.random.default_rng(seed).standard_normal((rows, workers)))


@pytest.mark.parametrize("rows", [1, 5, 50])
def test_wall_times_of_a_collective_name_nobody(rows):
    wall = np.tile([0.2930, 0.2922, 0.2930, 0.2931], (rows, 1))
    assert said(wall_s=wall) == [("unattributable", None)]
    own = np.tile([0.093, 0.293, 0.093, 0.093], (rows, 1))
    assert said(wall_s=wall, compute_s=own) == [("slow_compute", 1)]


@pytest.mark.parametrize("others", [{}, {"compute_s": 0.1, "wall_s": 0.3}])
@pytest.mark.parametrize("rows", [1, 40])
def test_input_stall_names_the_worker_and_the_cause(rows, others):
    waits = np.full((rows, 4), 0.0104)
    waits[:, 2] = 0.1997
    fields = {name: np.full((rows, 4), value) for name, value in others.items()}
    (verdict,) = detect(Telemetry(input_s=waits, **fields))
    assert (verdict.kind, verdict.entity) == ("input_stall", 2)
    assert verdict.effect == pytest.approx(0.1893, abs=0.006)


@pytest.mark.parametrize("workers", [4, 8, 64])
def test_persistent_is_flagged_and_rotating_names_no_node(workers):
    rng = np.random.default_rng(1)
    slow = noisy(1, 100, workers)
    slow[rng.permutation(100)[:90], 2] *= 1.3
    assert said(compute_s=slow) == [("slow_compute", 2)]
    rotating = noisy(2, 100, workers)
    rotating[np.arange(100), np.arange(100) % workers] *= 1.3
    assert said(compute_s=rotating) == [("rotating", None)]


@pytest.mark.parametrize("seed", range(3))
def test_tokens_drawn_anew_each_step(seed):
    rng = np.random.default_rng(seed)
    load = rng.lognormal(0, 0.35, (1000, 16))
    own = (0.1 + 0.9 * load) * noisy(seed + 10, 1000, 16)
    kinds = {kind for kind, _ in said(compute_s=own)}
    assert kinds == {"unattributable"}
    reported = 8192 * load * rng.uniform(0.8, 1.2, load.shape)
    assert said(compute_s=own, load=8192 * load) == []
    own[:, 5] *= 1.2
    assert said(compute_s=own, load=8192 * load) == [("slow_compute", 5)]
    assert said(compute_s=own, load=reported) == [("slow_compute", 5)]


@pytest.mark.parametrize("rows", [50, 101, 1000])
def test_checkpoint_pauses_and_a_slow_first_step_are_no_faults(rows):
    own = noisy(3, rows, 8)
    own[::100, 0] += 30
    own[0] *= 1000
    assert said(compute_s=own) == []


@pytest.mark.parametrize("rows", [1, 20])
def test_missing_workers_do_not_change_the_others(rows):
    rest = noisy(4, rows, 5)
    rest[:, 3] *= 1.5
    own = np.full((rows, 8), np.nan)
    own[:, [0, 1, 3, 4, 6]], own[:, 5] = rest, 0.0
    verdicts = said(compute_s=own, worker=np.arange(8))
    assert verdicts == [("no_data", 2), ("no_data", 5), ("no_data", 7), ("slow_compute", 4)]
    with pytest.raises(TelemetryError, match="NaN"):
        Telemetry(compute_s=np.full((rows, 8), np.nan))


@pytest.mark.parametrize("rows", [1, 30])
def test_a_clock_that_is_off_is_no_straggler(rows):
    host = np.repeat([0, 1, 2, 3], 2)
    arrival = 10.0 * np.arange(rows)[:, None] + 5 + 0.01 * noisy(5, rows, 8)
    arrival[:, host == 1] -= 49
    (verdict,) = detect(Telemetry(arrival_s=arrival, host=host, compute_s=5 * noisy(6, rows, 8)))
    assert (verdict.kind, verdict.entity) == ("clock_offset", Host(1))
    assert verdict.effect == pytest.approx(-49, abs=0.1)
    assert said(arrival_s=arrival - arrival, compute_s=5 * noisy(6, rows, 8)) == []


def test_last_stage_with_more_work_is_no_straggler():
    own = noisy(7, 64, 16)
    own[:, 12:] *= 2.07
    role = np.repeat([0, 1, 2, 3], 4)
    assert said(compute_s=own, role=role) == []
    assert said(compute_s=own) == []
    own[:, 13] *= 1.2
    assert said(compute_s=own, role=role) == [("slow_compute", 13)]
    assert said(compute_s=own) == [("slow_compute", 13)]


def test_two_workers_of_a_role_are_judged_by_their_own_history():
    own = noisy(8, 80, 8)
    own *= np.repeat([1.0, 1.3, 0.8, 2.0], 2)
    role = np.repeat([0, 1, 2, 3], 2)
    assert said(compute_s=own, role=role) == []
    own[40:, 5] *= 1.25
    (verdict,) = detect(Telemetry(compute_s=own, role=role))
    assert (verdict.kind, verdict.entity) == ("slow_compute", 5)
    assert verdict.effect == pytest.approx(1.25, rel=0.03)
    assert 38 <= verdict.first_step <= 42


def test_ramp_slow_host_and_job_wide():
    own = noisy(9, 160, 32)
    host = np.arange(32) // 4
    ramp = own.copy()
    ramp[:, 9] *= 1 + 0.3 * np.clip((np.arange(160) - 40) / 90, 0, 1)
    assert said(compute_s=ramp) == [("slow_compute", 9)]
    rack = own.copy()
    rack[60:, 8:12] *= 1.4
    assert said(compute_s=rack, host=host, role=np.zeros(32, int)) == [("slow_compute", Host(2))]
    wide = own.copy()
    wide[80:] *= 1.5
    assert said(compute_s=wide) == [("job_wide", None)]


def test_fields_without_data_are_reported_and_saves_are_not_judged():
    own = noisy(10, 40, 6)
    empty = np.full((40, 6), np.nan)
    assert said(compute_s=own, input_s=empty) == [("no_data", None)]
    own[::2, 0] *= 30
    phase = np.where(np.arange(40) % 2 == 0, "save", "train")
    assert said(compute_s=own, phase=phase) == []
    assert said(compute_s=own[::2], phase=phase[::2]) == []


def test_waits_alone_name_nobody():
    wait = noisy(11, 40, 6)
    edges = {"edge_src": np.arange(6), "edge_dst": (np.arange(6) + 1) % 6}
    wait[:, 2] *= 5
    assert said(wait_s=wait, **edges) == [("unattributable", None)]


@pytest.mark.parametrize(("bad", "flagged"), [(11, False), (13, True)])
def test_a_change_must_show_in_most_of_the_rows_since_it_began(bad, flagged):
    """Slow in 11 of every 20 rows from row 40 on: it comes and goes. In 13 of 20: it is there."""
    own = noisy(12, 120, 16)
    rows = 40 + np.flatnonzero(np.random.default_rng(12).permuted(np.tile(np.arange(20) < bad, (4, 1)), axis=1).ravel())
    own[rows, 6] *= 1.5
    accused = [entity for kind, entity in said(compute_s=own) if kind == "slow_compute"]
    assert accused == ([6] if flagged else [])


def exchanged(own, ring):
    """Telemetry of a data-parallel job: three messages to the next replicas, all at once in a ring."""
    rows, n = own.shape
    src = np.repeat(np.arange(n), 3)
    dst = (src + np.tile([1, 2, 3], n)) % n
    end = own.max(axis=1, keepdims=True)
    wait = end - own[:, dst] if ring else np.maximum(own[:, src] - own[:, dst], 0)
    fields = {"compute_s": own, "edge_src": src, "edge_dst": dst, "wait_s": wait + 0.02, "role": np.zeros(n, int)}
    return fields | {"arrival_s": own + 20.0 * np.arange(rows)[:, None], "step_time_s": end[:, 0]}


@pytest.mark.parametrize("ring", [True, False])
def test_a_worker_that_is_really_late_has_no_wrong_clock(ring):
    """Own work twice as long: it arrives late and the others wait, in a ring or for its messages."""
    own = 5 * noisy(13, 80, 12)
    own[30:, 4] *= 2
    fields = exchanged(own, ring)
    assert said(**fields) == [("slow_compute", 4)]
    fields["arrival_s"][:, 9] += 20
    assert set(said(**fields)) == {("slow_compute", 4), ("clock_offset", 9)}


@pytest.mark.parametrize("ring", [True, False])
@pytest.mark.parametrize("drifting", [True, False])
def test_uneven_load_makes_nobody_s_clock_wrong(ring, drifting):
    """Half of the replicas get more work, in all rows or another half in each; one clock is 30 s behind."""
    rng = np.random.default_rng(16)
    share = np.linspace(0.6, 1.4, 12)
    load = np.array([rng.permutation(share) if drifting else share for _ in range(80)])
    load[:30] = 1.0
    fields = exchanged(5 * load * noisy(16, 80, 12), ring) | {"load": load}
    assert said(**fields) == []
    fields["arrival_s"][:, 9] -= 30
    assert said(**fields) == [("clock_offset", 9)]


def test_without_messages_less_than_a_step_may_be_real_lateness():
    own = 5 * noisy(17, 80, 12)
    fields = {"compute_s": own, "role": np.zeros(12, int), "step_time_s": np.full(80, 8.0)}
    arrival = own + 20.0 * np.arange(80)[:, None]
    for offset, expected in ((6.0, []), (10.0, [("clock_offset", 3)])):
        shifted = arrival.copy()
        shifted[40:, 3] += offset
        assert said(**fields, arrival_s=shifted) == expected
