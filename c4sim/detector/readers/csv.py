"""CSV of step times, the least that a user has.

Wide: one column a rank, one row a step, an optional ``step`` column. Long: ``step``, ``rank`` (or
``worker``) and one column of seconds. Seconds are wall times (``wall_s``) unless the long form's column
is named after another field, such as ``compute_s``.
"""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from c4sim.detector.errors import TelemetryError
from c4sim.detector.telemetry import Telemetry

Array = NDArray[Any]
_FIELDS = ("wall_s", "compute_s", "input_s", "arrival_s", "load")
_WORKER = ("rank", "worker")
_MISSING = ("", "na", "nan", "null", "none")


def read(path: Path) -> Telemetry:
    """Telemetry of a CSV file.

    Raises:
        TelemetryError: naming the file and line of a value that is no number, or a missing header.
    """
    try:
        with path.open(newline="", encoding="utf-8-sig") as stream:
            rows = [row for row in csv.reader(stream, strict=True) if row]
    except (UnicodeDecodeError, csv.Error) as error:
        raise TelemetryError(str(path), f"is not readable as CSV ({error})") from None
    if len(rows) < 2:
        raise TelemetryError(str(path), "needs a header and at least one row")
    header = [name.strip() for name in rows[0]]
    if len(set(header)) < len(header):
        raise TelemetryError(str(path), "has the same column twice")
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != len(header):
            raise TelemetryError(str(path), f"line {number} has {len(row)} values, the header {len(header)}")
    if any(name in header for name in _WORKER):
        return _long(path, header, rows[1:])
    return _wide(path, header, rows[1:])


def _wide(path: Path, header: list[str], rows: list[list[str]]) -> Telemetry:
    ranks = [index for index, name in enumerate(header) if name.lower() != "step"]
    values = [[_number(path, line, row[index]) for index in ranks] for line, row in enumerate(rows, start=2)]
    return Telemetry(wall_s=np.array(values), worker=_labels([header[index] for index in ranks]))


def _long(path: Path, header: list[str], rows: list[list[str]]) -> Telemetry:
    worker = header.index(next(name for name in _WORKER if name in header))
    if "step" not in header:
        raise TelemetryError(str(path), "has no column step")
    step = header.index("step")
    others = [index for index in range(len(header)) if index not in (worker, step)]
    named = [index for index in others if header[index] in _FIELDS]
    if not named and len(others) == 1:
        named = others
    if not named:
        raise TelemetryError(str(path), f"has no column of seconds (any of {', '.join(_FIELDS)})")
    steps = sorted({_number(path, line, row[step]) for line, row in enumerate(rows, start=2)})
    labels = list(dict.fromkeys(row[worker].strip() for row in rows))
    fields: dict[str, Array] = {}
    for index in named:
        matrix = np.full((len(steps), len(labels)), np.nan)
        for line, row in enumerate(rows, start=2):
            cell = steps.index(_number(path, line, row[step])), labels.index(row[worker].strip())
            matrix[cell] = _number(path, line, row[index])
        fields[header[index] if header[index] in _FIELDS else "wall_s"] = matrix
    return Telemetry(worker=_labels(labels), **fields)


def _labels(names: list[str]) -> Array:
    """Whole numbers where all names are (``rank`` or ``rank_`` before them is dropped), else text."""
    bare = [name.strip().lower().removeprefix("rank").strip(" _-") for name in names]
    return np.array([int(name) for name in bare]) if all(name.isdigit() for name in bare) else np.array(names)


def _number(path: Path, line: int, text: str) -> float:
    if text.strip().lower() in _MISSING:
        return math.nan
    try:
        return float(text)
    except ValueError:
        raise TelemetryError(str(path), f"line {line}: {text.strip()!r} is not a number") from None
