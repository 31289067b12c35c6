"""A scenario document under construction: layers and overrides set values by replacement and keep the provenance true.

A value is what stands at `section.key` (or `faults.<class>.key`, or a top-level key that is no section). It is replaced
as a whole, never merged into the old one; a longer override path (`isolation.automatic.delay`) edits inside it.
"""

import copy
from collections.abc import Iterator, Mapping
from typing import Any, get_args, get_origin

from c4sim.configure.siblings import resets
from c4sim.scenario import Problem, Scenario
from c4sim.scenario.checks import nearest
from c4sim.scenario.values import Model

Path = tuple[str, ...]
FAULTS = "faults"
PROVENANCE = "provenance"


def _is_section(annotation: Any) -> bool:
    """Whether a top-level field holds one model (or none), so that its keys are set one by one."""
    if get_origin(annotation) is dict:
        return False
    options = get_args(annotation) or (annotation,)
    return any(isinstance(option, type) and issubclass(option, Model) for option in options)


SECTIONS = frozenset(name for name, field in Scenario.model_fields.items() if _is_section(field.annotation))


class Draft:
    """Nested plain data on its way to a scenario; `data` is what `c4sim.scenario.validate` takes."""

    def __init__(self, data: dict[str, Any] | None = None) -> None:
        self.data: dict[str, Any] = {PROVENANCE: {}, FAULTS: {}} if data is None else data

    def copy(self) -> "Draft":
        """An independent draft."""
        return Draft(copy.deepcopy(self.data))

    def lay(self, content: Mapping[str, Any], user_file: str | None) -> None:
        """Put one file over what stands.

        A value that the user's own file changes becomes the user's, unless the file says otherwise.
        """
        origin = content.get(PROVENANCE)
        own = set(origin) if isinstance(origin, dict) else set()
        given = dict(_values(content))
        changed = [path for path, value in given.items() if self._get(path) != value]
        for path, value in given.items():
            self._put(path, copy.deepcopy(value))
        self._reset_siblings(given)
        if user_file is not None:
            for path in changed:
                self._mark(path, {"kind": "user", "source": user_file})
        if isinstance(origin, dict):
            for key in own:
                self._forget(key)
            self.data[PROVENANCE].update(copy.deepcopy(origin))

    def override(self, assignments: list[tuple[str, Any]]) -> list[Problem]:
        """Set what the user overrides, in order. Returns the keys that cannot be set."""
        problems: list[Problem] = []
        given: dict[Path, Any] = {}
        for key, value in assignments:
            path = tuple(key.split("."))
            problem = self._refusal(path, value)
            if problem is not None:
                problems.append(problem)
                continue
            self._put(path, copy.deepcopy(value))
            given.update(_mentioned(path, value))
            self._mark(path, {"kind": "user"})
        self._reset_siblings(given)
        return problems

    def finished(self) -> dict[str, Any]:
        """The document without the fault classes that were set to null."""
        faults = self.data.get(FAULTS)
        if not isinstance(faults, dict):
            return self.data
        return {**self.data, FAULTS: {name: fault for name, fault in faults.items() if fault is not None}}

    def _refusal(self, path: Path, value: Any) -> Problem | None:
        key = ".".join(path)
        if path[0] == PROVENANCE:
            return Problem(key, "is kept by c4sim; put it in a YAML file of --config-dir", value)
        faults = self.data.get(FAULTS)
        if path[0] == FAULTS and len(path) > 1 and isinstance(faults, dict) and path[1] not in faults:
            message = "no such fault class (new ones go into a YAML file of --config-dir)"
            return Problem(f"{FAULTS}.{path[1]}", message + nearest(path[1], list(faults)), path[1])
        for depth in range(1, len(path)):
            node = self._get(path[:depth])
            if isinstance(node, list) and not _is_index(path[depth], node):
                return Problem(key, f"{'.'.join(path[:depth])} is a list of {len(node)}", value)
            if node is not None and not isinstance(node, dict | list):
                return Problem(key, f"{'.'.join(path[:depth])} is one value ({node!r}); set it as a whole", value)
        return None

    def _get(self, path: Path) -> Any:
        node: Any = self.data
        for step in path:
            if isinstance(node, dict):
                node = node.get(step)
            elif isinstance(node, list) and _is_index(step, node):
                node = node[int(step)]
            else:
                return None
        return node

    def _put(self, path: Path, value: Any) -> None:
        node: Any = self.data
        for step in path[:-1]:
            if isinstance(node, list):
                node = node[int(step)]
                continue
            if node.get(step) is None:
                node[step] = {}
            node = node[step]
        if isinstance(node, list):
            node[int(path[-1])] = value
        else:
            node[path[-1]] = value

    def _reset_siblings(self, given: Mapping[Path, Any]) -> None:
        for path, value in given.items():
            for sibling, unset in resets(path, value):
                if sibling not in given:
                    self._put(sibling, unset)
                    self._forget(".".join(sibling))

    def _mark(self, path: Path, origin: dict[str, Any]) -> None:
        key = ".".join(path)
        self._forget(key)
        self.data[PROVENANCE][key] = origin

    def _forget(self, key: str) -> None:
        provenance = self.data[PROVENANCE]
        for known in [k for k in provenance if k == key or k.startswith(key + ".")]:
            del provenance[known]


def _is_index(step: str, node: list[Any]) -> bool:
    return step.isdecimal() and int(step) < len(node)


def _values(content: Mapping[str, Any]) -> Iterator[tuple[Path, Any]]:
    """The values that a file sets, by path; provenance apart."""
    for key, value in content.items():
        if key == FAULTS and isinstance(value, dict):
            for name, fault in value.items():
                yield from _keys((FAULTS, name), fault)
        elif key in SECTIONS:
            yield from _keys((key,), value)
        elif key != PROVENANCE:
            yield (key,), value


def _keys(path: Path, section: Any) -> Iterator[tuple[Path, Any]]:
    if isinstance(section, dict) and section:
        for key, value in section.items():
            yield (*path, str(key)), value
    else:
        yield path, section


def _mentioned(path: Path, value: Any) -> Iterator[tuple[Path, Any]]:
    """The values that an override speaks of: itself, those of a whole section, or the one that it edits inside."""
    depth = 3 if path[0] == FAULTS else 2 if path[0] in SECTIONS else 1
    if len(path) < depth:
        nested = value
        for step in reversed(path):
            nested = {step: nested}
        yield from _values(nested)
    else:
        yield path[:depth], value
