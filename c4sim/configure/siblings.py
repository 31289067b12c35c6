"""Keys that answer the same question: giving one takes back the others that were not given with it."""

from collections.abc import Iterator, Mapping
from typing import Any

_SAVES = ("checkpoint.stall", "checkpoint.persist", "checkpoint.slowdown")

# key -> the values that its siblings fall back to; `*` is the name of a fault class.
_RESETS: Mapping[str, Mapping[str, Any]] = {
    "horizon": {"work": None},
    "work": {"horizon": None},
    "spares.total": {"spares.per_pool": None},
    "spares.per_pool": {"spares.total": None},
    "repair.duration": {"repair.stages": None},
    "repair.stages": {"repair.duration": "0s", "repair.crews": "unlimited"},
    "detection.delay": {"detection.layers": None},
    "detection.layers": {"detection.delay": "0s"},
    "faults.*.mtbf": {"faults.*.rate": None},
    "faults.*.rate": {"faults.*.mtbf": None},
    "faults.*.shape": {"faults.*.cv": None},
    "faults.*.cv": {"faults.*.shape": None},
}
_RESETS_BY_VALUE: Mapping[tuple[str, str], Mapping[str, Any]] = {
    ("checkpoint.mode", "async"): {"checkpoint.write": None},
    ("checkpoint.mode", "blocking"): dict.fromkeys(_SAVES),
    ("faults.*.law", "exponential"): dict.fromkeys(("faults.*.shape", "faults.*.cv", "faults.*.values")),
}


def resets(path: tuple[str, ...], value: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The siblings that `path` = `value` takes back, each with what it falls back to. null takes nothing back."""
    if value is None:
        return
    name = path[1] if path[0] == "faults" and len(path) == 3 else None
    pattern = ".".join(path) if name is None else f"faults.*.{path[2]}"
    found = dict(_RESETS.get(pattern, {}))
    if isinstance(value, str):
        found.update(_RESETS_BY_VALUE.get((pattern, value), {}))
    for sibling, unset in found.items():
        steps = sibling.split(".")
        yield tuple(name if step == "*" and name is not None else step for step in steps), unset
