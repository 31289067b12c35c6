"""The end of a sweep: all parts into one file, and the summary table."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from c4sim.experiment.files import csv_text, replace, replace_text
from c4sim.experiment.plan import Plan
from c4sim.experiment.store import ALL, KEYS, SUMMARY, Store
from c4sim.experiment.tables import Value

# Rows in memory at once: of some hundred columns, about 40 MB, several times over while they are sorted.
ROWS = 50_000
Row = dict[str, Any]


def finish(store: Store, counts: Mapping[int, int]) -> list[Row]:
    """Merge the parts, sorted by point and replication, and write summary.csv; returns its rows.

    counts: replications of each finished point. Rows of other points are left out: a failed point has none.
    """
    old = store.files()
    rows: dict[int, Row] = {}

    def write(temporary: Path) -> None:
        schema = pa.schema([(key, pa.int32()) for key in KEYS] + [(name, pa.float64()) for name in store.columns])
        with pq.ParquetWriter(temporary, schema) as writer:
            for block in _blocks(counts):
                table = store.read(store.columns, (block[0], block[-1] + 1))
                kept = table.filter(pc.field("point").isin(block))
                writer.write_table(kept)
                rows.update((number, _summary_row(store, kept, number)) for number in block)

    replace(store.parts / ALL, write)
    _settle_ledgers(store)
    for path in old:
        if path.name != ALL:
            path.unlink(missing_ok=True)
    table = [rows.get(point.number, _empty_row(store.plan, point.number)) for point in store.plan.points]
    replace_text(store.folder / SUMMARY, summary_text(table))
    return table


def _settle_ledgers(store: Store) -> None:
    """Rename the ledgers of finished parts, which lose their namesakes now."""
    if store.ledgers is not None:
        for path in store.ledgers.glob("part-*.parquet"):
            path.replace(path.with_name(path.name.replace("part-", "ledger-", 1)))


def _blocks(counts: Mapping[int, int]) -> Iterator[list[int]]:
    block: list[int] = []
    rows = 0
    for number, count in sorted(counts.items()):
        if block and rows + count > ROWS:
            yield block
            block, rows = [], 0
        block.append(number)
        rows += count
    if block:
        yield block


def _empty_row(plan: Plan, number: int) -> Row:
    values = plan.points[number].values
    return {**{key: values.get(key) for key in plan.swept_keys()}, "n": 0}


def _summary_row(store: Store, table: Any, number: int) -> Row:
    scenario = store.plan.points[number].scenario
    assert scenario is not None
    totals = store.totals(table, number)
    row = {**_empty_row(store.plan, number), "n": totals.n}
    for name, value in totals.metrics(store.kernel.definitions(scenario)).items():
        row.update(_cells(name, value))
    return row


def _cells(name: str, value: Value) -> Row:
    return {name: value.mean, f"{name}.low": value.low, f"{name}.high": value.high}


def summary_text(rows: list[Row]) -> str:
    """The table of all points as CSV: swept keys, n, then metric, metric.low, metric.high."""
    header = list(dict.fromkeys(name for row in rows for name in row))
    return csv_text(header, [[row.get(name) for name in header] for row in rows])
