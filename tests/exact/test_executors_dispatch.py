"""The dispatcher gives every task's result once, whatever happens to the workers."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import executor_tasks as work
import pytest
from processes import descendants, survivors

from c4sim.executors import LOST_ALONE, ExecutorError, Inline, Local, Lost, dispatch
from c4sim.executors.dispatch import LOST_TOGETHER


def test_inline_gives_every_result() -> None:
    assert dict(dispatch(Inline(), work.square, range(5))) == {0: 0, 1: 1, 2: 4, 3: 9, 4: 16}


def test_workers_give_every_result() -> None:
    assert dict(dispatch(Local(2), work.square, range(20))) == {n: n * n for n in range(20)}


def test_tasks_are_pulled_only_as_fast_as_they_run() -> None:
    pulled: list[int] = []

    def tasks():
        for n in range(100):
            pulled.append(n)
            yield n

    results = dispatch(Local(2), work.square, tasks())
    next(results)
    assert len(pulled) <= 8
    results.close()


def test_a_killed_workers_chunk_is_run_again(tmp_path: Path) -> None:
    tasks = [(n, str(tmp_path)) for n in range(8)]
    assert sorted(r for _, r in dispatch(Local(2), work.square_but_die_once, tasks)) == [n * n for n in range(8)]
    assert (tmp_path / "died").exists()


def test_a_task_that_kills_every_worker_is_given_up_and_no_other(tmp_path: Path) -> None:
    results = {task[0]: r for task, r in dispatch(Local(2), work.die_at_three, [(n, str(tmp_path)) for n in range(10)])}
    assert results[3] == Lost(LOST_TOGETHER + LOST_ALONE)
    assert {n: r for n, r in results.items() if n != 3} == {n: n * n for n in range(10) if n != 3}
    company = [int(line) for line in (tmp_path / "company").read_text().split()]
    assert company[LOST_TOGETHER:] == [0] * LOST_ALONE


@pytest.mark.parametrize("backend", [Inline(), Local(1)], ids=["inline", "local"])
def test_an_error_of_the_work_reaches_the_caller(backend: Inline | Local) -> None:
    with pytest.raises(ValueError, match=r"cannot do \d"):
        list(dispatch(backend, work.fail, range(3)))


def test_no_workers_are_refused() -> None:
    with pytest.raises(ExecutorError, match=r"workers: must be a whole number of at least 1 \(got 0\)"):
        Local(0)


PARENT = """
import executor_tasks as work
from c4sim.executors import Local, dispatch
if __name__ == "__main__":
    for task, _ in dispatch(Local(2), work.slow_square, range(100_000)):
        print(task, flush=True)
"""


def test_a_killed_parent_leaves_no_process(tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    path = os.pathsep.join(p for p in sys.path if p)
    parent = subprocess.Popen(
        [sys.executable, str(script)], env=dict(os.environ, PYTHONPATH=path), stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    parent.stdout.readline()
    family = descendants(parent.pid)
    assert len(family) >= 3  # two workers and the server that forked them
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    assert survivors(family) == []
