"""Run spans of replications on a backend, chunk by chunk."""

from collections.abc import Generator, Iterable, Sequence
from typing import Protocol

import numpy as np

from c4sim.executors import Backend, Inline, Local, Lost, dispatch
from c4sim.experiment.chunks import Span, SpanResult, run_chunk
from c4sim.experiment.cutting import Cutter
from c4sim.experiment.kernel import Kernel


class Progress(Protocol):
    """Told after every chunk: replications done and wanted in all, and points that failed."""

    def update(self, done: int, total: int, failed: int) -> None: ...


class ReplicationError(RuntimeError):
    """A replication that could not be run; the message names it and says why."""


PRELOAD = ("c4sim.experiment.chunks", "c4sim.metrics", "c4sim.simulation")


def backend_for(workers: int) -> Backend:
    """One worker is this process itself."""
    return Inline() if workers == 1 else Local(workers, PRELOAD)


def run_spans(
    spans: Iterable[Span], seed: int, kernel: Kernel, backend: Backend, *, keep_ledger: bool = False
) -> Generator[list[SpanResult], None, None]:
    """Yield what each chunk gave, in any order. After an error no further chunk of that point is started."""
    cutter = Cutter(spans, seed, kernel, keep_ledger=keep_ledger)
    for chunk, outcome in dispatch(backend, run_chunk, cutter):
        results = _lost(chunk.spans, kernel, outcome) if isinstance(outcome, Lost) else outcome
        cutter.cost(results)
        for result in results:
            if result.error is not None:
                cutter.drop(result.span.number)
        yield results


def _lost(spans: tuple[Span, ...], kernel: Kernel, lost: Lost) -> list[SpanResult]:
    return [SpanResult(span, np.empty((0, len(kernel.columns(span.scenario)))), 0.0, str(lost)) for span in spans]


def collect(
    spans: Sequence[Span],
    seed: int,
    kernel: Kernel,
    workers: int,
    *,
    keep_ledger: bool = False,
    progress: Progress | None = None,
) -> list[SpanResult]:
    """Run all the spans and return their results in order of (point, replication). Raises ReplicationError."""
    total, done, found = sum(span.stop - span.start for span in spans), 0, []
    backend = backend_for(workers)
    for results in run_spans(spans, seed, kernel, backend, keep_ledger=keep_ledger):
        for result in results:
            if result.error is not None:
                raise ReplicationError(result.error)
            done += len(result.totals)
            found.append(result)
        if progress is not None:
            progress.update(done, total, 0)
    return sorted(found, key=lambda result: (result.span.number, result.span.start))
