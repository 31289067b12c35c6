"""Plain nested data: what differs between two documents, and how to get from one to the other."""

from collections.abc import Mapping
from typing import Any

_ABSENT = "(absent)"


def flatten(document: Any, prefix: str = "") -> dict[str, Any]:
    """Dotted path -> leaf. A list is a leaf."""
    if not isinstance(document, Mapping) or not document:
        return {prefix: document}
    flat: dict[str, Any] = {}
    for key, value in document.items():
        flat.update(flatten(value, f"{prefix}.{key}" if prefix else str(key)))
    return flat


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Readable lines `path: before -> after` for every leaf that differs."""
    old, new = flatten(before), flatten(after)
    paths = [*old, *(path for path in new if path not in old)]
    lines = []
    for path in paths:
        was, now = old.get(path, _ABSENT), new.get(path, _ABSENT)
        if was != now:
            lines.append(f"{path}: {was} -> {now}")
    return lines


def change(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """The smallest nested change that `apply` turns `before` into `after` with.

    {"set": {key: value}, "remove": [key], "in": {key: change}}, parts left out where empty.
    """
    both = [key for key in after if key in before and before[key] != after[key]]
    nested = [key for key in both if isinstance(before[key], Mapping) and isinstance(after[key], Mapping)]
    given = {key: after[key] for key in after if key not in before or (key in both and key not in nested)}
    parts = {
        "set": given,
        "remove": [key for key in before if key not in after],
        "in": {key: change(before[key], after[key]) for key in nested},
    }
    return {name: part for name, part in parts.items() if part}


def apply(before: Mapping[str, Any], step: Mapping[str, Any]) -> dict[str, Any]:
    """What `change` describes, done; keys keep their order, new ones come last."""
    after = {key: value for key, value in before.items() if key not in step.get("remove", ())}
    after.update(step.get("set", {}))
    for key, inner in step.get("in", {}).items():
        after[key] = apply(after[key], inner)
    return after
