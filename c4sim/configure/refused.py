"""What no configuration may hold, whoever wrote it."""

from collections.abc import Iterator
from typing import Any

from c4sim.scenario import Problem


def take_out_refused(document: dict[str, Any]) -> list[Problem]:
    """Remove interpolations, missing markers and names to instantiate from `document`; a problem for each."""
    return list(_search(document, ()))


def _search(node: Any, path: tuple[str, ...]) -> Iterator[Problem]:
    if isinstance(node, dict):
        for key in list(node):
            at = (*path, str(key))
            message = _key_refusal(str(key)) or _value_refusal(node[key])
            if message:
                del node[key]
                yield Problem(".".join(at), message)
            else:
                yield from _search(node[key], at)
    elif isinstance(node, list):
        for index, item in enumerate(node):
            message = _value_refusal(item)
            if message:
                yield Problem(".".join((*path, str(index))), message)
            else:
                yield from _search(item, (*path, str(index)))
        node[:] = [item for item in node if not _value_refusal(item)]


def _key_refusal(key: str) -> str | None:
    if key.startswith("_") and key.endswith("_"):
        return "is refused: nothing that a configuration names is instantiated"
    return None


def _value_refusal(value: Any) -> str | None:
    if isinstance(value, str) and "${" in value:
        return "interpolation ${...} is refused: a scenario holds values only"
    return "is marked as missing (???)" if value == "???" else None
