"""Real recordings: a straggler in a 64-GPU trace, injected faults in flight recorder dumps."""

import dataclasses
import os
from pathlib import Path

import numpy as np
import pytest

from c4sim.detector import detect
from c4sim.detector.readers import read

DATA = os.environ.get("C4SIM_TEST_DATA")
pytestmark = pytest.mark.skipif(not DATA, reason="C4SIM_TEST_DATA does not name the sample data")
FOLDER = Path(DATA or ".")
RANKS = range(0, 64, 4)


@pytest.fixture(scope="module")
def trace():
    return read([FOLDER / "stragglers" / "trace-AR.parquet"])


@pytest.fixture(scope="module")
def healthy(trace):
    """Own work only, rank 0 put right by its median ratio to its stage peers."""
    column = {int(rank): index for index, rank in enumerate(trace.worker)}
    own = trace.compute_s.copy()
    peers = np.median(own[:, [column[4], column[8], column[12]]], axis=1)
    own[:, column[0]] /= np.median(own[:, column[0]] / peers)
    return dataclasses.replace(trace.without("edge_src", "edge_dst", "wait_s"), compute_s=own)


def test_the_straggler_of_the_trace_and_its_victims(trace):
    assert trace.worker.tolist() == list(RANKS)
    assert trace.n_steps == 44
    (verdict,) = detect(trace)
    assert (verdict.kind, verdict.entity) == ("slow_compute", 0)
    assert verdict.effect == pytest.approx(2.35, abs=0.05)
    assert {16, 32, 48} <= set(verdict.victims)


@pytest.mark.parametrize("roles", [True, False])
def test_put_right_nobody_is_flagged(healthy, roles):
    assert detect(healthy if roles else healthy.without("role")) == []


@pytest.mark.parametrize("factor", [1.05, 1.1, 1.2, 1.5])
def test_each_rank_slowed_from_mid_trace_is_found_alone(healthy, factor):
    for column, rank in enumerate(RANKS):
        own = healthy.compute_s.copy()
        own[22:, column] *= factor
        (verdict,) = detect(dataclasses.replace(healthy, compute_s=own))
        assert (verdict.kind, verdict.entity) == ("slow_compute", rank)
        assert verdict.effect == pytest.approx(factor, rel=0.02)


@pytest.mark.parametrize(("run", "ranks"), [("gpu_error_1st", {12, 14}), ("lock_gil_1st", {9, 14})])
def test_flight_recorder_dumps_name_the_injected_ranks(run, ranks):
    verdicts = detect(read([FOLDER / "flight_recorder" / run]))
    assert {verdict.entity for verdict in verdicts} == ranks
    assert {verdict.kind for verdict in verdicts} <= {"comm_hang", "noncomm_hang"}
