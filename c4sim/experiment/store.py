"""The folder of a sweep: manifest.json, status.csv, summary.csv, replications/*.parquet.

Every replication is a row (point, replication, totals) of some part. Parts are only ever added whole, so what is in the
folder is the state of the sweep: to continue is to run the rows that are missing.
"""

import contextlib
import itertools
import json
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from c4sim.experiment.chunks import SpanResult
from c4sim.experiment.files import StorageError, make_folder, replace, replace_text
from c4sim.experiment.kernel import Kernel
from c4sim.experiment.parts import range_of_points, read_part
from c4sim.experiment.plan import Plan, SweepError, plan_differences
from c4sim.experiment.tables import FloatArray, Totals

KEYS = ("point", "replication")
MANIFEST, STATUS, SUMMARY = "manifest.json", "status.csv", "summary.csv"
PARTS, ALL, LEDGERS = "replications", "all.parquet", "ledgers"
MAX_MANIFEST_BYTES = 512_000_000
_SHOWN = 20
_LISTINGS = 5


class Store:
    """Reads and writes one sweep's folder."""

    def __init__(self, folder: Path, plan: Plan, kernel: Kernel, *, keep_ledger: bool = False) -> None:
        """Make the folder, or take up the one that is there. Raises SweepError if it holds another sweep."""
        self.folder, self.plan, self.kernel = folder, plan, kernel
        self.parts, self.ledgers = folder / PARTS, folder / LEDGERS if keep_ledger else None
        valid = [point.scenario for point in plan.points if point.scenario is not None]
        self.columns = list(dict.fromkeys(name for scenario in valid for name in kernel.columns(scenario)))
        self._serial = itertools.count()
        self._ranges: dict[str, tuple[int, int]] = {}
        make_folder(folder)
        # Claimed first: a refused sweep leaves the folder as it was.
        self._claim()
        make_folder(self.parts)
        if self.ledgers is not None:
            make_folder(self.ledgers)

    def _claim(self) -> None:
        path = self.folder / MANIFEST
        document = {**self.plan.document(), "ledger": "none" if self.ledgers is None else "keep"}
        if path.exists():
            lines = plan_differences(read_manifest(path), json.loads(json.dumps(document)))
            if lines:
                raise SweepError(_refusal(self.folder, lines))
        elif self.parts.is_dir() and any(self.parts.iterdir()):
            raise SweepError(f"{self.folder}: holds replications but no {MANIFEST}; use another folder")
        else:
            replace_text(path, json.dumps(document, indent=1, allow_nan=False) + "\n")

    def add(self, results: Sequence[SpanResult]) -> None:
        """Write the rows of these results as one part, their ledgers before it."""
        tables = [self._table(result) for result in results if len(result.totals)]
        if not tables:
            return
        name = f"part-{time.time_ns():x}-{os.getpid()}-{next(self._serial)}.parquet"
        if self.ledgers is not None:
            write_ledgers(self.ledgers / name, results)
        table = pa.concat_tables(tables)
        replace(self.parts / name, lambda temporary: pq.write_table(table, temporary))

    def _table(self, result: SpanResult) -> Any:
        span, rows = result.span, len(result.totals)
        own = {name: i for i, name in enumerate(self.kernel.columns(span.scenario))}
        arrays = [
            pa.array(np.full(rows, span.number, np.int32)),
            pa.array(np.arange(rows, dtype=np.int32) + span.start),
        ]
        for name in self.columns:
            given = own.get(name)
            arrays.append(pa.nulls(rows, pa.float64()) if given is None else pa.array(result.totals[:, given]))
        return pa.table(arrays, names=[*KEYS, *self.columns])

    def files(self) -> list[Path]:
        """Every part that is in place."""
        return sorted(path for path in self.parts.glob("*.parquet") if not path.name.startswith("."))

    def read(self, columns: Sequence[str], points: tuple[int, int] | None = None) -> Any:
        """An Arrow table of the keys and `columns`, sorted by (point, replication), each row once.

        points: only those with first <= number < stop.
        """
        for _ in range(_LISTINGS):
            # Another shard may merge parts between the listing and the reading.
            with contextlib.suppress(FileNotFoundError):
                return self._read([*KEYS, *columns], points)
        raise StorageError(self.parts, FileNotFoundError(2, "parts keep vanishing"))

    def _read(self, names: list[str], points: tuple[int, int] | None) -> Any:
        chosen = [pc.field("point") >= points[0], pc.field("point") < points[1]] if points else []
        keep = chosen[0] & chosen[1] if chosen else None
        tables = [
            read_part(path, names, keep) for path in self.files() if points is None or self._overlaps(path, points)
        ]
        if not tables:
            return pa.table({name: pa.array([], pa.int32() if name in KEYS else pa.float64()) for name in names})
        table = pa.concat_tables(tables)
        point, replication = (table.column(key).to_numpy() for key in KEYS)
        order = np.lexsort((replication, point))
        first = np.ones(len(order), bool)
        first[1:] = (np.diff(point[order]) != 0) | (np.diff(replication[order]) != 0)
        return table.take(pa.array(order[first]))

    def _overlaps(self, path: Path, points: tuple[int, int]) -> bool:
        if path.name not in self._ranges:
            self._ranges[path.name] = range_of_points(path)
        low, high = self._ranges[path.name]
        return high >= points[0] and low < points[1]

    def coverage(self) -> dict[int, NDArray[np.int64]]:
        """Point number -> its replications that are in the folder, ascending."""
        table = self.read(())
        point, replication = (table.column(key).to_numpy().astype(np.int64) for key in KEYS)
        cuts = np.searchsorted(point, np.arange(len(self.plan.points) + 1))
        return {number: replication[a:b] for number, (a, b) in enumerate(itertools.pairwise(cuts))}

    def totals(self, table: Any, number: int) -> Totals:
        """The rows of one point out of a table of `read`, with the columns that the point has."""
        scenario = self.plan.points[number].scenario
        assert scenario is not None
        numbers = table.column("point").to_numpy()
        first, stop = np.searchsorted(numbers, [number, number + 1])
        part = table.slice(first, stop - first)
        names = [name for name in self.kernel.columns(scenario) if name in table.column_names]
        rows: FloatArray = np.column_stack([part.column(name).to_numpy() for name in names])
        return Totals(names, rows)

    def remove_leftovers(self) -> None:
        """Delete what killed processes left half done. Only for who is alone in the folder."""
        for path in (*self.folder.glob(".*.tmp"), *self.folder.glob("*/.*.tmp")):
            path.unlink(missing_ok=True)
        if self.ledgers is not None:
            for path in self.ledgers.glob("part-*.parquet"):
                if not (self.parts / path.name).exists():
                    path.unlink()
            if not (self.parts / ALL).exists():
                # Ledgers of a merged file that was deleted: its replications run again.
                for path in self.ledgers.glob("ledger-*.parquet"):
                    path.unlink()


def write_ledgers(path: Path, results: Sequence[SpanResult]) -> None:
    """One table of the ledgers of these results: point, replication, and the columns of a ledger."""
    tables = []
    for result in results:
        for replication, ledger in enumerate(result.ledgers, result.span.start):
            frame = ledger.to_frame()
            frame.insert(0, "replication", replication)
            frame.insert(0, "point", result.span.number)
            tables.append(pa.Table.from_pandas(frame, preserve_index=False))
    if tables:
        table = pa.concat_tables(tables, promote_options="permissive")
        replace(path, lambda temporary: pq.write_table(table, temporary))


def read_manifest(path: Path) -> dict[str, Any]:
    """The manifest at `path` as plain data. Raises SweepError."""
    try:
        if path.stat().st_size > MAX_MANIFEST_BYTES:
            raise SweepError(f"{path}: larger than {MAX_MANIFEST_BYTES} bytes, so no manifest")
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SweepError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise SweepError(f"{path}: is no JSON: {error}") from None
    if not isinstance(document, dict):
        raise SweepError(f"{path}: is no manifest")
    return document


def _refusal(folder: Path, lines: list[str]) -> str:
    more = [f"  and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else []
    shown = [f"  {line}" for line in lines[:_SHOWN]]
    head = f"{folder}: holds another sweep; use another folder for this one. What differs (was -> is):"
    return "\n".join([head, *shown, *more])
