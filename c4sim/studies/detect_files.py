"""What can be said about the files named to ``c4sim detect`` before they are read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from c4sim.detector.readers.flight_recorder import looks_like

#: A ZIP archive starts with the header of its first member, an empty one with its end.
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")


def check_files(files: Sequence[str | Path]) -> None:
    """Refuse what the readers would refuse without naming the file.

    Raises:
        ValueError: for a file called .npz that is no archive, and a folder without flight recorder dumps.
    """
    for path in map(Path, files):
        if path.is_dir():
            _check_folder(path)
        elif path.suffix.lower() == ".npz" and path.is_file():
            _check_archive(path)


def _check_folder(folder: Path) -> None:
    if not any(entry.is_file() and looks_like(entry) for entry in sorted(folder.iterdir())):
        raise ValueError(
            f"{folder}: holds no flight recorder dump (a pickle or JSON file for each rank, directly in the folder); "
            "telemetry in .npz, .parquet or .csv is named file by file"
        )


def _check_archive(path: Path) -> None:
    with path.open("rb") as stream:
        if stream.read(4) not in _ZIP:
            raise ValueError(f"{path}: is not an .npz archive; one with a named array for each field is needed")
