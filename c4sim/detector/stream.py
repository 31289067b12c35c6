"""The streaming form: a row at a time, bounded memory, the verdicts of the batch form.

The last rows are kept in a ring. In the first rows the batch tests run at fixed row numbers; then a
cumulative sum for each series (``screen``) says when it is worth running them again on the ring, with
what was learned about each part's own level as its past. Every ``REVIEW`` rows they run in any case, which
finds what moves too slowly for the sums. A detector can be saved and restored in mid-stream.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from c4sim.detector import budget, links, stream_state
from c4sim.detector.budget import Budget
from c4sim.detector.compute import step_seconds
from c4sim.detector.detect import Past, compute_ratios, detect, judged_rows, role_numbers, take_rows
from c4sim.detector.errors import TelemetryError
from c4sim.detector.robust import median_along
from c4sim.detector.screen import SHIFTS, Screen
from c4sim.detector.stream_state import StreamState
from c4sim.detector.telemetry import AXES, Telemetry
from c4sim.detector.verdicts import Verdict

Array = NDArray[Any]
#: Rows kept; a change is judged inside this window.
WINDOW = 64
#: Row numbers at which the batch tests run before own levels are known; the last one learns them.
WARM_UP = (8, 12, 16, 24, 32, 48, 64)
#: Rows between reviews without a candidate.
REVIEW = 1024
#: Rows after which a candidate that the batch tests did not confirm begins anew.
_PATIENCE = 64
#: A verdict is repeated when it was not seen for so many rows.
_REPEAT = 1024
#: Families: (field, field of the amount of work).
_FAMILIES = (("compute_s", "load"), ("delay_s", "bytes"), ("input_s", None))
_STATIC = tuple(name for name, axes in AXES.items() if "T" not in axes)


class StreamDetector:
    """Judge a job while it runs.

    Args:
        allowed: false alarms tolerated; give ``step_time_s`` where the rows do not have it.
        static: the fields of ``Telemetry`` without a time axis (role, host, edge_src, ...).
    """

    def __init__(self, allowed: Budget | None = None, **static: Array) -> None:
        unknown = sorted(set(static) - set(_STATIC))
        if unknown:
            raise TelemetryError(unknown[0], f"is not a field without a time axis (known: {', '.join(_STATIC)})")
        self._allowed = allowed or Budget()
        self._state = StreamState({name: np.asarray(value) for name, value in static.items() if value is not None})

    @classmethod
    def resume(cls, path: str | Path, allowed: Budget | None = None) -> StreamDetector:
        """The detector that was saved to ``path``.

        Raises:
            TelemetryError: for a damaged file or one of another version.
        """
        detector = cls(allowed)
        detector._state = stream_state.load(path)
        return detector

    def save(self, path: str | Path) -> None:
        """Write everything that is remembered to an .npz file."""
        stream_state.save(path, self._state)

    @property
    def rows(self) -> int:
        """Rows taken so far."""
        return self._state.rows

    def update(self, row: Mapping[str, Any]) -> list[Verdict]:
        """Take one row: field -> (N,), (E,), (M,) or a scalar; returns what is newly found.

        Fields may be missing in a row, but not appear for the first time after the first one.

        Raises:
            TelemetryError: naming a field that is unknown, has another length, or is negative.
        """
        self._store(row)
        self._state.rows += 1
        due = self._screen(row)
        if self._state.rows <= WARM_UP[-1]:
            due = due or self._state.rows in WARM_UP
        due = due or self._state.rows % REVIEW == 0 or self._stopped()
        found = self._judge() if due else []
        if self._state.rows == WARM_UP[-1]:
            self._learn()
        return found

    def _store(self, row: Mapping[str, Any]) -> None:
        at = self._state.rows % WINDOW
        if not self._state.ring:
            self._state.ring = {name: self._blank(name, value) for name, value in row.items()}
        for name, array in self._state.ring.items():
            value = row.get(name)
            array[at] = _missing(array) if value is None else self._checked(name, value, array)
        extra = sorted(set(row) - set(self._state.ring))
        if extra:
            raise TelemetryError(extra[0], "was not in the first row")

    def _blank(self, name: str, value: Any) -> Array:
        if name not in AXES or "T" not in AXES[name]:
            raise TelemetryError(name, "is not a field with a time axis")
        if name == "phase":
            return np.full(WINDOW, "train", dtype="U5")
        dtype = np.float64 if name in ("arrival_s", "op_started", "op_done") else np.float32
        return np.full((WINDOW, *np.shape(value)), np.nan, dtype=dtype)

    def _checked(self, name: str, value: Any, array: Array) -> Any:
        if np.shape(value) != array.shape[1:]:
            raise TelemetryError(name, f"must have shape {array.shape[1:]} (got {np.shape(value)})")
        if name not in ("phase", "arrival_s") and np.fmin.reduce(np.asarray(value), axis=None) < 0:
            raise TelemetryError(name, "must not be negative")
        return value

    def _screen(self, row: Mapping[str, Any]) -> bool:
        """Feed the cumulative sums; True when the candidates make a batch test worth while."""
        due = False
        if row.get("phase", "train") != "train":
            return due
        for name, screen in self._state.screens.items():
            value = row.get(name)
            if value is None:
                continue
            amount = dict(_FAMILIES)[name]
            largest = screen.update(_seconds(name, value, row, self._state.step_s), row.get(amount) if amount else None)
            if largest <= self._state.threshold:
                self._state.since.pop(name, None)
                continue
            waited = self._state.rows - self._state.since.setdefault(name, self._state.rows)
            due = due or waited in (0, 1, 2, 4, 6, 8, 10, 12, 16, 24, 32, 48)
            if waited >= _PATIENCE:
                screen.reset(screen.candidates(self._state.threshold))
        return due

    def _stopped(self) -> bool:
        """True in rows where a stop would be seen for the second, third, fifth, ... time."""
        numbers = [name for name in ("op_started", "op_done") if name in self._state.ring]
        at, before = (self._state.rows - 1) % WINDOW, (self._state.rows - 2) % WINDOW
        open_step = "step_time_s" in self._state.ring and bool(np.isnan(self._state.ring["step_time_s"][at]))
        same = all(
            np.array_equal(self._state.ring[n][at], self._state.ring[n][before], equal_nan=True) for n in numbers
        )
        stopped = self._state.rows >= 2 and same and (open_step if "step_time_s" in self._state.ring else bool(numbers))
        self._state.still = self._state.still + 1 if stopped else 0
        return self._state.still in (1, 2, 4, 8, 16)

    def window(self) -> Telemetry:
        """The kept rows, oldest first."""
        order = np.arange(max(0, self._state.rows - WINDOW), self._state.rows) % WINDOW
        return Telemetry(**self._state.static, **{name: array[order] for name, array in self._state.ring.items()})

    def _judge(self) -> list[Verdict]:
        oldest = max(0, self._state.rows - WINDOW)
        try:
            window = self.window()
        except TelemetryError:
            if any(np.isfinite(array).any() for name, array in self._state.ring.items() if name != "phase"):
                raise
            return []
        return [
            dataclasses.replace(verdict, first_step=verdict.first_step + oldest)
            for verdict in detect(window, self._allowed, self._state.past)
            if self._is_new(verdict)
        ]

    def _is_new(self, verdict: Verdict) -> bool:
        key = f"{verdict.kind} {verdict.entity}"
        last = self._state.seen.get(key)
        self._state.seen[key] = self._state.rows
        return last is None or self._state.rows - last > _REPEAT

    def _learn(self) -> None:
        """Own levels and noise of every series from the window, for the sums and as the past."""
        window = self.window()
        rows = judged_rows(window, window.n_steps)
        part = take_rows(window, rows)
        if part is None:
            return
        known = self._allowed.step_time_s or step_seconds(part.step_time_s, part.wall_s, part.compute_s)
        self._state.step_s = known or budget.DEFAULT_STEP_S
        fields = part.present()
        series = 0
        for name, amount in _FAMILIES:
            if name not in fields or not np.isfinite(fields[name]).any():
                continue
            values = _seconds(name, fields[name], fields, self._state.step_s)
            values = np.where(values > 0, values, np.nan)
            work = fields.get(amount) if amount else None
            self._state.screens[name] = Screen.learn(values, work, self._kinds(name, part), name == "delay_s")
            series += values.shape[1] * (len(SHIFTS) + 1)
        self._state.past = _past(part)
        share = self._allowed.false_alarms / budget.FAMILIES
        self._state.threshold = float(np.log(max(series, 1) * budget.MONTH_S / self._state.step_s / share))

    def _kinds(self, name: str, part: Telemetry) -> Array:
        if name == "delay_s":
            return links.link_ratios(part).role
        kinds = role_numbers(part) if name == "compute_s" else None
        return np.zeros(part.n_workers, dtype=np.int64) if kinds is None else kinds


def _missing(array: Array) -> Any:
    return "train" if array.dtype.kind == "U" else np.nan


def _seconds(name: str, value: Any, row: Mapping[str, Any], step_s: float) -> Array:
    """The family's positive series: durations as they are, input waits as 1 + share of a step."""
    if name == "input_s":
        return np.asarray(1 + np.asarray(value) / step_s)
    if name == "delay_s" and row.get("bytes") is not None:
        return np.where(np.asarray(row["bytes"]) > 0, value, np.nan)
    return np.asarray(value)


def _past(part: Telemetry) -> Past:
    """Levels of the window as the past of later ones."""
    compute = median_along(compute_ratios(part).y) if part.compute_s is not None else None
    known = None
    if part.delay_s is not None and part.edge_src is not None and part.edge_dst is not None:
        y, n = links.link_ratios(part).y, part.n_workers
        ends = [median_along(links.end_medians(y, keys, n)) for keys in (part.edge_src, part.edge_dst)]
        known = links.Past(ends[0], ends[1], median_along(y))
    return Past(compute=compute, links=known)
