"""Read one part of a sweep's replications; a damaged one is named with what to do about it."""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from c4sim.experiment.plan import SweepError

_NOBODY = (0, -1)


def read_part(path: Path, names: Sequence[str], keep: Any = None) -> Any:
    """The columns `names` of a part as an Arrow table; keep: a filter of rows.

    Raises SweepError for a file that is damaged or no part of a sweep.
    """
    with _damage_told(path):
        return pq.read_table(path, columns=list(names), filters=keep, use_threads=False)


def range_of_points(path: Path) -> tuple[int, int]:
    """Least and greatest point number in a part; (0, -1) if it has no rows. Raises SweepError."""
    with _damage_told(path):
        metadata = pq.read_metadata(path)
        groups = [metadata.row_group(i).column(0).statistics for i in range(metadata.num_row_groups)]
    known = [group for group in groups if group is not None and group.has_min_max]
    return (min(g.min for g in known), max(g.max for g in known)) if known else _NOBODY


@contextlib.contextmanager
def _damage_told(path: Path) -> Iterator[None]:
    try:
        yield
    except pa.ArrowException as error:
        raise _damaged(path, _first_line(error)) from None
    except OSError as error:
        # Arrow reports broken content in this way too; an error of the system has a number.
        if error.errno is not None:
            raise
        raise _damaged(path, _first_line(error)) from None


def _damaged(path: Path, reason: str) -> SweepError:
    return SweepError(
        f"{path}: is damaged ({reason}). Delete it and run the same command again: "
        "only the replications in this file are run again"
    )


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__).rstrip(".")
