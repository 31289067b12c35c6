"""ByteDance-style traces (Parquet, one row an operation) -> Telemetry.

Columns read: ``rank``, ``step``, ``optype``, ``duration`` (s), and ``stage``, ``dp_rank`` where given
(StragglerAnalysis, OSDI '25). Own work is forward-compute + backward-compute of a step; ``forward-recv``
and ``backward-recv`` are how long a stage waits for its neighbour's messages, mean over the step.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from c4sim.detector.errors import TelemetryError
from c4sim.detector.telemetry import Telemetry

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[Any]
COLUMNS = ("rank", "step", "optype", "duration")
_OWN_WORK = ("forward-compute", "backward-compute")
#: Operation in which a stage waits for a neighbour: operation -> stage distance to the sender.
_RECEIVES = {"forward-recv": -1, "backward-recv": 1}


def read(frame: pd.DataFrame, path: Path) -> Telemetry:
    """Telemetry of a trace; rows are its steps in order.

    Raises:
        TelemetryError: naming a missing column, or a trace without compute operations.
    """
    missing = [name for name in COLUMNS if name not in frame]
    if missing:
        raise TelemetryError(str(path), f"has no column {missing[0]}")
    frame = frame.assign(optype=frame["optype"].astype(str))
    work = frame[frame["optype"].isin(_OWN_WORK)]
    if work.empty:
        raise TelemetryError("optype", f"holds none of {', '.join(_OWN_WORK)} in {path}")
    seconds = work.groupby(["step", "rank"])["duration"].sum().unstack()
    ranks = seconds.columns.to_numpy()
    fields: dict[str, Array] = {"worker": ranks, "compute_s": seconds.to_numpy(dtype=np.float64)}
    if "stage" in frame:
        place = frame.drop_duplicates("rank").set_index("rank")
        fields["role"] = place.loc[ranks, "stage"].to_numpy()
        if "dp_rank" in frame:
            fields |= _waits(frame, seconds.index.to_numpy(), place.loc[ranks])
    return Telemetry(**fields)


def _waits(frame: pd.DataFrame, steps: Array, place: pd.DataFrame) -> dict[str, Array]:
    """Edges between the neighbouring stages of each pipeline, and the mean wait on them per step."""
    column = {rank: index for index, rank in enumerate(place.index)}
    where = {rank: (row["dp_rank"], int(row["stage"])) for rank, row in place.to_dict("index").items()}
    at = {spot: column[rank] for rank, spot in where.items()}
    src, dst, waits = [], [], []
    for optype, distance in _RECEIVES.items():
        rows = frame[frame["optype"] == optype]
        if rows.empty:
            continue
        mean = rows.groupby(["step", "rank"])["duration"].mean().unstack().reindex(index=steps)
        for rank in mean.columns:
            replica, stage = where[rank]
            sender = at.get((replica, stage + distance))
            if sender is not None:
                src.append(sender)
                dst.append(column[rank])
                waits.append(mean[rank].to_numpy(dtype=np.float64))
    if not waits:
        return {}
    return {"edge_src": np.array(src), "edge_dst": np.array(dst), "wait_s": np.stack(waits, axis=1)}
