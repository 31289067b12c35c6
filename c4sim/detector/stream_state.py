"""A streaming detector's state as named plain arrays, so that it can resume after a restart.

Scalars, names and what was already reported travel as one JSON text; nothing is ever unpickled.
"""

from __future__ import annotations

import json
import zipfile
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from c4sim.detector import budget, links
from c4sim.detector.detect import Past
from c4sim.detector.errors import TelemetryError
from c4sim.detector.screen import Screen

Array = NDArray[Any]
_VERSION = 1


@dataclass
class StreamState:
    """Everything that a streaming detector remembers.

    Attributes:
        static: fields without a time axis. ring: the last rows of each other field.
        rows: rows taken. still: rows without progress at the end.
        screens: family -> cumulative sums. past: own levels.
        seen: "kind entity" -> row in which a verdict was last found.
        since: family -> row since which a series is a candidate.
        threshold: nats of a candidate. step_s: length of a step.
    """

    static: dict[str, Array]
    ring: dict[str, Array] = field(default_factory=dict)
    rows: int = 0
    still: int = 0
    screens: dict[str, Screen] = field(default_factory=dict)
    past: Past = field(default_factory=Past)
    seen: dict[str, int] = field(default_factory=dict)
    since: dict[str, int] = field(default_factory=dict)
    threshold: float = float("inf")
    step_s: float = budget.DEFAULT_STEP_S


def save(path: str | Path, state: StreamState) -> None:
    """Write the state to an .npz at exactly ``path``."""
    scalars: dict[str, Any] = {name: getattr(state, name) for name in ("rows", "still", "seen", "since", "step_s")}
    scalars |= {"version": _VERSION, "threshold": None if np.isinf(state.threshold) else state.threshold}
    scalars["gain"] = {name: screen.gain for name, screen in state.screens.items()}
    arrays = {f"static/{name}": array for name, array in state.static.items()}
    arrays |= {f"ring/{name}": array for name, array in state.ring.items()}
    arrays |= {f"past/{name}": array for name, array in _past_arrays(state.past).items()}
    for family, screen in state.screens.items():
        arrays |= {f"screen/{family}/{name}": array for name, array in _screen_arrays(screen).items()}
    with open(path, "wb") as stream:
        np.savez(stream, allow_pickle=False, scalars=np.array(json.dumps(scalars)), **arrays)


def load(path: str | Path) -> StreamState:
    """Read what ``save`` wrote.

    Raises:
        TelemetryError: for a file that is damaged or from another version.
    """
    try:
        with open(path, "rb") as stream, np.load(stream, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        scalars = json.loads(str(arrays.pop("scalars")))
    except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise TelemetryError(str(path), f"is not a saved detector ({error})") from None
    if scalars.pop("version", None) != _VERSION:
        raise TelemetryError(str(path), "was saved by another version of the detector")
    gain = scalars.pop("gain")
    threshold = scalars.pop("threshold")
    screens = {family: _screen(_under(arrays, f"screen/{family}/"), gain[family]) for family in gain}
    return StreamState(
        static=_under(arrays, "static/"),
        ring=_under(arrays, "ring/"),
        screens=screens,
        past=_past(_under(arrays, "past/")),
        threshold=float("inf") if threshold is None else float(threshold),
        **scalars,
    )


def _under(arrays: dict[str, Array], prefix: str) -> dict[str, Array]:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def _past_arrays(past: Past) -> dict[str, Array]:
    named = {"compute": past.compute}
    if past.links is not None:
        named |= {item.name: getattr(past.links, item.name) for item in fields(links.Past)}
    return {name: array for name, array in named.items() if array is not None}


def _past(arrays: dict[str, Array]) -> Past:
    known = links.Past(arrays["sender"], arrays["receiver"], arrays["edge"]) if "edge" in arrays else None
    return Past(arrays.get("compute"), known)


def _screen_arrays(screen: Screen) -> dict[str, Array]:
    named = {item.name: getattr(screen, item.name) for item in fields(Screen) if item.name != "gain"}
    return {name: array for name, array in named.items() if array is not None}


def _screen(arrays: dict[str, Array], gain: list[float] | None) -> Screen:
    order, lines = arrays.pop("order", None), arrays.pop("lines", None)
    return Screen(order=order, lines=lines, gain=(gain[0], gain[1]) if gain else None, **arrays)
