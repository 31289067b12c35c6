"""Results on stdout: one JSON document, or plain tables."""

import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any


def print_json(document: Any) -> None:
    """One JSON document and nothing else. What does not exist is null, never NaN."""
    print(json.dumps(document, indent=2, allow_nan=False, ensure_ascii=False))


def write_json(folder: Path, **documents: Any) -> None:
    """NAME.json in `folder` for each document; the folder is made. Raises StorageError."""
    from c4sim.experiment.files import make_folder, replace_text

    make_folder(folder)
    for name, document in documents.items():
        text = json.dumps(document, indent=1, allow_nan=False, ensure_ascii=False)
        replace_text(folder / f"{name}.json", text + "\n")


def print_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Columns separated by two spaces: the first flush left, the others flush right."""
    table = [list(header), *(list(row) for row in rows)]
    widths = [max(len(row[column]) for row in table) for column in range(len(header))]
    for row in table:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        print("  ".join(cells).rstrip())


def number(value: float | None, metric: str = "") -> str:
    """A number for people: shares in per cent, others with five digits; `-` for what does not exist."""
    if value is None or not math.isfinite(value):
        return "-"
    return f"{100 * value:.3f} %" if is_share(metric) else f"{value:.5g}"


def difference(value: float | None, metric: str = "") -> str:
    """A difference of two numbers: of shares in percentage points, since per cent would read as a relative change."""
    text = number(value, metric)
    return f"{text.removesuffix(' %')} pp" if text.endswith(" %") else text


def is_share(metric: str) -> bool:
    """Whether a metric is a share of time or of incidents."""
    name = metric.partition("/")[0]
    return name in ("ettr", "goodput", "finished") or name.endswith(("_fraction", "_share")) or "probability" in name
