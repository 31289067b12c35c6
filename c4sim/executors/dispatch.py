"""Run a stream of tasks on a backend, surviving lost workers.

The tasks are pulled one at a time, only as fast as workers take them, so that the caller can size the next task by what
the last ones cost and memory stays flat whatever their number.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass
from typing import Generic, TypeVar

from c4sim.executors.backends import Backend

T = TypeVar("T")
R = TypeVar("R")

# Chunks waiting at the workers beside the running ones: none idles while the parent stores a result.
AHEAD = 2
# A task whose workers died this often runs alone from then on: if that one dies too, no neighbour can be at fault.
LOST_TOGETHER = 2
LOST_ALONE = 2


@dataclass(frozen=True)
class Lost:
    """A task that killed its worker each time it ran alone."""

    times: int

    def __str__(self) -> str:
        return f"the worker process died {self.times} times (killed from outside, or out of memory)"


@dataclass
class _Task(Generic[T]):
    work: T
    lost: int = 0

    @property
    def suspect(self) -> bool:
        return self.lost >= LOST_TOGETHER


class _Dispatcher(Generic[T, R]):
    def __init__(self, backend: Backend, function: Callable[[T], R], tasks: Iterable[T]) -> None:
        self.backend = backend
        self.function = function
        self.tasks = iter(tasks)
        self.again: deque[_Task[T]] = deque()
        self.suspects: deque[_Task[T]] = deque()
        self.running: dict[Future[R], _Task[T]] = {}
        self.executor: Executor | None = None

    def results(self) -> Iterator[tuple[T, R | Lost]]:
        try:
            while self._fill():
                done = wait(self.running, return_when=FIRST_COMPLETED).done
                yield from self._collect(done)
        finally:
            self._stop(cancel=True)

    def _fill(self) -> bool:
        """Submit what may run now; False when nothing runs any more."""
        room = self.backend.width() * AHEAD if self.backend.lost else 1
        while len(self.running) < room:
            task = self._next()
            if task is None:
                break
            self._submit(task)
        return bool(self.running)

    def _next(self) -> _Task[T] | None:
        if self.suspects:
            return self.suspects.popleft() if not self.running else None
        if any(task.suspect for task in self.running.values()):
            return None
        if self.again:
            return self.again.popleft()
        for work in self.tasks:
            return _Task(work)
        return None

    def _submit(self, task: _Task[T]) -> None:
        if self.executor is None:
            self.executor = self.backend.start()
        try:
            self.running[self.executor.submit(self.function, task.work)] = task
        except self.backend.lost:
            # Broken by a worker that died between two chunks: nothing of this task ran.
            self._stop(cancel=False)
            self.again.appendleft(task)

    def _collect(self, done: set[Future[R]]) -> Iterator[tuple[T, R | Lost]]:
        broken = False
        for future in done:
            task = self.running.pop(future)
            try:
                result = future.result()
            except self.backend.lost:
                broken = self.backend.breaks
                yield from self._take_back(task)
            else:
                yield task.work, result
        if broken:
            # The whole executor is lost: every other future of it fails at once, and a new one takes over.
            yield from self._collect(wait(self.running).done)
            self._stop(cancel=False)

    def _take_back(self, task: _Task[T]) -> Iterator[tuple[T, Lost]]:
        task.lost += 1
        if task.lost >= LOST_TOGETHER + LOST_ALONE:
            yield task.work, Lost(task.lost)
        else:
            (self.suspects if task.suspect else self.again).append(task)

    def _stop(self, *, cancel: bool) -> None:
        if self.executor is None:
            return
        if cancel:
            # Not by shutdown(cancel_futures=True), which Dask's executor does not know.
            for future in self.running:
                future.cancel()
        self.executor.shutdown(wait=cancel)
        self.executor = None


def dispatch(backend: Backend, function: Callable[[T], R], tasks: Iterable[T]) -> Iterator[tuple[T, R | Lost]]:
    """Yield (task, result) as tasks finish, in any order; (task, Lost) for a task that kills its workers.

    A task whose worker was lost runs again, so `function` must give the same result each time. What `function` raises
    ends the iteration with that exception; closing the iterator cancels what has not started.
    """
    return _Dispatcher(backend, function, tasks).results()
