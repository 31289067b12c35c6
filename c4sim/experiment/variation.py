"""A scenario with some keys changed, as data: no configuration files, no override grammar."""

import copy
from collections.abc import Mapping
from typing import Any

from c4sim.scenario import Problem, Scenario, ScenarioError, validate
from c4sim.scenario.checks import nearest


def vary(scenario: Scenario, changes: Mapping[str, Any]) -> Scenario:
    """The scenario with dotted keys set to new values, written as in a configuration ("10min", 0.8).

    "isolation.delay.mean" also finds a delay that stands there as one duration. Keys that answer the same question
    fall back, as with an override (detection.delay takes detection.layers back). Raises ScenarioError about everything
    that is wrong, unknown keys included.
    """
    from c4sim.configure.siblings import resets  # the package knows Hydra, so late

    document = copy.deepcopy(scenario.as_document())
    problems = [problem for key, value in changes.items() if (problem := _set(document, key, value)) is not None]
    for key, value in changes.items() if not problems else ():
        for sibling, unset in resets(tuple(key.split(".")), value):
            if ".".join(sibling) not in changes:
                _set(document, ".".join(sibling), unset)
    if problems:
        raise ScenarioError(problems)
    return validate(document)


def value_at(scenario: Scenario, key: str) -> Any:
    """The value of a dotted key as the scenario's document holds it. Raises ScenarioError for an unknown key."""
    document = scenario.as_document()
    found = _find(document, key)
    if isinstance(found, Problem):
        raise ScenarioError([found])
    node, name = found
    return node[name]


def _set(document: dict[str, Any], key: str, value: Any) -> Problem | None:
    found = _find(document, key)
    if isinstance(found, Problem):
        return found
    node, name = found
    node[name] = value
    document["provenance"].pop(key, None)
    return None


def _find(document: dict[str, Any], key: str) -> tuple[dict[str, Any], str] | Problem:
    """The mapping that holds the key's value, and the value's name in it."""
    node: Any = document
    steps = key.split(".")
    for depth, step in enumerate(steps):
        if not isinstance(node, dict) or step not in node:
            known = list(node) if isinstance(node, dict) else []
            return Problem(key, "unknown key" + nearest(step, known))
        rest = steps[depth + 1 :]
        if not rest or (rest == ["mean"] and isinstance(node[step], str)):
            return node, step
        node = node[step]
    raise AssertionError("a key has at least one step")
