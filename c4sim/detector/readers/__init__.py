"""Files -> Telemetry: .npz and Parquet telemetry, traces, flight recorder dumps, CSV step times."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from c4sim.detector.errors import TelemetryError
from c4sim.detector.readers import csv, flight_recorder, parquet, trace
from c4sim.detector.readers.npz import load_npz, save_npz
from c4sim.detector.readers.parquet import save_parquet
from c4sim.detector.telemetry import Telemetry

__all__ = ["load_npz", "read", "save_npz", "save_parquet"]


def read(files: Sequence[str | Path]) -> Telemetry:
    """Read one telemetry file, or the flight recorder dumps of many ranks (files or their folder).

    Files are told apart by suffix (.npz, .parquet, .csv); anything else has to be a dump.

    Raises:
        TelemetryError: naming the file, when it is missing, damaged, or none of these.
    """
    paths = [path for name in files for path in _expanded(Path(name))]
    if not paths:
        raise TelemetryError("files", "needs at least one file")
    suffixes = {path.suffix.lower() for path in paths}
    if not suffixes & {".npz", ".parquet", ".csv"}:
        return _dumps(paths)
    if len(paths) > 1:
        raise TelemetryError(str(paths[1]), "only flight recorder dumps are read together, one file a rank")
    return _one(paths[0])


def _expanded(path: Path) -> list[Path]:
    if path.is_dir():
        return [entry for entry in sorted(path.iterdir()) if entry.is_file() and flight_recorder.looks_like(entry)]
    if not path.is_file():
        raise TelemetryError(str(path), "does not exist")
    return [path]


def _one(path: Path) -> Telemetry:
    if path.suffix.lower() == ".npz":
        return load_npz(path)
    if path.suffix.lower() == ".csv":
        return csv.read(path)
    return _parquet(path)


def _parquet(path: Path) -> Telemetry:
    import pandas as pd  # late: half a second

    try:
        frame = pd.read_parquet(path)
    except Exception as error:  # noqa: BLE001 - the engine raises its own kinds for damaged files
        raise TelemetryError(str(path), f"is not a readable Parquet file ({type(error).__name__})") from None
    if "optype" in frame:
        return trace.read(frame, path)
    if not parquet.looks_like([str(name) for name in frame.columns]):
        raise TelemetryError(str(path), "holds neither telemetry (step, worker, ...) nor a trace (rank, step, optype)")
    return parquet.read(frame, path)


def _dumps(paths: list[Path]) -> Telemetry:
    for path in paths:
        if not flight_recorder.looks_like(path):
            raise TelemetryError(str(path), "is none of .npz, .parquet, .csv and no flight recorder dump")
    return flight_recorder.read(paths)
