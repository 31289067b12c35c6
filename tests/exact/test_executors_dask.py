"""Two Dask worker processes, one of them killed in the middle: the table is the same to the bit."""

import os
import signal
from pathlib import Path

import experiment_fakes as fakes
import pandas as pd
import pytest
from processes import survivors

from c4sim.executors import Dask, ExecutorError, check_address
from c4sim.experiment import Plan, Point, sweep
from c4sim.scenario import Scenario

distributed = pytest.importorskip("distributed")
# The cluster's own threads and sockets are not ours to keep tidy.
pytestmark = pytest.mark.filterwarnings("ignore")


class Killer:
    """A progress that kills one worker as soon as something is done."""

    def __init__(self, pid: int) -> None:
        self.pid: int | None = pid

    def update(self, done: int, total: int, failed: int) -> None:
        if self.pid is not None and 0 < done < total:
            os.kill(self.pid, signal.SIGKILL)
            self.pid = None


def test_a_killed_dask_worker_changes_nothing(tmp_path: Path) -> None:
    plan = Plan(Scenario(), (Point(0, {}, Scenario()),), 40, 3)
    sweep(plan, tmp_path / "alone", workers=1, kernel=fakes.FAST)
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        pids = [worker.process.pid for worker in cluster.workers.values()]
        killer = Killer(pids[0])
        sweep(
            plan,
            tmp_path / "dask",
            executor="dask",
            address=cluster.scheduler_address,
            progress=killer,
            kernel=fakes.SLOW,
        )
        assert killer.pid is None
        assert survivors(pids[:1]) == []
    tables = [(tmp_path / name / "summary.csv").read_bytes() for name in ("alone", "dask")]
    assert tables[0] == tables[1]
    frames = [pd.read_parquet(tmp_path / name / "replications") for name in ("alone", "dask")]
    assert frames[0].equals(frames[1])


def test_no_scheduler_is_an_error_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("c4sim.executors.dask.WAIT_FOR_WORKERS_S", 0.5)
    with pytest.raises(ExecutorError, match=r"no Dask worker at tcp://127\.0\.0\.1:1"):
        Dask("tcp://127.0.0.1:1")


@pytest.mark.parametrize("address", ["garbage", "host:", ":8786", "host:port", "http://host:8786", "tcp://host:99999"])
def test_what_is_no_address_is_refused_before_a_client_is_made(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that cannot read its address complains on stderr when it is collected, minutes later."""
    made: list[object] = []
    monkeypatch.setattr(distributed, "Client", lambda *words, **options: made.append((words, options)))
    with pytest.raises(ExecutorError, match=r"address: must be HOST:PORT or .* \(got "):
        Dask(address)
    assert made == []


@pytest.mark.parametrize("address", ["host:8786", "tcp://10.0.0.1:8786", "tls://[::1]:1", "ucx://host.domain:65535"])
def test_addresses(address: str) -> None:
    assert check_address(address) == address
