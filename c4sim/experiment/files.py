"""Files that are there whole or not at all, and locks that a killed process gives back."""

import contextlib
import csv
import io
import json
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any


class StorageError(OSError):
    """A result that could not be written; what was written before is whole and the sweep can go on from it."""

    def __init__(self, path: Path, error: OSError) -> None:
        reason = error.strerror or str(error)
        super().__init__(
            f"{path}: cannot be written: {reason}. Finished work is kept: "
            "make room (or make the folder writable) and run the same command again"
        )


def replace(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` make a temporary file beside `path`, then put it in place at once. Raises StorageError."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        write(temporary)
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise StorageError(path, error) from error
        raise


def replace_text(path: Path, text: str) -> None:
    """Write a text file whole."""
    replace(path, lambda temporary: temporary.write_text(text, encoding="utf-8"))


def csv_text(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A CSV table; floats as the shortest text that reads back to the same float, None as nothing, the rest as JSON."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([[_cell(cell) for cell in row] for row in rows])
    return out.getvalue()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value)


def make_folder(folder: Path) -> None:
    """Make a folder and its parents. Raises StorageError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(folder, error) from error


class InUseError(RuntimeError):
    """Another process holds the lock."""


@contextlib.contextmanager
def lock(path: Path, *, wait: bool = False) -> Iterator[None]:
    """Hold a lock of the operating system, which falls back when its holder dies. Raises InUseError."""
    import fcntl

    try:
        handle = path.open("a")
    except OSError as error:
        raise StorageError(path, error) from error
    with handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            raise InUseError(str(path)) from None
        yield
