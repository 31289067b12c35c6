"""Reading the plain files that a user names: below the current or the configuration folder only, of bounded size."""

import csv
import stat
from pathlib import Path
from typing import Any

LARGEST_TABLE = 8_000_000
MOST_ROWS = 100_000
_LONGEST_NUMBER = 19


class FileRefusedError(ValueError):
    """A file that is not read; the message says why."""


def read_table(name: str, config_dir: Path | None) -> tuple[list[str], list[list[str]]]:
    """Header and rows of a CSV file; blank lines and lines that start with # are left out.

    Raises FileRefusedError when it lies outside, is no plain file, is too large, or its rows do not fit its header.
    """
    path = _permitted(name, config_dir)
    try:
        with path.open(encoding="utf-8", newline="") as lines:
            plain = (line for line in lines if line.strip() and not line.startswith("#"))
            rows = list(csv.reader(plain, skipinitialspace=True, strict=True))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise FileRefusedError(f"cannot be read: {error}") from error
    if not rows:
        raise FileRefusedError("is empty")
    header = [cell.strip() for cell in rows[0]]
    for number, row in enumerate(rows[1:], start=1):
        if len(row) != len(header):
            raise FileRefusedError(f"row {number} has {len(row)} cells, the header {len(header)}")
    if len(rows) - 1 > MOST_ROWS:
        raise FileRefusedError(f"has more than {MOST_ROWS:,} rows")
    return header, rows[1:]


def read_fault_list(name: str, config_dir: Path | None) -> list[dict[str, Any]]:
    """The scripted faults in a CSV file with the columns time, node and kind in any order."""
    header, rows = read_table(name, config_dir)
    if sorted(header) != ["kind", "node", "time"]:
        raise FileRefusedError(f"needs the columns time, node, kind; has {', '.join(header)}")
    faults = []
    for row in rows:
        fault: dict[str, Any] = {column: cell.strip() for column, cell in zip(header, row, strict=True)}
        if fault["node"].isdecimal() and len(fault["node"]) < _LONGEST_NUMBER:
            fault["node"] = int(fault["node"])
        faults.append(fault)
    return faults


def _permitted(name: str, config_dir: Path | None) -> Path:
    folders = [Path.cwd()] + ([] if config_dir is None else [config_dir.resolve()])
    candidates = [(folder / name).resolve() for folder in folders]
    inside = [path for path in candidates if any(path.is_relative_to(folder) for folder in folders)]
    path = next((path for path in inside if path.exists()), None)
    if path is None:
        outside = len(inside) < len(candidates)  # links lead out of one folder and not of the other
        raise FileRefusedError(
            "lies outside the current folder and the configuration folder" if outside else "no such file"
        )
    facts = path.stat()
    if not stat.S_ISREG(facts.st_mode):
        raise FileRefusedError("is not a plain file")
    if facts.st_size > LARGEST_TABLE:
        raise FileRefusedError(f"is larger than {LARGEST_TABLE:,} bytes")
    return path
