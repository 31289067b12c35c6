"""Sender, receiver or path; a late sender is none of them; bytes are taken into account."""

import numpy as np
import pytest

from c4sim.detector import Telemetry, detect

N, ROWS = 12, 80
SRC = np.repeat(np.arange(N), 4)
DST = (SRC + np.tile([1, 2, 3, 5], N)) % N


def delays(seed=0, sigma=0.03):
    return 0.02 * np.exp(sigma * np.random.default_rng(seed).standard_normal((ROWS, len(SRC))))


def judged(delay, **fields):
    return detect(Telemetry(delay_s=delay, edge_src=SRC, edge_dst=DST, compute_s=np.ones((ROWS, N)), **fields))


@pytest.mark.parametrize("factor", [1.25, 3.0])
@pytest.mark.parametrize("onset", [0, 40])
@pytest.mark.parametrize("kind", ["slow_sender", "slow_receiver", "slow_path"])
def test_one_slow_part(kind, onset, factor):
    delay = delays(1)
    edges = {"slow_sender": SRC == 4, "slow_receiver": DST == 4, "slow_path": (SRC == 4) & (DST == 6)}[kind]
    delay[onset:, edges] *= factor
    (verdict,) = judged(delay)
    assert (verdict.kind, verdict.entity) == (kind, (4, 6) if kind == "slow_path" else 4)
    assert verdict.effect == pytest.approx(factor, rel=0.04)
    assert abs(verdict.first_step - onset) <= 1


def test_sender_and_receiver_at_once_and_two_edges_of_a_worker():
    delay = delays(2)
    delay[:, SRC == 1] *= 2
    delay[:, DST == 9] *= 2.5
    assert {(v.kind, v.entity) for v in judged(delay)} == {("slow_sender", 1), ("slow_receiver", 9)}
    delay = delays(3)
    delay[:, (SRC == 7) & np.isin(DST, [8, 9])] *= 2
    assert {(v.kind, v.entity) for v in judged(delay)} == {("slow_path", (7, 8)), ("slow_path", (7, 9))}


def test_clean_and_congestion_common_to_all_are_silent():
    delay = delays(4)
    assert judged(delay) == []
    delay[40:60] *= 3
    assert judged(delay) == []


def test_flapping_is_a_slow_path_and_rare_spikes_are_nothing():
    rng = np.random.default_rng(5)
    delay = delays(5)
    delay[rng.random(delay.shape) < 5e-4] *= 4
    assert judged(delay) == []
    bad = rng.permutation(np.arange(ROWS))[:14]
    delay[bad, 17] *= 4
    (verdict,) = judged(delay)
    assert (verdict.kind, verdict.entity) == ("slow_path", (int(SRC[17]), int(DST[17])))
    assert verdict.effect == pytest.approx(4, rel=0.1)


def test_bytes_explain_delays_with_a_fixed_part_for_each_class_of_link():
    rng = np.random.default_rng(6)
    sent = rng.uniform(1e6, 1e8, (ROWS, len(SRC)))
    host = np.arange(N) // 3
    crosses = host[SRC] != host[DST]
    line = np.where(crosses, 5e-3 + sent / 20e9, 3e-4 + sent / 200e9)
    delay = line * delays(6) / 0.02
    assert judged(delay, bytes=sent, host=host) == []
    slow = (SRC == 3) & crosses
    delay[:, slow] *= 1.4
    assert {(v.kind, v.entity) for v in judged(delay, bytes=sent, host=host)} == {
        ("slow_path", (3, 6)),
        ("slow_path", (3, 8)),
    }


def test_edges_without_bytes_and_dark_edges_say_nothing():
    delay = delays(7)
    sent = np.full(delay.shape, 1e6)
    sent[:, 5], delay[:, 5] = 0, 50.0
    delay[:, 9] = np.nan
    assert judged(delay, bytes=sent) == []


def test_victims_of_a_slow_worker_are_listed_not_blamed():
    wait = delays(8)
    own = np.ones((ROWS, N)) * np.exp(0.01 * np.random.default_rng(8).standard_normal((ROWS, N)))
    own[40:, 4] *= 2
    wait[40:, SRC == 4] += 1.0
    telemetry = Telemetry(compute_s=own, edge_src=SRC, edge_dst=DST, delay_s=delays(8), wait_s=wait)
    (verdict,) = detect(telemetry)
    assert (verdict.kind, verdict.entity) == ("slow_compute", 4)
    assert set(verdict.victims) == set(DST[SRC == 4].tolist())


def test_a_receiver_is_not_blamed_for_its_senders():
    """Three of the four senders of worker 9 are slow; so are three of its four incoming edges."""
    delay = delays(9)
    delay[30:, np.isin(SRC, [6, 7, 8])] *= 2
    assert np.isin(SRC[DST == 9], [6, 7, 8]).sum() == 3
    assert {(v.kind, v.entity) for v in judged(delay)} == {("slow_sender", w) for w in (6, 7, 8)}


def test_a_worker_with_two_outgoing_edges_has_slow_paths():
    src, dst = np.repeat(np.arange(20), 2), (np.repeat(np.arange(20), 2) + np.tile([1, 2], 20)) % 20
    delay = 0.02 * np.exp(0.03 * np.random.default_rng(10).standard_normal((60, 40)))
    delay[20:, src == 3] *= 2
    found = detect(Telemetry(delay_s=delay, edge_src=src, edge_dst=dst, compute_s=np.ones((60, 20))))
    assert {(v.kind, v.entity) for v in found} == {("slow_path", (3, 4)), ("slow_path", (3, 5))}
