"""Flight recorder dumps: JSON like pickle, and nothing in a pickle is ever executed."""

import collections
import json
import pickle

import numpy as np
import pytest

from c4sim.detector import TelemetryError, detect
from c4sim.detector.readers import read, unpickle


def entry(number, state, p2p=False):
    return {
        "pg_id": 1,
        "process_group": ("g", "DATA"),
        "collective_seq_id": number,
        "is_p2p": p2p,
        "state": state,
        "retired": False,
    }


def dump(started, done, **more):
    entries = [entry(number, "completed" if number <= done else "scheduled") for number in range(1, started + 1)]
    config = {"g": {"name": "g", "desc": "DATA", "ranks": "[0, 1, 2]"}}
    return {"version": "2.9", "entries": entries, "pg_config": config, **more}


def write(folder, dumps, kind):
    for rank, content in enumerate(dumps):
        path = folder / f"dump_{rank}"
        if kind == "json":
            path.write_text(json.dumps(content))
        else:
            path.write_bytes(pickle.dumps(content, protocol=2))
    return folder


@pytest.mark.parametrize("kind", ["json", "pickle"])
def test_json_and_pickle_say_the_same(tmp_path, kind):
    telemetry = read([write(tmp_path, [dump(5, 4), dump(4, 4), dump(5, 4)], kind)])
    np.testing.assert_array_equal(telemetry.op_started[0], [5, 4, 5])
    np.testing.assert_array_equal(telemetry.op_done[0], [4, 4, 4])
    (verdict,) = detect(telemetry)
    assert (verdict.kind, verdict.entity, verdict.effect) == ("noncomm_hang", 1, None)


def test_a_rank_that_only_the_groups_name_has_no_numbers(tmp_path):
    telemetry = read([write(tmp_path, [dump(5, 4), dump(5, 4)], "json")])
    assert telemetry.worker.tolist() == [0, 1, 2]
    assert telemetry.member_worker.tolist() == [0, 1]


def test_groups_with_point_to_point_operations_are_left_out(tmp_path):
    dumps = [dump(5, 4), dump(3, 3), dump(5, 4)]
    dumps[0]["entries"].append(entry(6, "scheduled", p2p=True))
    with pytest.raises(TelemetryError, match="no collective operation"):
        read([write(tmp_path, dumps, "json")])


class Call:
    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize(
    ("value", "name"),
    [
        (Call(eval, "1+1"), "eval"),
        (Call(print, "x"), "print"),
        (collections.OrderedDict(a=1), "OrderedDict"),
        (np.float64(3.0), "numpy"),
    ],
)
def test_refuses_by_name_everything_that_is_not_plain(value, name, protocol):
    data = pickle.dumps({"entries": [value], "pg_config": {}}, protocol=protocol)
    with pytest.raises(TelemetryError, match=name):
        unpickle.plain(data, "dump_0")


def test_refuses_to_run_a_command(tmp_path):
    path = tmp_path / "dump_0"
    path.write_bytes(b"cos\nsystem\n(S'touch " + str(tmp_path / "owned").encode() + b"'\ntR.")
    with pytest.raises(TelemetryError):
        read([path])
    with pytest.raises(TelemetryError, match=r"os\.system|posix\.system"):
        unpickle.plain(path.read_bytes(), "dump_0")
    assert not (tmp_path / "owned").exists()


@pytest.mark.parametrize("protocol", range(6))
def test_reads_plain_values_of_every_protocol(protocol):
    value = {"a": [1, 2.5, None, True, "x", b"y", (3, -(2**70))], "b": {"c": {4, 5}}}
    if protocol < 4:
        value["b"] = {"c": [4, 5]}  # sets and bytes are calls in old protocols
        value["a"][5] = "y"
    assert unpickle.plain(pickle.dumps(value, protocol=protocol), "f") == value


def test_damaged_dumps_are_refused_by_name(tmp_path):
    good = pickle.dumps(dump(5, 4), protocol=2)
    for rank, data in enumerate([good[:-20], b"\x80\x02", b"{not json", b"[1]", b'{"entries": 3, "pg_config": {}}']):
        path = tmp_path / f"dump_{rank}"
        path.write_bytes(data)
        with pytest.raises(TelemetryError, match=f"dump_{rank}"):
            read([path])
