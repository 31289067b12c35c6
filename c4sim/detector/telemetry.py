"""Telemetry of a synchronous training job: the one structure that the detector reads.

``T`` samples (one a training step, or one a polling interval of a stopped job), ``N`` workers,
``E`` directed edges, ``M`` memberships of workers in groups. Every field may be missing (``None``);
NaN is "no data". Edges are a list; an N x N matrix is never formed.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from c4sim.detector.errors import TelemetryError

Array = NDArray[Any]

#: Field -> its axes. The order is the order of the files' contents and of the messages.
AXES: dict[str, str] = {
    "worker": "N",
    "role": "N",
    "host": "N",
    "group": "N",
    "compute_s": "TN",
    "wall_s": "TN",
    "input_s": "TN",
    "arrival_s": "TN",
    "load": "TN",
    "edge_src": "E",
    "edge_dst": "E",
    "delay_s": "TE",
    "wait_s": "TE",
    "bytes": "TE",
    "member_worker": "M",
    "member_group": "M",
    "op_started": "TM",
    "op_done": "TM",
    "step_time_s": "T",
    "phase": "T",
}
LABELS = ("worker", "role", "host", "group", "member_group", "phase")
INDICES = ("edge_src", "edge_dst", "member_worker")
MEASURED = tuple(name for name, axes in AXES.items() if len(axes) == 2 and name != "load")
PHASES = ("train", "save", "eval")


@dataclass(frozen=True, eq=False)
class Telemetry:
    """What was measured on a job, checked for shape and sign when it is made.

    ========================  =======  ======  ====================================================
    field                     shape    unit    meaning
    ========================  =======  ======  ====================================================
    ``compute_s``             (T, N)   s       own work, without waiting
    ``wall_s``                (T, N)   s       time of the step with waiting
    ``input_s``               (T, N)   s       waiting for input data
    ``arrival_s``             (T, N)   s       arrival at the collective by the worker's own clock
    ``load``                  (T, N)   any     work given (tokens, FLOPs)
    ``edge_src, edge_dst``    (E,)     -       column numbers (0..N-1) of sender and receiver
    ``delay_s``               (T, E)   s       transfer time once both ends are ready
    ``wait_s``                (T, E)   s       receiver ready -> message complete, or so far
    ``bytes``                 (T, E)   B       bytes delivered in that sample (0: nothing moved)
    ``role``                  (N,)     label   workers that do the same work (pipeline stage)
    ``host``                  (N,)     label   the machine a worker runs on
    ``worker``                (N,)     label   name used in verdicts; default 0..N-1
    ``group``                 (N,)     label   group whose operations ``op_*`` (T, N) count
    ``member_worker``         (M,)     -       column number of each membership's worker
    ``member_group``          (M,)     label   group of each membership; ``op_*`` are then (T, M)
    ``op_started, op_done``   above    count   operations started / completed in the group so far
    ``step_time_s``           (T,)     s       the job's step time (NaN: no step completed)
    ``phase``                 (T,)     label   train, save or eval
    ========================  =======  ======  ====================================================

    A stopped job keeps giving rows: ``step_time_s`` and ``delay_s`` NaN, numbers constant, an open
    ``wait_s`` growing. Without ``group`` and memberships all workers form one group.

    Raises:
        TelemetryError: naming the field, for shapes that disagree, indices out of range, negative
            or infinite values, repeated labels, fewer than two workers, no samples, or no data.
    """

    compute_s: Array | None = None
    wall_s: Array | None = None
    input_s: Array | None = None
    arrival_s: Array | None = None
    edge_src: Array | None = None
    edge_dst: Array | None = None
    delay_s: Array | None = None
    wait_s: Array | None = None
    bytes: Array | None = None
    load: Array | None = None
    role: Array | None = None
    host: Array | None = None
    step_time_s: Array | None = None
    phase: Array | None = None
    worker: Array | None = None
    group: Array | None = None
    op_started: Array | None = None
    op_done: Array | None = None
    member_worker: Array | None = None
    member_group: Array | None = None

    def __post_init__(self) -> None:
        for name in AXES:
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, _coerced(name, value))
        sizes = _sizes(self)
        object.__setattr__(self, "_sizes", sizes)
        _check_sizes(self, sizes)
        _check_values(self)

    @property
    def n_steps(self) -> int:
        """T, the number of samples."""
        return self._size("T")

    @property
    def n_workers(self) -> int:
        """N, the number of workers."""
        return self._size("N")

    @property
    def n_edges(self) -> int:
        """E, the number of directed edges (0 without edges)."""
        return self._size("E")

    def _size(self, axis: str) -> int:
        sizes: dict[str, tuple[int, str]] = getattr(self, "_sizes")  # noqa: B009
        return sizes[axis][0] if axis in sizes else 0

    @property
    def labels(self) -> Array:
        """(N,) the workers' labels."""
        return np.arange(self.n_workers) if self.worker is None else self.worker

    def present(self) -> dict[str, Array]:
        """The fields that are given, by name, in the order of ``AXES``."""
        return {name: getattr(self, name) for name in AXES if getattr(self, name) is not None}

    def without(self, *names: str) -> Telemetry:
        """A copy in which the named fields are missing."""
        return dataclasses.replace(self, **dict.fromkeys(names))


def axes_of(telemetry: Telemetry, name: str) -> str:
    """Axes of a field in this telemetry: ``op_*`` are (T, N) unless memberships are given."""
    if name in ("op_started", "op_done") and telemetry.member_worker is None:
        return "TN"
    return AXES[name]


def _coerced(name: str, value: Any) -> Array:
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise TelemetryError(name, f"is not a rectangular array ({error})") from None
    if array.dtype == object:
        array = _from_objects(name, array)
    if name in LABELS:
        return _label_array(name, array)
    if array.dtype.kind not in "fiub":
        raise TelemetryError(name, f"must hold numbers (got dtype {array.dtype})")
    if name in INDICES:
        return _index_array(name, array)
    return array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)


def _from_objects(name: str, array: Array) -> Array:
    values = array.ravel().tolist()
    if name in LABELS and all(isinstance(value, str) for value in values):
        return array.astype(str)
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError):
        raise TelemetryError(name, "must hold numbers, or labels of one type only") from None


def _label_array(name: str, array: Array) -> Array:
    if array.dtype.kind in "US":
        return array.astype(str)
    return _index_array(name, array)


def _index_array(name: str, array: Array) -> Array:
    if array.dtype.kind == "f":
        if not np.all(np.isfinite(array)) or np.any(array != np.floor(array)):
            raise TelemetryError(name, "must hold whole numbers")
        return array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise TelemetryError(name, f"must hold whole numbers (got dtype {array.dtype})")
    return array


def _sizes(telemetry: Telemetry) -> dict[str, tuple[int, str]]:
    """Axis -> (length, the field that fixed it), each field compared with those before it."""
    sizes: dict[str, tuple[int, str]] = {}
    for name, array in telemetry.present().items():
        axes = axes_of(telemetry, name)
        if array.ndim != len(axes):
            raise TelemetryError(name, f"must have shape ({', '.join(axes)}) (got {array.shape})")
        for axis, length in zip(axes, array.shape, strict=True):
            known, first = sizes.setdefault(axis, (length, name))
            if known != length:
                problem = f"has {length} along axis {axis} but {first} has {known}"
                raise TelemetryError(name, problem)
    return sizes


def _check_sizes(telemetry: Telemetry, sizes: dict[str, tuple[int, str]]) -> None:
    for pair in (("edge_src", "edge_dst"), ("member_worker", "member_group")):
        given = [name for name in pair if getattr(telemetry, name) is not None]
        if len(given) == 1:
            missing = pair[1] if given[0] == pair[0] else pair[0]
            raise TelemetryError(missing, f"is missing although {given[0]} is given")
    for name in ("delay_s", "wait_s", "bytes"):
        if getattr(telemetry, name) is not None and telemetry.edge_src is None:
            raise TelemetryError("edge_src", f"is missing although {name} is given")
    measured = [name for name in MEASURED if getattr(telemetry, name) is not None]
    if not measured:
        raise TelemetryError("telemetry", f"holds no measured field (any of {', '.join(MEASURED)})")
    if "N" not in sizes:
        object.__setattr__(telemetry, "_sizes", sizes | {"N": _implied_workers(telemetry)})
    n_workers = telemetry.n_workers
    if n_workers < 2:
        raise TelemetryError(measured[0], f"needs at least two workers to compare (got {n_workers})")
    if telemetry.n_steps < 1:
        raise TelemetryError(measured[0], "needs at least one step (got 0)")


def _implied_workers(telemetry: Telemetry) -> tuple[int, str]:
    """N from the largest index where no field has one entry per worker."""
    found = [array for name in INDICES if (array := getattr(telemetry, name)) is not None]
    return max((int(array.max()) + 1 for array in found if array.size), default=0), "indices"


def _check_values(telemetry: Telemetry) -> None:
    for name in INDICES:
        array = getattr(telemetry, name)
        if array is not None:
            _check_range(name, array, telemetry.n_workers)
    for name, array in telemetry.present().items():
        if array.dtype.kind == "f":
            _check_numbers(name, array)
    if telemetry.worker is not None and np.unique(telemetry.worker).size < telemetry.n_workers:
        raise TelemetryError("worker", "holds the same label twice")
    if telemetry.phase is not None:
        unknown = sorted(set(telemetry.phase.tolist()) - set(PHASES))
        if unknown:
            problem = f"must be one of {', '.join(PHASES)} (got {unknown[0]!r})"
            raise TelemetryError("phase", problem)
    started, done = telemetry.op_started, telemetry.op_done
    if started is not None and done is not None and np.any(done > started):
        raise TelemetryError("op_done", "exceeds op_started")
    measured = [array for name in MEASURED if (array := getattr(telemetry, name)) is not None]
    if all(np.isnan(array).all() for array in measured):
        raise TelemetryError(
            next(name for name in MEASURED if getattr(telemetry, name) is not None),
            "holds no data: every value of every measured field is NaN",
        )


def _check_range(name: str, array: Array, n_workers: int) -> None:
    wrong = (array < 0) | (array >= n_workers)
    if wrong.any():
        where = int(np.argmax(wrong))
        problem = f"must lie in 0..{n_workers - 1} (got {int(array[where])} at position {where})"
        raise TelemetryError(name, problem)


def _check_numbers(name: str, array: Array) -> None:
    """Refuse infinite values, and negative ones except of a clock; NaN passes."""
    if array.size == 0:
        return
    with np.errstate(invalid="ignore"):
        low, high = float(np.fmin.reduce(array, axis=None)), float(np.fmax.reduce(array, axis=None))
    if low < 0 and name != "arrival_s":
        raise TelemetryError(name, f"must not be negative (got {low:g})")
    if high == np.inf or low == -np.inf:
        raise TelemetryError(name, "must be finite or NaN (got inf)")
