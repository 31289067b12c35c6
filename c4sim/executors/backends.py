"""Backends: how to get a `concurrent.futures.Executor`, how many chunks it runs, what a lost worker looks like."""

import multiprocessing
import os
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from typing import Any, Protocol

from c4sim.executors.worker import watch_parent


class ExecutorError(OSError):
    """The workers cannot be had; the message says why and what to do."""


class Backend(Protocol):
    """Where chunks run.

    lost: exceptions that say that the worker died, not that the work failed.
    breaks: one lost worker makes the whole executor unusable.
    """

    lost: tuple[type[BaseException], ...]
    breaks: bool

    def width(self) -> int:
        """Number of chunks that run at the same time."""

    def start(self) -> Executor:
        """A working executor; asked again after the last one lost a worker."""

    def close(self) -> None:
        """Release what outlives a single executor."""


class _CallingExecutor(Executor):
    """Runs the work in `submit`, in this process."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 - an executor hands every error to whoever asks for the result
            future.set_exception(error)
        return future


class Inline:
    """Run chunks in this process, one after the other."""

    lost: tuple[type[BaseException], ...] = ()
    breaks = False

    def width(self) -> int:
        return 1

    def start(self) -> Executor:
        return _CallingExecutor()

    def close(self) -> None:
        return


class Local:
    """`workers` processes of this machine, forked from a server without threads: threads of the caller do no harm.

    A script that asks for workers at its top level needs `if __name__ == "__main__":`, as each worker reads it again.
    preload: modules that the server imports once, so that a worker starts within milliseconds.
    """

    lost: tuple[type[BaseException], ...] = (BrokenExecutor,)
    breaks = True

    def __init__(self, workers: int | None = None, preload: Sequence[str] = ()) -> None:
        self.preload = ["c4sim.executors.worker", *preload]
        self.workers = cpu_count() if workers is None else workers
        if not isinstance(self.workers, int) or self.workers < 1:
            raise ExecutorError(f"workers: must be a whole number of at least 1 (got {workers!r})")

    def width(self) -> int:
        return self.workers

    def start(self) -> Executor:
        """A pool of `workers` processes; each ends when this one does."""
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(self.preload)
        return ProcessPoolExecutor(self.workers, mp_context=context, initializer=watch_parent)

    def close(self) -> None:
        return


def cpu_count() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
