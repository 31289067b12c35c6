"""The streaming form: the batch form's verdicts, bounded memory, resumes in mid-stream."""

import numpy as np
import pytest

from c4sim.detector import Budget, Telemetry, TelemetryError, detect
from c4sim.detector.stream import WINDOW, StreamDetector

STEP = Budget(step_time_s=10.0)


def own_work(seed=0, rows=160, workers=24):
    return np.exp(0.01 * np.random.default_rng(seed).standard_normal((rows, workers)))


def run(detector, start=0, **fields):
    """(row, kind, entity) of everything that the stream reports."""
    found = []
    for row in range(start, len(next(iter(fields.values())))):
        verdicts = detector.update({name: array[row] for name, array in fields.items()})
        found += [(row, verdict.kind, verdict.entity) for verdict in verdicts]
    return found


@pytest.mark.parametrize("onset", [0, 20, 100])
@pytest.mark.parametrize("factor", [1.2, 1.5, 3.0])
def test_a_slow_worker_within_sixteen_steps_and_once(onset, factor):
    own = own_work()
    own[onset:, 5] *= factor
    ((row, kind, entity),) = run(StreamDetector(STEP), compute_s=own)
    assert (kind, entity) == ("slow_compute", 5)
    assert row - onset < 16
    (verdict,) = detect(Telemetry(compute_s=own), STEP)
    assert (verdict.kind, verdict.entity) == (kind, entity)


def test_clean_work_pauses_and_missing_rows_are_silent():
    own = own_work(1)
    own[::50, 0] += 30
    own[np.random.default_rng(1).random(own.shape) < 0.05] = np.nan
    assert run(StreamDetector(STEP), compute_s=own) == []


def test_a_ramp_slower_than_the_window():
    own = own_work(2, rows=700)
    own[:, 7] *= 1 + 0.3 * np.clip((np.arange(700) - 100) / 500, 0, 1)
    ((row, kind, entity),) = run(StreamDetector(STEP), compute_s=own)
    assert (kind, entity) == ("slow_compute", 7)
    assert own[row, 7] / own[row].mean() < 1.2


def test_load_explains_uneven_work():
    rng = np.random.default_rng(3)
    load = rng.lognormal(0, 0.25, (200, 24))
    own = (0.3 + 0.7 * load) * own_work(3, rows=200)
    assert run(StreamDetector(STEP), compute_s=own, load=load) == []
    own[90:, 11] *= 1.5
    ((row, kind, entity),) = run(StreamDetector(STEP), compute_s=own, load=load)
    assert (kind, entity) == ("slow_compute", 11)
    assert row < 106


def test_flapping_edge_and_slow_sender():
    n = 12
    src = np.repeat(np.arange(n), 3)
    dst = (src + np.tile([1, 2, 3], n)) % n
    rng = np.random.default_rng(4)
    delay = 0.02 * np.exp(0.03 * rng.standard_normal((300, 36)))
    bad = 100 + np.flatnonzero(rng.random(200) < 0.25)
    delay[bad, 7] *= 4
    delay[150:, src == 9] *= 1.4
    found = run(StreamDetector(STEP, edge_src=src, edge_dst=dst), delay_s=delay, compute_s=np.ones((300, n)))
    assert {(kind, entity) for _, kind, entity in found} == {("slow_path", (2, 4)), ("slow_sender", 9)}
    flapping = next(row for row, kind, _ in found if kind == "slow_path")
    assert np.count_nonzero(bad <= flapping) <= 16


def test_a_hang_is_seen_in_the_second_stopped_row():
    done = np.repeat(np.minimum(np.arange(90.0), 80)[:, None], 4, axis=1)
    started = done.copy()
    started[81:, 1:] += 1
    step = np.where(np.arange(90) > 80, np.nan, 1.0)
    found = run(StreamDetector(), op_started=started, op_done=done, step_time_s=step)
    assert [(kind, entity) for _, kind, entity in found] == [("noncomm_hang", 0)]
    assert found[0][0] <= 83


@pytest.mark.parametrize("cut", [10, 64, 100, 106])
def test_resumes_as_if_nothing_had_happened(tmp_path, cut):
    rng = np.random.default_rng(5)
    load = rng.lognormal(0, 0.2, (160, 24))
    own = (0.3 + 0.7 * load) * own_work(5)
    own[101:, 3] *= 1.15
    whole = run(StreamDetector(STEP), compute_s=own, load=load)
    first = StreamDetector(STEP)
    found = run(first, compute_s=own[:cut], load=load[:cut])
    first.save(tmp_path / "state.npz")
    again = StreamDetector.resume(tmp_path / "state.npz", STEP)
    assert again.rows == cut
    assert found + run(again, start=cut, compute_s=own, load=load) == whole
    assert [(kind, entity) for _, kind, entity in whole] == [("slow_compute", 3)]


def test_resumes_with_what_it_had_learned(tmp_path):
    """A ramp slower than the window shows against the level learned before the restart only."""
    own = own_work(2, rows=700)
    own[:, 7] *= 1 + 0.3 * np.clip((np.arange(700) - 100) / 500, 0, 1)
    whole = run(StreamDetector(STEP), compute_s=own)
    first = StreamDetector(STEP)
    assert run(first, compute_s=own[:150]) == []
    first.save(tmp_path / "state.npz")
    again = StreamDetector.resume(tmp_path / "state.npz", STEP)
    assert run(again, start=150, compute_s=own) == whole


def test_memory_does_not_grow():
    detector = StreamDetector(STEP)
    own = own_work(6, rows=400)
    run(detector, compute_s=own)
    assert detector.window().n_steps == WINDOW
    np.testing.assert_allclose(detector.window().compute_s, own[-WINDOW:], rtol=1e-6)


def test_bad_rows_are_refused_by_name(tmp_path):
    detector = StreamDetector(STEP)
    detector.update({"compute_s": np.ones(4)})
    for row, said in (
        ({"compute_s": np.ones(3)}, "compute_s: must have shape"),
        ({"compute_s": -np.ones(4)}, "compute_s: must not be negative"),
        ({"compute_s": np.ones(4), "load": np.ones(4)}, "load: was not in the first row"),
    ):
        with pytest.raises(TelemetryError, match=said):
            detector.update(row)
    with pytest.raises(TelemetryError, match="computed: is not a field"):
        StreamDetector(STEP).update({"computed": np.ones(4)})
    with pytest.raises(TelemetryError, match="rolle: is not a field"):
        StreamDetector(STEP, rolle=np.zeros(4))
    (tmp_path / "bad.npz").write_bytes(b"PK\x03\x04")
    with pytest.raises(TelemetryError, match="not a saved detector"):
        StreamDetector.resume(tmp_path / "bad.npz")
