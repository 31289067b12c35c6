"""``c4sim detect``: telemetry files -> verdicts as a table or JSON, and an exit code."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence

from c4sim.detector import Budget, Host, Telemetry, Verdict, detect
from c4sim.detector.readers import read
from c4sim.detector.verdicts import document
from c4sim.studies.detect_files import check_files

#: Exit codes: nobody accused, somebody accused, bad input.
CLEAR, ACCUSED, BAD_INPUT = 0, 1, 2

Draw = Callable[[Telemetry, Sequence[Verdict], str], None]


def detect_command(
    files: Sequence[str],
    *,
    json_output: bool = False,
    figure: str | None = None,
    draw: Draw | None = None,
    false_alarms: float = 0.1,
    step_time_s: float | None = None,
) -> int:
    """Read telemetry, judge it, print the verdicts.

    Args:
        files: one telemetry file (.npz, .parquet, .csv), one trace (.parquet), or the flight recorder
            dumps of all ranks (files or their folder).
        json_output: print one JSON document instead of a table.
        figure: path of a figure to write, with ``draw`` (the layer above knows how).
        false_alarms: tolerated per job and 30 days.
        step_time_s: seconds between rows where the files do not say.

    Returns:
        1 when a verdict accuses somebody, 0 when none does, 2 for bad input (said on stderr).
    """
    try:
        telemetry = _read(files)
        verdicts = detect(telemetry, Budget(false_alarms, step_time_s))
        if figure is not None and draw is not None:
            draw(telemetry, verdicts, figure)
    except ValueError as error:
        return _refused(str(error))
    except OSError as error:
        return _refused(f"{error.filename or figure}: {error.strerror or error}")
    except MemoryError as error:
        # A header of a few bytes can claim any size; without this, running out would look like an accusation.
        reason = f" ({error})" if str(error) else ""
        return _refused(f"{', '.join(map(str, files))}: holds or claims more than fits into memory{reason}")
    print(json.dumps(document(verdicts), allow_nan=False) if json_output else table(telemetry, verdicts))
    return ACCUSED if any(verdict.accuses for verdict in verdicts) else CLEAR


def _read(files: Sequence[str]) -> Telemetry:
    """The telemetry in the files; what is wrong names a file, also where the reader names a field only."""
    check_files(files)
    try:
        return read(files)
    except ValueError as error:
        if len(files) != 1 or str(error).startswith(str(files[0])):
            raise
        raise ValueError(f"{files[0]}: {error}") from None


def _refused(problem: str) -> int:
    print(f"c4sim detect: {problem}", file=sys.stderr)
    return BAD_INPUT


def table(telemetry: Telemetry, verdicts: Sequence[Verdict]) -> str:
    """The verdicts as text, what was looked at in the last line."""
    rows: list[tuple[str, ...]] = [("kind", "entity", "effect", "score", "from row", "victims", "evidence")]
    rows += [_row(verdict) for verdict in verdicts]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
    lines = ["  ".join([*(cell.ljust(w) for cell, w in zip(row, widths, strict=False)), row[-1]]) for row in rows]
    fields = ", ".join(name for name in telemetry.present() if name.endswith("_s") or name.startswith("op_"))
    seen = f"{telemetry.n_steps} rows of {telemetry.n_workers} workers, {telemetry.n_edges} edges; measured: {fields}"
    return "\n".join([*(lines if verdicts else ["nothing found"]), seen])


def _row(verdict: Verdict) -> tuple[str, ...]:
    return (
        verdict.kind,
        _entity(verdict),
        "-" if verdict.effect is None else f"{verdict.effect:.3g}",
        f"{verdict.score:.1f}",
        str(verdict.first_step),
        str(len(verdict.victims)),
        verdict.evidence,
    )


def _entity(verdict: Verdict) -> str:
    entity = verdict.entity
    if entity is None:
        return "-"
    if isinstance(entity, Host):
        return f"host {entity.label}"
    return f"{entity[0]} -> {entity[1]}" if isinstance(entity, tuple) else str(entity)
