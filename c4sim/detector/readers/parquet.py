"""Telemetry as one Parquet table in long form.

Each row holds what one sample says about one thing; the columns that are filled say which:

    step, worker (+ role, host, group)            compute_s wall_s input_s arrival_s load op_started op_done
    step, src, dst                                delay_s wait_s bytes
    step, worker, member_group                    op_started op_done
    step                                          step_time_s phase

Everything else in a row is null. ``worker``, ``src`` and ``dst`` are labels. Samples are sorted by step;
workers keep the order in which they appear.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from c4sim.detector.errors import TelemetryError
from c4sim.detector.telemetry import Telemetry, axes_of

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[Any]
_WORKER = ("compute_s", "wall_s", "input_s", "arrival_s", "load")
_LABELS = ("role", "host", "group")
_EDGE = ("delay_s", "wait_s", "bytes")
_NUMBERS = ("op_started", "op_done")
_STEP = ("step_time_s", "phase")
_KEYS = ("step", "worker", "src", "dst", "member_group")
COLUMNS = (*_KEYS, *_LABELS, *_WORKER, *_EDGE, *_NUMBERS, *_STEP)


def save_parquet(path: str | Path, telemetry: Telemetry) -> None:
    """Write the telemetry in long form."""
    import pandas as pd  # late: half a second

    labels = telemetry.labels
    parts = [_block(telemetry, "TN", {"worker": labels, **_given(telemetry, _LABELS)})]
    if telemetry.edge_src is not None and telemetry.edge_dst is not None:
        parts.append(_block(telemetry, "TE", {"src": labels[telemetry.edge_src], "dst": labels[telemetry.edge_dst]}))
    if telemetry.member_worker is not None:
        keys = {"worker": labels[telemetry.member_worker], **_given(telemetry, ("member_group",))}
        parts.append(_block(telemetry, "TM", keys))
    if _given(telemetry, _STEP):
        parts.append(pd.DataFrame({"step": np.arange(telemetry.n_steps), **_given(telemetry, _STEP)}))
    table = pd.concat([part for part in parts if part is not None], ignore_index=True)
    table.to_parquet(path, index=False)


def _given(telemetry: Telemetry, names: tuple[str, ...]) -> dict[str, Array]:
    fields = telemetry.present()
    return {name: fields[name] for name in names if name in fields}


def _block(telemetry: Telemetry, axes: str, keys: dict[str, Array]) -> pd.DataFrame:
    """Rows of one kind: every sample x every worker, edge or membership."""
    import pandas as pd

    fields = telemetry.present()
    values = {name: array.ravel() for name, array in fields.items() if axes_of(telemetry, name) == axes}
    width = len(next(iter(keys.values())))
    columns: dict[str, Any] = {"step": np.repeat(np.arange(telemetry.n_steps), width)}
    columns |= {name: np.tile(array, telemetry.n_steps) for name, array in keys.items()}
    return pd.DataFrame(columns | values)


def looks_like(columns: list[str]) -> bool:
    """True for a table with a step and at least one measured column of the long form."""
    return "step" in columns and bool(set(columns) & {*_WORKER, *_EDGE, *_NUMBERS, *_STEP})


def read(frame: pd.DataFrame, path: Path) -> Telemetry:
    """Telemetry of a table in long form.

    Raises:
        TelemetryError: naming an unknown column, a repeated (step, worker) or an edge of no worker.
    """
    unknown = sorted({str(name) for name in frame.columns} - set(COLUMNS))
    if unknown:
        raise TelemetryError(unknown[0], f"is not a column of telemetry in {path} (known: {', '.join(COLUMNS)})")
    frame = frame.reindex(columns=list(COLUMNS))
    steps = np.unique(frame["step"].dropna().to_numpy())
    is_edge = frame["src"].notna()
    is_member = frame["member_group"].notna()
    of_worker = frame[frame["worker"].notna() & ~is_member]
    labels = _in_order(frame, is_edge)
    fields: dict[str, Any] = {"worker": _plain(labels)}
    fields |= _labels_of(of_worker, labels)
    names = _WORKER + (() if is_member.any() else _NUMBERS)
    fields |= _matrices(of_worker, names, ["worker"], steps, [(label,) for label in labels])
    if is_edge.any():
        pairs = list(dict.fromkeys(zip(frame["src"][is_edge], frame["dst"][is_edge], strict=True)))
        column = {label: index for index, label in enumerate(labels)}
        fields["edge_src"] = np.array([column[src] for src, _ in pairs])
        fields["edge_dst"] = np.array([column[dst] for _, dst in pairs])
        fields |= _matrices(frame[is_edge], _EDGE, ["src", "dst"], steps, pairs)
    if is_member.any():
        fields |= _memberships(frame[is_member], labels, steps)
    return Telemetry(**fields | _steps(frame, steps))


def _in_order(frame: pd.DataFrame, is_edge: pd.Series[bool]) -> list[Any]:
    """Labels of all workers in the order of appearance, those that only edges name last."""
    named = list(frame["worker"].dropna()) + list(frame["src"][is_edge]) + list(frame["dst"][is_edge].dropna())
    return list(dict.fromkeys(named))


def _plain(values: list[Any]) -> Array:
    """Labels as whole numbers where all are, else as text."""
    if all(isinstance(value, int | float | np.number) and float(value).is_integer() for value in values):
        return np.array([int(value) for value in values])
    return np.array([str(value) for value in values])


def _labels_of(rows: pd.DataFrame, labels: list[Any]) -> dict[str, Array]:
    found = {}
    for name in _LABELS:
        known = rows[rows[name].notna()].drop_duplicates("worker").set_index("worker")[name]
        if len(known) and set(labels) <= set(known.index):
            found[name] = _plain(known.loc[labels].tolist())
    return found


def _matrices(
    rows: pd.DataFrame, names: tuple[str, ...], keys: list[str], steps: Array, wanted: list[Any]
) -> dict[str, Array]:
    """(T, K) arrays of the columns that hold anything."""
    found = {}
    row = np.searchsorted(steps, rows["step"].to_numpy())
    place = {key: index for index, key in enumerate(wanted)}
    column = np.array([place[key] for key in zip(*(rows[key] for key in keys), strict=True)], dtype=np.int64)
    cells = row * len(wanted) + column
    if len(np.unique(cells)) < len(cells):
        raise TelemetryError(" and ".join(keys), "occurs twice in one step")
    for name in names:
        if rows[name].notna().any():
            matrix = np.full(len(steps) * len(wanted), np.nan)
            matrix[cells] = rows[name].to_numpy(dtype=np.float64)
            found[name] = matrix.reshape(len(steps), len(wanted))
    return found


def _memberships(rows: pd.DataFrame, labels: list[Any], steps: Array) -> dict[str, Array]:
    pairs = list(dict.fromkeys(zip(rows["worker"], rows["member_group"], strict=True)))
    column = {label: index for index, label in enumerate(labels)}
    return {
        "member_worker": np.array([column[worker] for worker, _ in pairs]),
        "member_group": _plain([group for _, group in pairs]),
        **_matrices(rows, _NUMBERS, ["worker", "member_group"], steps, pairs),
    }


def _steps(frame: pd.DataFrame, steps: Array) -> dict[str, Array]:
    rows = frame[frame["worker"].isna() & frame["src"].isna()].drop_duplicates("step").set_index("step")
    found: dict[str, Array] = {}
    if rows["step_time_s"].notna().any():
        found["step_time_s"] = rows["step_time_s"].reindex(steps).to_numpy(dtype=np.float64)
    if rows["phase"].notna().any():
        found["phase"] = rows["phase"].reindex(steps).fillna("train").astype(str).to_numpy()
    return found
