"""Cut spans into chunks of about a second, by what the replications have cost so far."""

from collections.abc import Iterable, Iterator

from c4sim.experiment.chunks import Chunk, Span, SpanResult
from c4sim.experiment.kernel import Kernel

TARGET_S = 1.0
FIRST = 4
# Points differ in cost: a chunk never holds more than this times the replications of the chunk before it.
GROWTH = 4
# A chunk's totals travel and are held whole: some hundred numbers a replication.
MOST = 20_000


class Cutter:
    """Iterator of chunks. Tell it what each result cost; it sizes the next chunk by the latest costs.

    Sizes depend on timing; results do not, as every replication has its own key.
    """

    def __init__(self, spans: Iterable[Span], seed: int, kernel: Kernel, *, keep_ledger: bool = False) -> None:
        self._spans = iter(spans)
        self._rest: Span | None = None
        self._seed, self._kernel, self._keep = seed, kernel, keep_ledger
        self._size = FIRST
        self._skip: set[int] = set()

    def cost(self, results: list[SpanResult]) -> None:
        """Learn from a finished chunk."""
        count = sum(len(result.totals) for result in results)
        seconds = sum(result.cpu_s for result in results)
        if count:
            wanted = TARGET_S * count / seconds if seconds > 0.0 else float("inf")
            self._size = max(1, int(min(wanted, GROWTH * max(count, FIRST), MOST)))

    def drop(self, number: int) -> None:
        """Cut no more chunks of this point."""
        self._skip.add(number)

    def __iter__(self) -> Iterator[Chunk]:
        return self

    def __next__(self) -> Chunk:
        room, taken = self._size, []
        while room > 0:
            span = self._take(room)
            if span is None:
                break
            taken.append(span)
            room -= span.stop - span.start
        if not taken:
            raise StopIteration
        return Chunk(tuple(taken), self._seed, self._kernel, self._keep)

    def _take(self, room: int) -> Span | None:
        """The next span of at most `room` replications; what is longer stays for later."""
        span = self._rest or next(self._spans, None)
        self._rest = None
        while span is not None and span.number in self._skip:
            span = next(self._spans, None)
        if span is None or span.stop - span.start <= room:
            return span
        cut = span.start + room
        self._rest = Span(span.number, span.scenario, span.key, cut, span.stop)
        return Span(span.number, span.scenario, span.key, span.start, cut)
