"""Validation that reports every problem at once: field by field, then across fields.

Checks across fields must also run when some other field is wrong, so a field that failed is replaced by its default
first and the checks that read it are left out.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from c4sim.scenario.combinations import CROSS_CHECKS, nearest, total_spares
from c4sim.scenario.model import Scenario
from c4sim.scenario.values import Model

__all__ = ["Problem", "ScenarioError", "dotted", "nearest", "total_spares", "validate"]

Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Problem:
    """One mistake: dotted path, what is wrong and what is allowed, and the value as given."""

    path: str
    message: str
    value: Any = None

    def __str__(self) -> str:
        got = "" if self.value is None or "(got " in self.message else f" (got {self.value!r})"
        return f"{self.path}: {self.message}{got}"


class ScenarioError(ValueError):
    """A scenario that cannot be; `problems` lists everything that is wrong with it."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = problems
        super().__init__("\n".join(str(problem) for problem in problems))


def validate(document: Mapping[str, Any]) -> Scenario:
    """The scenario that `document` (nested plain data, values as a user writes them) describes.

    Raises ScenarioError with every problem: unknown keys with the nearest valid name, values out of range, and
    combinations that contradict each other.
    """
    raw: dict[str, Any] = _copy(document)
    problems: list[Problem] = []
    wrong: list[Path] = []
    scenario: Scenario | None = None
    for _ in range(_MAX_PRUNINGS):
        try:
            scenario = Scenario.model_validate(raw)
            break
        except ValidationError as error:
            # All of them before any is cut out, which would move the paths of the others.
            for path, problem in list(_field_problems(error, raw)):
                if path not in wrong:
                    problems.append(problem)
                    wrong.append(path)
                _prune(raw, path)
    if scenario is not None:
        problems.extend(p for paths, p in _cross_problems(scenario) if not _touches(paths, wrong))
    if problems or scenario is None:
        raise ScenarioError(problems)
    return scenario


_MAX_PRUNINGS = 20


def _copy(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _copy(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_copy(item) for item in value]
    return value


def _existing(raw: Any, location: tuple[str | int, ...]) -> Path:
    """The part of pydantic's location that exists in the data (locations also name union members)."""
    path: list[str | int] = []
    node = raw
    for step in location:
        inside = isinstance(node, dict) and step in node
        if inside or (isinstance(node, list) and isinstance(step, int) and step < len(node)):
            node = node[step]
            path.append(step)
        elif isinstance(node, dict):
            path.append(step)
            break
        else:
            break
    return tuple(path)


def _lookup(raw: Any, path: Path) -> Any:
    for step in path:
        if isinstance(raw, dict):
            raw = raw.get(step)
        elif isinstance(raw, list) and isinstance(step, int) and step < len(raw):
            raw = raw[step]
        else:
            return None
    return raw


def _prune(raw: Any, path: Path) -> None:
    *parents, last = path or ("",)
    node = _lookup(raw, tuple(parents))
    if isinstance(node, dict):
        node.pop(last, None)
        # A section without its required key cannot be repaired: drop the section.
        if parents and _required(tuple(parents), str(last)):
            _prune(raw, tuple(parents))
    elif isinstance(node, list) and isinstance(last, int):
        _prune(raw, tuple(parents))


def _model_at(path: Path) -> type[Model] | None:
    model: Any = Scenario
    for step in path:
        model = _child_model(model, step)
        if model is None:
            return None
    return model if isinstance(model, type) and issubclass(model, Model) else None


def _child_model(annotation: Any, step: str | int) -> Any:
    if isinstance(annotation, type) and issubclass(annotation, Model):
        field = annotation.model_fields.get(str(step))
        return None if field is None else _unwrap(field.annotation)
    return annotation


def _unwrap(annotation: Any) -> Any:
    """The model inside Optional, dict[str, X] or tuple[X, ...]."""
    if isinstance(annotation, type) and issubclass(annotation, Model):
        return annotation
    for inner in getattr(annotation, "__args__", ()):
        found = _unwrap(inner)
        if found is not None:
            return found
    return None


def _required(parents: Path, name: str) -> bool:
    model = _model_at(parents)
    field = None if model is None else model.model_fields.get(name)
    return field is not None and field.is_required()


def dotted(path: Path) -> str:
    """The path as a user writes it: faults.crash.mtbf, detection.layers[0].delay."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else str(step)
    return text or "scenario"


def _field_problems(error: ValidationError, raw: Any) -> Iterator[tuple[Path, Problem]]:
    seen: set[Path] = set()
    for entry in error.errors(include_url=False):
        path = _existing(raw, entry["loc"])
        if path in seen:
            continue
        seen.add(path)
        message, value = _message(entry, path), _lookup(raw, path)
        if value is None and entry["type"] != "missing":
            message += " (got None)"
        yield path, Problem(dotted(path), message, value)


_WORDS = {
    "string_type": "must be text",
    "dict_type": "must be a mapping of names to values",
    "model_type": "must be a mapping of keys to values",
    "tuple_type": "must be a list",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "float_type": "must be a number",
    "int_type": "must be a whole number",
}


def _message(entry: Any, path: Path) -> str:
    kind = entry["type"]
    name = str(path[-1]) if path else ""
    if kind == "extra_forbidden":
        model = _model_at(path[:-1])
        return "unknown key" + ("" if model is None else nearest(name, list(model.model_fields)))
    if kind == "missing":
        return "is required"
    if kind == "value_error":
        return str(entry["ctx"]["error"])
    if kind in ("literal_error", "enum"):
        allowed = [part.strip("' ") for part in str(entry["ctx"]["expected"]).replace(" or ", ",").split(",")]
        return f"must be one of {', '.join(allowed)}" + nearest(str(entry["input"]), allowed)
    if kind == "too_short":
        return f"must hold at least {entry['ctx']['min_length']} value"
    return _WORDS.get(kind) or str(entry["msg"]).replace("Input should be", "must be")


def _touches(paths: tuple[str, ...], wrong: list[Path]) -> bool:
    texts = [dotted(path) for path in wrong]
    return any(p == w or p.startswith(w + ".") or w.startswith((p + ".", p + "[")) for p in paths for w in texts)


def _cross_problems(scenario: Scenario) -> Iterator[tuple[tuple[str, ...], Problem]]:
    for check in CROSS_CHECKS:
        for paths, message, value in check(scenario):
            yield paths, Problem(paths[0], message, value)
