"""Progress with rate and time left, on stderr."""

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, TextIO

EVERY_S = 10.0


class Lines:
    """A line every ten seconds, for logs."""

    def __init__(self, label: str, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self.label, self.stream, self.clock = label, stream, clock
        self.began = self.said = clock()
        self.first: int | None = None

    def update(self, done: int, total: int, failed: int) -> None:
        """Say how far it is, if the last word was long enough ago."""
        if self.first is None:
            # What an earlier run had done already says nothing about the rate of this one.
            self.first = done
        now = self.clock()
        if now - self.said >= EVERY_S:
            self.said = now
            self.stream.write(self._line(done, total, failed, now - self.began) + "\n")
            self.stream.flush()

    def _line(self, done: int, total: int, failed: int, seconds: float) -> str:
        rate = (done - (self.first or 0)) / seconds
        left = f", {(total - done) / rate:.0f} s left" if rate > 0.0 else ""
        wrong = f", {failed} points failed" if failed else ""
        return (
            f"{self.label}: {done} of {total} replications ({100 * done // max(total, 1)} %), {rate:.3g}/s{left}{wrong}"
        )


class _Bar:
    def __init__(self, shown: Any, task: Any) -> None:
        self.shown, self.task = shown, task
        self.began = time.monotonic()
        self.first: int | None = None

    def update(self, done: int, total: int, failed: int) -> None:
        if self.first is None:
            self.first = done
        rate = (done - self.first) / max(time.monotonic() - self.began, 1e-9)
        wrong = f" [red]{failed} failed[/red]" if failed else ""
        self.shown.update(self.task, completed=done, total=total, wrong=wrong, rate=f"{rate:.3g}")


@contextlib.contextmanager
def bar(label: str) -> Iterator[_Bar | Lines]:
    """A bar if stderr is a terminal, else a line now and then."""
    if not sys.stderr.isatty():
        yield Lines(label, sys.stderr)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    text = TextColumn(label + "{task.fields[wrong]}")
    rate = TextColumn("{task.fields[rate]}/s")
    columns = (text, BarColumn(), MofNCompleteColumn(), rate, TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        yield _Bar(shown, shown.add_task(label, total=None, wrong="", rate="-"))
