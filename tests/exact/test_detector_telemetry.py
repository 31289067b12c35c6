"""Telemetry: what is refused and how the error names it; files give back what was written."""

import numpy as np
import pytest

from c4sim.detector import Telemetry, TelemetryError
from c4sim.detector.readers import load_npz, read, save_npz, save_parquet

ONES = np.ones((4, 3))


@pytest.mark.parametrize(
    ("fields", "named", "said"),
    [
        ({"compute_s": ONES, "load": np.ones((4, 2))}, "load", "axis N but compute_s has 3"),
        ({"compute_s": ONES, "step_time_s": np.ones(5)}, "step_time_s", "axis T but compute_s has 4"),
        ({"compute_s": np.ones(4)}, "compute_s", "must have shape (T, N)"),
        ({"compute_s": -ONES}, "compute_s", "must not be negative (got -1)"),
        ({"compute_s": ONES * np.inf}, "compute_s", "must be finite or NaN"),
        ({"compute_s": ONES * np.nan}, "compute_s", "every value of every measured field is NaN"),
        ({"compute_s": np.ones((4, 1))}, "compute_s", "at least two workers"),
        ({"compute_s": np.ones((0, 3))}, "compute_s", "at least one step"),
        ({"compute_s": [["a", "b", "c"]]}, "compute_s", "must hold numbers"),
        ({"compute_s": [[1.0, 2.0], [1.0]]}, "compute_s", "not a rectangular array"),
        ({"load": ONES}, "telemetry", "holds no measured field"),
        ({"compute_s": ONES, "worker": [1, 2, 2]}, "worker", "same label twice"),
        ({"compute_s": ONES, "phase": ["train", "train", "nap", "eval"]}, "phase", "got 'nap'"),
        ({"compute_s": ONES, "role": [0.5, 1, 2]}, "role", "whole numbers"),
        ({"delay_s": ONES}, "edge_src", "missing although delay_s"),
        ({"delay_s": ONES, "edge_src": [0, 1, 2]}, "edge_dst", "missing although edge_src"),
        (
            {"compute_s": ONES, "delay_s": np.ones((4, 1)), "edge_src": [0], "edge_dst": [3]},
            "edge_dst",
            "must lie in 0..2 (got 3 at position 0)",
        ),
        ({"compute_s": ONES, "delay_s": -np.ones((4, 1)), "edge_src": [0], "edge_dst": [1]}, "delay_s", "negative"),
        ({"compute_s": ONES, "op_started": ONES, "op_done": 2 * ONES}, "op_done", "exceeds op_started"),
    ],
)
def test_refusals_name_the_field(fields, named, said):
    with pytest.raises(TelemetryError) as caught:
        Telemetry(**fields)
    assert caught.value.field == named
    assert said in str(caught.value)


def test_arrival_may_be_negative_and_nan_is_no_data():
    telemetry = Telemetry(arrival_s=[[-3.0, 2.0]], compute_s=[[np.nan, 1.0]])
    assert (telemetry.n_steps, telemetry.n_workers, telemetry.n_edges) == (1, 2, 0)
    assert telemetry.labels.tolist() == [0, 1]


def everything() -> Telemetry:
    compute = np.array([[1.0, 2.0, np.nan], [1.5, 2.5, 3.5]])
    return Telemetry(
        compute_s=compute,
        wall_s=compute + 1,
        arrival_s=compute - 9,
        load=compute * 100,
        role=["a", "a", "b"],
        host=[0, 0, 7],
        worker=[10, 11, 12],
        edge_src=[0, 2],
        edge_dst=[1, 0],
        delay_s=[[0.1, np.nan], [0.3, 0.4]],
        bytes=[[5.0, 0.0], [6.0, 7.0]],
        step_time_s=[4.0, np.nan],
        phase=["train", "save"],
        member_worker=[0, 1, 1],
        member_group=["x", "x", "y"],
        op_started=[[1, 1, 4], [2, 2, 5]],
        op_done=[[1, 1, 4], [2, 1, 5]],
    )


@pytest.mark.parametrize("suffix", [".npz", ".parquet"])
def test_files_give_back_what_was_written(tmp_path, suffix):
    written, path = everything(), tmp_path / f"telemetry{suffix}"
    (save_npz if suffix == ".npz" else save_parquet)(path, written)
    again = read([path]).present()
    assert set(again) == set(written.present())
    for name, array in written.present().items():
        np.testing.assert_array_equal(again[name], array, err_msg=name)


def test_npz_never_unpickles(tmp_path):
    class Hostile:
        def __reduce__(self):
            return (open, (str(tmp_path / "owned"), "w"))

    path = tmp_path / "hostile.npz"
    np.savez(path, compute_s=np.array([Hostile(), 1], dtype=object))
    with pytest.raises(TelemetryError, match="compute_s: cannot be read without executing"):
        load_npz(path)
    assert not (tmp_path / "owned").exists()


def test_damaged_and_foreign_files_are_refused(tmp_path):
    good = tmp_path / "good.npz"
    save_npz(good, everything())
    content = good.read_bytes()
    for name, data in {
        "cut.npz": content[: len(content) // 2],
        "empty.npz": b"",
        "cut.parquet": b"PAR1rubbish",
        "a.txt": b"hello",
        "text.csv": b"step,rank,wall_s\n0,0,abc\n",
        "ragged.csv": b"0,1\n1.0\n",
    }.items():
        path = tmp_path / name
        path.write_bytes(data)
        with pytest.raises(TelemetryError) as caught:
            read([path])
        assert str(path) in str(caught.value)
    with pytest.raises(TelemetryError, match="does not exist"):
        read([tmp_path / "none.npz"])
    unknown = tmp_path / "unknown.npz"
    np.savez(unknown, compute=ONES)
    with pytest.raises(TelemetryError, match="compute: is not a telemetry field"):
        read([unknown])


def test_csv_wide_and_long_are_wall_times(tmp_path):
    wide, long = tmp_path / "wide.csv", tmp_path / "long.csv"
    wide.write_text("step,rank_0,rank_3\n0,1.5,2.5\n1,,3.5\n")
    long.write_text("step,rank,compute_s\n0,0,1.5\n0,3,2.5\n1,3,3.5\n")
    a, b = read([wide]), read([long])
    assert a.worker.tolist() == b.worker.tolist() == [0, 3]
    np.testing.assert_array_equal(a.wall_s, [[1.5, 2.5], [np.nan, 3.5]])
    np.testing.assert_array_equal(b.compute_s, a.wall_s)
    assert b.wall_s is None
