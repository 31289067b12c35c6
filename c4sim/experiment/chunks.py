"""A chunk: replications of one or several points that one worker runs in about a second."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from c4sim.experiment.kernel import Kernel
from c4sim.scenario import Scenario


@dataclass(frozen=True)
class Span:
    """Replications start .. stop - 1 of one point. `key` is the point's part in the key of its random streams."""

    number: int
    scenario: Scenario
    key: int
    start: int
    stop: int


@dataclass(frozen=True)
class Chunk:
    """Work for one worker: `keep_ledger` brings the ledgers back too."""

    spans: tuple[Span, ...]
    seed: int
    kernel: Kernel
    keep_ledger: bool = False

    @property
    def replications(self) -> int:
        """Number of replications in the chunk."""
        return sum(span.stop - span.start for span in self.spans)


@dataclass
class SpanResult:
    """What a span gave: totals of shape (replications run, columns), and the error that ended it, if one did."""

    span: Span
    totals: NDArray[np.float64]
    cpu_s: float
    error: str | None = None
    ledgers: list[Any] = field(default_factory=list)


def run_chunk(chunk: Chunk) -> list[SpanResult]:
    """Run every replication of the chunk, span by span. An error ends its span only and is told in words."""
    return [_run_span(chunk, span) for span in chunk.spans]


def _run_span(chunk: Chunk, span: Span) -> SpanResult:
    kernel, rows, ledgers, error = chunk.kernel, [], [], None
    started = time.process_time()
    width = len(kernel.columns(span.scenario))
    for replication in range(span.start, span.stop):
        try:
            ledger = kernel.run(span.scenario, chunk.seed, span.key, replication)
            rows.append(kernel.totals(ledger, span.scenario))
        except Exception as problem:  # noqa: BLE001 - one bad point must not hide the others
            error = f"replication {replication}: {type(problem).__name__}: {problem}"
            break
        if chunk.keep_ledger:
            ledgers.append(ledger)
    return SpanResult(span, _matrix(rows, width), time.process_time() - started, error, ledgers)


def _matrix(rows: Sequence[NDArray[Any]], width: int) -> NDArray[np.float64]:
    return np.array(rows, dtype=np.float64).reshape(len(rows), width)
