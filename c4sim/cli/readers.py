"""Readers of option values: text in, value out, ValueError with what is allowed."""

import math
import os
from collections.abc import Callable, Sequence
from pathlib import Path


def one_of(*allowed: str) -> Callable[[str], str]:
    """A reader of one of some words."""

    def reader(text: str) -> str:
        if text not in allowed:
            raise ValueError(f"must be one of {', '.join(allowed)}")
        return text

    return reader


def whole(least: int, most: int = 2**64 - 1) -> Callable[[str], int]:
    """A reader of whole numbers from `least` to `most`."""

    def reader(text: str) -> int:
        if not (text.isascii() and text.isdecimal() and len(text) <= 20 and least <= int(text) <= most):
            raise ValueError(f"must be a whole number from {least} to {most}")
        return int(text)

    return reader


def whole_or_auto(least: int, most: int = 2**64 - 1) -> Callable[[str], int | str]:
    """A reader of whole numbers, or `auto`."""

    def reader(text: str) -> int | str:
        return text if text == "auto" else whole(least, most)(text)

    return reader


def share(text: str) -> float:
    """A share: 0.1pp, 1.5%, 0.015."""
    from c4sim.units import parse_share

    try:
        number = float(text)
    except ValueError:
        return parse_share(text)
    return parse_share(number)


def probability(text: str) -> float:
    """A probability strictly between 0 and 1."""
    value = share(text)
    if not 0.0 < value < 1.0:
        raise ValueError("must lie between 0 and 1")
    return value


def positive(text: str) -> float:
    """A finite number above 0."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0.0 < value < math.inf:
        raise ValueError("must be a finite number above 0")
    return value


def duration(text: str) -> float:
    """A duration above 0 with its unit, in seconds."""
    from c4sim.units import parse_duration

    value = parse_duration(text)
    if not value > 0.0:
        raise ValueError("must be longer than 0")
    return value


def durations(text: str) -> list[float]:
    """Durations separated by commas, in seconds."""
    found, wrong = [], []
    for part in text.strip("[]").split(","):
        try:
            found.append(duration(part))
        except ValueError as error:
            wrong.append(f"{part.strip()!r}: {error}")
    if wrong:
        raise ValueError("; ".join(wrong))
    return found


def some_text(text: str) -> str:
    """Any text but none."""
    if not text:
        raise ValueError("must not be empty")
    return text


def address(text: str) -> str:
    """The address of a Dask scheduler."""
    from c4sim.executors import check_address

    return check_address(text)


def folder(text: str) -> str:
    """A folder to write to, which may not be there yet."""
    at = Path(some_text(text))
    there = _first_that_exists((at, *at.absolute().parents))
    if not there.is_dir():
        raise ValueError(f"{there} is no folder")
    return _writable(text, there)


def file(text: str) -> str:
    """A file to write, in a folder that is there."""
    at = Path(some_text(text))
    if not at.absolute().parent.is_dir():
        raise ValueError(f"there is no folder {at.parent}")
    there = _first_that_exists((at, at.absolute().parent))
    if at.is_dir():
        raise ValueError("is a folder")
    return _writable(text, there)


def _first_that_exists(paths: Sequence[Path]) -> Path:
    try:
        return next(path for path in paths if path.exists())
    except OSError as error:
        raise ValueError(f"cannot be a path: {error.strerror}") from error


def _writable(text: str, there: Path) -> str:
    if not os.access(there, os.W_OK):
        raise ValueError(f"{there} cannot be written to")
    return text


def text_format(text: str) -> str:
    """Output: a table for people, or one JSON document."""
    return one_of("text", "json")(text)
