"""One process's share in a sweep: what is missing, run it, store it, and finish when nothing is missing any more."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from c4sim.executors import Backend
from c4sim.experiment.chunks import Span, SpanResult
from c4sim.experiment.files import lock
from c4sim.experiment.finish import Row, finish
from c4sim.experiment.plan import Point, SweepError
from c4sim.experiment.precision import Missed, Precision
from c4sim.experiment.running import Progress, run_spans
from c4sim.experiment.shards import Shard
from c4sim.experiment.status import Status, read_costs
from c4sim.experiment.store import STATUS, Store

FLUSH_S = 1.0
# No part sooner than this share of the time so far: a long sweep must not drown in files.
FLUSH_SHARE = 0.002
FLUSH_BYTES = 32_000_000


@dataclass(frozen=True)
class Outcome:
    """What a sweep gave.

    summary: rows of summary.csv, empty while replications of other shards are missing (`finished` is False then).
    failed: points with their error. ran: replications run now. cpu_s: processor time of the simulation, all runs of
    this sweep together. missed: points whose budget ended before their target was reached; None without a target or
    while the sweep is not finished. done, wanted: replications of all shards that are there and that are needed, as far
    as is known.
    """

    folder: Path
    summary: list[Row]
    failed: list[tuple[Point, str]]
    finished: bool
    ran: int
    cpu_s: float
    missed: list[tuple[Point, Missed]] | None = None
    done: int = 0
    wanted: int = 0

    @property
    def exit_code(self) -> int:
        """0, or 1 if points failed."""
        return 1 if self.failed else 0


def failure_text(point: Point, error: str) -> str:
    """A failed point in words."""
    values = " ".join(f"{key}={value}" for key, value in point.values.items())
    return f"point {point.number} ({values}): {error}" if values else f"point {point.number}: {error}"


class SweepRun:
    """State of a running sweep: which rows exist, what waits to be written, what failed."""

    def __init__(self, store: Store, shard: Shard, *, stop_at_error: bool, progress: Progress | None) -> None:
        self.store, self.plan, self.shard = store, store.plan, shard
        self.stop_at_error, self.progress = stop_at_error, progress
        self.status = Status(self.plan)
        self.status_path = store.folder / (STATUS if shard.count == 1 else shard.status_file())
        self.have: dict[int, NDArray[np.int64]] = {}
        self.buffer: list[SpanResult] = []
        self.began = time.monotonic()
        self.flushed = self.began - FLUSH_S
        self.ran = 0

    def go(self, make_backend: Callable[[], Backend]) -> Outcome:
        """Run until nothing of this share is missing."""
        if self.shard.count == 1:
            self.store.remove_leftovers()
        for number, (cpu_s, _) in read_costs(self.status_path).items():
            self.status.cpu_s[number] = cpu_s
        self._take_stock()
        work = self._missing()
        if work:
            backend = make_backend()
            try:
                while work:
                    self._run(work, backend)
                    self._take_stock()
                    work = self._missing()
            finally:
                backend.close()
        return self._conclude()

    def _take_stock(self) -> None:
        self.have = self.store.coverage()
        self.status.done = {number: len(found) for number, found in self.have.items()}
        self._set_wanted()

    def _set_wanted(self) -> None:
        """How many replications each point needs, as far as is known by now."""
        replications = self.plan.replications
        for point in self.plan.points:
            self.status.wanted[point.number] = replications if isinstance(replications, int) else replications.first
        if isinstance(replications, Precision):
            self._set_wanted_by(replications)

    def _set_wanted_by(self, precision: Precision) -> None:
        """Follow the decisions of `precision` through the replications that are there."""
        valid = [point for point in self.plan.points if point.scenario is not None]
        definitions = {p.number: self.store.kernel.definitions(p.scenario) for p in valid if p.scenario is not None}
        missing = [number for number, found in definitions.items() if precision.metric not in found]
        if missing:
            raise SweepError(f"target: points {missing[:5]} have no metric {precision.metric!r}")
        gauges = [found[precision.metric] for found in definitions.values()]
        names = {name for g in gauges for name in (*g.numerator, g.denominator) if name is not None}
        table = self.store.read(sorted(names))
        for number, found in definitions.items():
            count, enough = precision.first, self._contiguous(number)
            totals = self.store.totals(table, number)
            while count <= enough:
                more = precision.more(totals.first(count).values(found[precision.metric]), count)
                if more == count:
                    break
                count = more
            self.status.wanted[number] = count

    def _contiguous(self, number: int) -> int:
        """Replications 0 .. k-1 that are there without a gap."""
        found = self.have[number]
        gaps = np.flatnonzero(found != np.arange(len(found)))
        return int(gaps[0]) if len(gaps) else len(found)

    def _missing(self) -> list[Span]:
        return [span for point in self.plan.points for span in self._missing_of(point)]

    def _missing_of(self, point: Point) -> Iterator[Span]:
        if point.scenario is None or point.number in self.status.errors:
            return
        wanted = self.status.wanted[point.number]
        lacking = self._owned(point.number, wanted)
        found = self.have[point.number]
        lacking[found[found < wanted]] = False
        edges = np.flatnonzero(np.diff(np.concatenate([[False], lacking, [False]]).astype(np.int8)))
        for start, stop in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
            yield Span(point.number, point.scenario, self.plan.key(point), start, stop)

    def _owned(self, number: int, wanted: int) -> NDArray[np.bool_]:
        if isinstance(self.plan.replications, Precision):
            return np.full(wanted, self.shard.owns_point(number))
        return self.shard.owned(number, wanted, len(self.plan.points))

    def _run(self, work: list[Span], backend: Backend) -> None:
        keep = self.store.ledgers is not None
        results = run_spans(work, self.plan.seed, self.store.kernel, backend, keep_ledger=keep)
        total = sum(self.status.done.values()) + sum(span.stop - span.start for span in work)
        try:
            for found in results:
                self._take(found)
                if self.progress is not None:
                    self.progress.update(sum(self.status.done.values()), total, len(self.status.errors))
        except (Exception, KeyboardInterrupt):
            results.close()
            self._flush_if_possible()
            raise
        self._flush()

    def _take(self, found: list[SpanResult]) -> None:
        for result in found:
            self.buffer.append(result)
            self.status.add(result)
            self.ran += len(result.totals)
            if result.error is not None and self.stop_at_error:
                point = self.plan.points[result.span.number]
                raise SweepError(failure_text(point, result.error))
        waited, elapsed = time.monotonic() - self.flushed, time.monotonic() - self.began
        size = sum(result.totals.nbytes for result in self.buffer)
        if waited >= max(FLUSH_S, FLUSH_SHARE * elapsed) or size >= FLUSH_BYTES:
            self._flush()

    def _flush(self) -> None:
        buffer, self.buffer = self.buffer, []
        self.store.add(buffer)
        self.status.write(self.status_path)
        self.flushed = time.monotonic()

    def _flush_if_possible(self) -> None:
        try:
            self._flush()
        except OSError:
            # The error that ended the sweep is the one to tell, and what could not be written runs again.
            self.buffer = []

    def _conclude(self) -> Outcome:
        self._hear_others()
        complete = not any(self._lacking(point) for point in self.plan.points)
        summary: list[Row] = []
        if complete:
            with lock(self.store.folder / ".lock-finish", wait=True):
                summary = finish(self.store, self._finished_counts())
                self.status.write(self.store.folder / STATUS)
                for path in self.store.folder.glob("status-*.csv"):
                    path.unlink(missing_ok=True)
        else:
            self.status.write(self.status_path)
        failed = [(self.plan.points[number], error) for number, error in sorted(self.status.errors.items())]
        cpu_s = sum(self.status.cpu_s.values())
        missed, wanted = self._missed(summary), self._finished_counts()
        done = sum(min(len(self.have[number]), count) for number, count in wanted.items())
        return Outcome(
            self.store.folder, summary, failed, complete, self.ran, cpu_s, missed, done, sum(wanted.values())
        )

    def _missed(self, summary: list[Row]) -> list[tuple[Point, Missed]] | None:
        precision = self.plan.replications
        if isinstance(precision, int) or not summary:
            return None
        ends = (f"{precision.metric}.low", f"{precision.metric}.high")
        found = [precision.missed(row["n"], *(row.get(end) for end in ends)) for row in summary]
        return [(point, missed) for point, missed in zip(self.plan.points, found, strict=True) if missed is not None]

    def _hear_others(self) -> None:
        """Errors and costs that other shards have told of."""
        for path in self.store.folder.glob("status-*.csv"):
            if path != self.status_path:
                for number, (cpu_s, error) in read_costs(path).items():
                    self.status.cpu_s[number] = self.status.cpu_s.get(number, 0.0) + cpu_s
                    if error is not None:
                        self.status.errors.setdefault(number, error)

    def _lacking(self, point: Point) -> bool:
        number = point.number
        return number not in self.status.errors and self._contiguous(number) < self.status.wanted[number]

    def _finished_counts(self) -> dict[int, int]:
        wanted = self.status.wanted
        return {p.number: wanted[p.number] for p in self.plan.points if p.number not in self.status.errors}
