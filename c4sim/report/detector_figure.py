"""The detector's figure: a worker x step heat map and, where edges were measured, the delay matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from c4sim.detector import Host, Telemetry, Verdict

Array = NDArray[Any]
#: Field that a heat map shows, the first one that has data, with its title.
_MAPS = (
    ("compute_s", "own work / median of the row"),
    ("wall_s", "wall time / median of the row"),
    ("input_s", "wait for input / median of the row"),
    ("op_done", "operations completed / median of the row"),
)
#: More workers than this are drawn as a list of edges would be: the matrix cells become invisible.
_MATRIX_WORKERS = 512


def draw(telemetry: Telemetry, verdicts: Sequence[Verdict], path: str) -> None:
    """Write the figure to ``path`` (format by suffix): accused workers and edges are marked.

    Raises:
        ValueError: for a suffix that matplotlib does not write.
    """
    from matplotlib.figure import Figure

    matrix = telemetry.delay_s if telemetry.delay_s is not None else telemetry.wait_s
    panels = 2 if matrix is not None and telemetry.n_workers <= _MATRIX_WORKERS else 1
    figure = Figure(figsize=(6.4 * panels, 4.8), layout="constrained")
    axes = np.atleast_1d(figure.subplots(1, panels))
    _heat_map(axes[0], telemetry, verdicts)
    if panels == 2:
        assert matrix is not None
        _matrix(axes[1], telemetry, matrix, verdicts)
    figure.savefig(path)


def _heat_map(axes: Any, telemetry: Telemetry, verdicts: Sequence[Verdict]) -> None:
    shown = next(((name, title) for name, title in _MAPS if _drawable(telemetry, name)), None)
    axes.set(xlabel="row", ylabel="worker")
    if shown is None:
        axes.set_title("nothing measured on the workers themselves")
        axes.set(xlim=(-0.5, telemetry.n_steps - 0.5), ylim=(telemetry.n_workers - 0.5, -0.5))
    else:
        values = getattr(telemetry, shown[0])
        image = axes.imshow(_relative(values).T, aspect="auto", interpolation="nearest", cmap="viridis")
        axes.figure.colorbar(image, ax=axes)
        axes.set_title(shown[1])
    for verdict in verdicts:
        for worker in _workers(telemetry, verdict):
            axes.plot(verdict.first_step, worker, marker=">", color="red", markersize=7, clip_on=False)
            axes.axhline(worker, color="red", linewidth=0.6, alpha=0.6)


def _drawable(telemetry: Telemetry, name: str) -> bool:
    values = getattr(telemetry, name)
    per_worker = values is not None and values.shape[1] == telemetry.n_workers
    return per_worker and bool(np.isfinite(values).any())


def _relative(values: Array) -> Array:
    """Values over the median of their row, limited to the range that a slow worker lies in."""
    known = np.isfinite(values)
    middle = np.array([np.median(row[seen]) if seen.any() else np.nan for row, seen in zip(values, known, strict=True)])
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = values / middle[:, None]
    return np.clip(np.where(np.isfinite(ratio), ratio, np.nan), 0.5, 3.0)


def _matrix(axes: Any, telemetry: Telemetry, values: Array, verdicts: Sequence[Verdict]) -> None:
    """Mean delay of each edge; only the picture is N x N, and only for few workers."""
    n = telemetry.n_workers
    cells = np.full((n, n), np.nan)
    known = np.isfinite(values)
    mean = np.where(known, values, 0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    cells[telemetry.edge_src, telemetry.edge_dst] = np.where(known.any(axis=0), mean, np.nan)
    image = axes.imshow(np.log10(np.where(cells > 0, cells, np.nan)), interpolation="nearest", cmap="magma")
    axes.figure.colorbar(image, ax=axes, label="log10 seconds")
    field = "delay_s" if telemetry.delay_s is not None else "wait_s"
    axes.set(xlabel="receiver", ylabel="sender", title=f"mean {field} of each edge")
    column = {label: index for index, label in enumerate(telemetry.labels.tolist())}
    for verdict in verdicts:
        if isinstance(verdict.entity, tuple):
            sender, receiver = (column[label] for label in verdict.entity)
            axes.plot(receiver, sender, marker="s", markersize=10, markerfacecolor="none", color="cyan")


def _workers(telemetry: Telemetry, verdict: Verdict) -> list[int]:
    """Columns of the accused workers; none for edges and for verdicts that accuse nobody."""
    if not verdict.accuses or isinstance(verdict.entity, tuple) or verdict.entity is None:
        return []
    if isinstance(verdict.entity, Host):
        assert telemetry.host is not None
        return np.flatnonzero(telemetry.host == verdict.entity.label).tolist()
    return np.flatnonzero(telemetry.labels == verdict.entity).tolist()
