"""Validation that reports every problem at once: field by field, then across fields.

Checks across fields must also run when some other field is wrong, so a field that failed is replaced by its default first and the
checks that read it are left out.
"""

import difflib
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from c4sim.scenario.model import Scenario
from c4sim.scenario.values import Model

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


def nearest(name: str, known: list[str]) -> str:
    """' (did you mean X?)' for the valid name nearest to `name`, or the empty text."""
    close = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean '{close[0]}'?" if close else ""


def validate(document: Mapping[str, Any]) -> Scenario:
    """The scenario that `document` (nested plain data, values as a user writes them) describes.

    Raises ScenarioError with every problem: unknown keys with the nearest valid name, values out of range, and combinations that
    contradict each other.
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
            for path, problem in _field_problems(error, raw):
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
        if (isinstance(node, dict) and step in node) or (
            isinstance(node, list) and isinstance(step, int) and step < len(node)
        ):
            node = node[step]
            path.append(step)
        elif isinstance(node, dict) and node:
            path.append(step)
            break
        else:
            break
    return tuple(path)


def _lookup(raw: Any, path: Path) -> Any:
    for step in path:
        if isinstance(raw, dict):
            raw = raw.get(step)  # type: ignore[arg-type]
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
        if path and last not in node and parents and _lookup(raw, path) is None and _required(tuple(parents), str(last)):
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
        yield path, Problem(dotted(path), _message(entry, path), _lookup(raw, path))


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
    text = str(entry["msg"])
    if kind in ("literal_error", "enum"):
        allowed = [part.strip("' ") for part in str(entry["ctx"]["expected"]).replace(" or ", ",").split(",")]
        return f"must be one of {', '.join(allowed)}" + nearest(str(entry["input"]), allowed)
    return text[0].lower() + text[1:]


Found = tuple[tuple[str, ...], str, Any]


def _touches(paths: tuple[str, ...], wrong: list[Path]) -> bool:
    texts = [dotted(path) for path in wrong]
    return any(p == w or p.startswith(w + ".") or w.startswith((p + ".", p + "[")) for p in paths for w in texts)


def _cross_problems(scenario: Scenario) -> Iterator[tuple[tuple[str, ...], Problem]]:
    for check in CROSS_CHECKS:
        for paths, message, value in check(scenario):
            yield paths, Problem(paths[0], message, value)


def _check_window(s: Scenario) -> Iterator[Found]:
    if (s.horizon is None) == (s.work is None):
        yield ("horizon", "work"), "give either horizon or work, not both and not neither", None
    if s.horizon is not None and not s.horizon > s.warmup:
        yield ("horizon", "warmup"), f"must be longer than warmup ({s.warmup:g} s)", s.horizon
    if s.work is not None and not s.work > 0.0:
        yield ("work",), "must be longer than 0", s.work


def _check_places(s: Scenario) -> Iterator[Found]:
    nodes, most, jobs = s.cluster.nodes, s.job.max_nodes, s.job.nodes
    if nodes is not None and jobs > nodes:
        yield ("job.nodes", "cluster.nodes"), f"the job needs more nodes than cluster.nodes = {nodes}", jobs
    if most is not None and most < jobs:
        yield ("job.max_nodes", "job.nodes"), f"must be at least job.nodes = {jobs}", most
    spares = total_spares(s)
    if spares is None:
        return
    for key, given in (("cluster.nodes", nodes), ("job.max_nodes", most)):
        if given is not None and jobs <= given < jobs + spares:
            paths = (key, "job.nodes", "spares.total", "spares.per_pool", "spares.pool_nodes")
            yield paths, f"must be at least job.nodes + spares = {jobs} + {spares} = {jobs + spares}", given


def total_spares(s: Scenario) -> int | None:
    """Spares of all pools together; None when they are unlimited."""
    if s.spares.total is not None:
        return None if s.spares.total == "unlimited" else s.spares.total
    if s.spares.per_pool is None or s.spares.per_pool == "unlimited":
        return None
    return math.ceil(s.job.nodes / s.spares.pool_nodes) * s.spares.per_pool


def _check_spares(s: Scenario) -> Iterator[Found]:
    if (s.spares.total is None) == (s.spares.per_pool is None):
        yield ("spares.total", "spares.per_pool"), "give either spares.total or spares.per_pool", s.spares.total


def _check_rates(s: Scenario) -> Iterator[Found]:
    for name, fault in s.faults.items():
        at = f"faults.{name}"
        if fault.mtbf is not None and fault.rate is not None:
            yield (f"{at}.mtbf", f"{at}.rate"), "give either mtbf or rate, not both", None
        if fault.law == "exponential" and (fault.shape is not None or fault.cv is not None):
            yield (f"{at}.law", f"{at}.shape", f"{at}.cv"), "an exponential law takes no shape or cv", fault.law
        if fault.law in ("weibull", "gamma", "lognormal") and (fault.shape is None) == (fault.cv is None):
            yield (f"{at}.law", f"{at}.shape", f"{at}.cv"), f"a {fault.law} law needs shape or cv (one of them)", fault.law
        if fault.law == "lognormal" and fault.shape is not None:
            yield (f"{at}.shape",), "a lognormal law takes cv", fault.shape
        if (fault.law == "empirical") != (fault.values is not None):
            yield (f"{at}.values", f"{at}.law"), "values and law=empirical go together", fault.law
        if (fault.start == "given") != (fault.ages is not None):
            yield (f"{at}.ages", f"{at}.start"), "ages and start=given go together", fault.start
        if (fault.effect == "slow") != (fault.slow_factor is not None):
            yield (f"{at}.slow_factor", f"{at}.effect"), "slow_factor and effect=slow go together", fault.effect
        if (fault.effect == "corruption") != (fault.latency is not None):
            yield (f"{at}.latency", f"{at}.effect"), "latency and effect=corruption go together", fault.effect


def _check_checkpoint(s: Scenario) -> Iterator[Found]:
    c, timeout = s.checkpoint, s.detection.collective_timeout
    if isinstance(c.interval, float) and not c.interval > 0.0:
        yield ("checkpoint.interval",), "must be longer than 0", c.interval
    stall = c.write if c.mode == "blocking" else c.stall
    if timeout is not None and stall is not None and stall >= timeout:
        paths = ("checkpoint.write", "detection.collective_timeout")
        yield paths, f"a save that long runs into detection.collective_timeout = {timeout:g} s: every save would kill the job", stall
    if c.mode == "async" and c.tiers is None:
        for key in ("stall", "persist", "slowdown"):
            if getattr(c, key) is None:
                yield (f"checkpoint.{key}", "checkpoint.mode"), "must be given for mode=async (0 is an answer, silence is not)", None
    if c.mode == "blocking" and c.write is None and c.tiers is None:
        yield ("checkpoint.write", "checkpoint.mode"), "must be given for mode=blocking", None


def _check_references(s: Scenario) -> Iterator[Found]:
    known = list(s.faults)
    for name in s.isolation.by_cause or {}:
        if name not in s.faults:
            yield (f"isolation.by_cause.{name}", "faults"), "no such fault class" + nearest(name, known), None
    for index, fault in enumerate(s.fault_list or ()):
        at = f"fault_list[{index}]"
        if fault.kind not in s.faults:
            yield (f"{at}.kind", "faults"), "no such fault class" + nearest(fault.kind, known), fault.kind
        if fault.node >= s.job.nodes:
            yield (f"{at}.node", "job.nodes"), f"the job has nodes 0 to {s.job.nodes - 1}", fault.node


def _check_layers(s: Scenario) -> Iterator[Found]:
    layers = s.detection.layers
    if layers is not None and (not layers or layers[-1].coverage < 1.0 or layers[-1].symptoms is not None):
        yield ("detection.layers",), "the last layer must cover everything (coverage 1, no symptoms), or a hang is never seen", None


CROSS_CHECKS: tuple[Callable[[Scenario], Iterator[Found]], ...] = (
    _check_window,
    _check_places,
    _check_spares,
    _check_rates,
    _check_checkpoint,
    _check_references,
    _check_layers,
)
