"""The command's function: table or JSON on stdout, exit codes, messages on stderr, the figure."""

import io
import json
import zipfile

import numpy as np
import pytest

from c4sim.detector import Telemetry
from c4sim.detector.readers import save_npz
from c4sim.report.detector_figure import draw
from c4sim.studies.detect import detect_command


def telemetry(slow=True, **more):
    own = np.exp(0.01 * np.random.default_rng(0).standard_normal((40, 8)))
    if slow:
        own[20:, 3] *= 1.5
    return Telemetry(compute_s=own, worker=[10, 11, 12, 17, 14, 15, 16, 13], **more)


def links():
    src = np.repeat(np.arange(8), 3)
    delay = 0.02 * np.exp(0.03 * np.random.default_rng(1).standard_normal((40, 24)))
    delay[:, 4] *= 3
    return {"edge_src": src, "edge_dst": (src + np.tile([1, 2, 3], 8)) % 8, "delay_s": delay}


def saved(folder, content):
    path = folder / "telemetry.npz"
    save_npz(path, content)
    return str(path)


def test_json_has_plain_entities_and_the_exit_code_accuses(tmp_path, capsys):
    host = np.repeat([4, 5, 6, 7], 2)
    own = np.ones((40, 8))
    own[20:, 2:4] *= 1.5
    path = saved(tmp_path, Telemetry(compute_s=own, host=host, role=np.zeros(8, int), **links()))
    assert detect_command([path], json_output=True) == 1
    out, err = capsys.readouterr()
    document = json.loads(out)
    assert err == ""
    assert document["schema_version"] == 1
    names = ["kind", "entity", "effect", "score", "first_step", "evidence", "victims"]
    assert all(list(verdict) == names for verdict in document["verdicts"])
    entities = [(verdict["kind"], verdict["entity"]) for verdict in document["verdicts"]]
    assert entities == [("slow_compute", {"host": 5}), ("slow_path", [1, 3])]


def test_table_and_labels(tmp_path, capsys):
    assert detect_command([saved(tmp_path, telemetry())]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:4] == ["kind", "entity", "effect", "score"]
    assert lines[1].split()[:3] == ["slow_compute", "17", "1.5"]
    assert lines[-1] == "40 rows of 8 workers, 0 edges; measured: compute_s"


def test_nobody_accused_is_zero(tmp_path, capsys):
    assert detect_command([saved(tmp_path, telemetry(slow=False))]) == 0
    assert "nothing found" in capsys.readouterr().out
    csv = tmp_path / "wall.csv"
    csv.write_text("0,1,2\n" + "1.0,1.1,1.0\n" * 20)
    assert detect_command([str(csv)], json_output=True) == 0
    (verdict,) = json.loads(capsys.readouterr().out)["verdicts"]
    assert (verdict["kind"], verdict["entity"]) == ("unattributable", None)


@pytest.mark.parametrize("options", [{"false_alarms": 0.0}, {"step_time_s": -1.0}])
def test_bad_options_and_files_are_two_without_a_traceback(tmp_path, capsys, options):
    path = saved(tmp_path, telemetry())
    assert detect_command([path], **options) == 2
    assert next(iter(options)) in capsys.readouterr().err
    assert detect_command([str(tmp_path / "none.npz")]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "none.npz: does not exist" in err
    assert detect_command([]) == 2
    assert "at least one file" in capsys.readouterr().err


@pytest.mark.parametrize("fields", [{}, links()])
def test_figure(tmp_path, fields):
    path, figure = saved(tmp_path, telemetry(**fields)), tmp_path / "figure.png"
    assert detect_command([path], figure=str(figure), draw=draw) == 1
    assert figure.read_bytes().startswith(b"\x89PNG")


def test_figure_that_cannot_be_written_is_bad_input(tmp_path, capsys):
    path = saved(tmp_path, telemetry())
    assert detect_command([path], figure=str(tmp_path / "no" / "figure.png"), draw=draw) == 2
    assert "figure.png" in capsys.readouterr().err
    assert detect_command([path], figure=str(tmp_path / "figure.nope"), draw=draw) == 2
    assert "nope" in capsys.readouterr().err


def claiming(path, shape):
    """An .npz of a few hundred bytes whose header claims an array of `shape`."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": shape})
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("compute_s.npy", header.getvalue())
    return str(path)


def test_a_header_that_claims_more_than_memory_is_bad_input(tmp_path, capsys):
    path = claiming(tmp_path / "big.npz", (20_000_000, 100_000_000))
    assert detect_command([path]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"c4sim detect: {path}: holds or claims more than fits into memory")


def test_a_header_that_claims_more_than_the_file_holds_names_the_file(tmp_path, capsys):
    path = claiming(tmp_path / "short.npz", (200, 100))
    assert detect_command([path]) == 2
    assert capsys.readouterr().err.startswith(f"c4sim detect: {path}: compute_s: ")


def test_running_out_of_memory_while_judging_is_bad_input(tmp_path, capsys, monkeypatch):
    def out_of_memory(*_):
        raise MemoryError

    path = saved(tmp_path, telemetry())
    monkeypatch.setattr("c4sim.studies.detect.detect", out_of_memory)
    assert detect_command([path]) == 2
    assert capsys.readouterr().err == f"c4sim detect: {path}: holds or claims more than fits into memory\n"


@pytest.mark.parametrize("content", [b"step,0,1\n0,1.0,1.1\n", b"", b"\x93NUMPY\x01\x00"])
def test_an_npz_that_is_no_archive_is_named(tmp_path, capsys, content):
    path = tmp_path / "x.npz"
    path.write_bytes(content)
    assert detect_command([str(path)]) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"c4sim detect: {path}: is not an .npz archive")
    assert "allow_pickle" not in err


def test_a_folder_without_dumps_is_named(tmp_path, capsys):
    (tmp_path / "steps.csv").write_text("0,1\n1.0,1.1\n")
    assert detect_command([str(tmp_path)]) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"c4sim detect: {tmp_path}: holds no flight recorder dump")
