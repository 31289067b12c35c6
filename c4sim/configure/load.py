"""Overrides in, scenarios out: one for `load_scenario`, one a point for `load_points`."""

import functools
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from c4sim.configure.document import Draft
from c4sim.configure.errors import ConfigError
from c4sim.configure.files import SCENARIO_GROUP, Library
from c4sim.configure.grammar import Assignment, read_overrides
from c4sim.configure.plainfile import FileRefusedError, read_fault_list
from c4sim.configure.refused import take_out_refused
from c4sim.configure.sweeps import Choice, Pairing, combinations, listed_points
from c4sim.scenario import Problem, Scenario, ScenarioError, validate
from c4sim.scenario.checks import nearest

DEFAULT_SCENARIO = "single_class"


@dataclass(frozen=True)
class Point:
    """One point of a sweep: its overrides, what was swept, and the scenario, or the problems that leave none.

    `swept` maps each swept or listed key to its value as text.
    """

    index: int
    overrides: tuple[str, ...]
    swept: dict[str, str]
    scenario: Scenario | None
    problems: tuple[Problem, ...] = ()


def load_scenario(name: str, *overrides: str, config_dir: str | Path | None = None) -> Scenario:
    """The scenario `name` with `overrides` ("checkpoint.interval=10min", "detection=c4d") in Hydra's grammar.

    config_dir: the user's own folder of YAML groups, looked at first. Works inside another Hydra application
    and in threads. Raises ConfigError with every mistake at once.
    """
    point = load_points([f"{SCENARIO_GROUP}={name}", *overrides], config_dir=config_dir, multirun=False)[0]
    assert point.scenario is not None
    return point.scenario


def load_points(
    overrides: Sequence[str],
    *,
    config_dir: str | Path | None = None,
    on_top: Sequence[str] = (),
    pairing: Pairing = "product",
    points_file: str | None = None,
    multirun: bool = True,
) -> tuple[Point, ...]:
    """The points that `overrides` span; `scenario=NAME` is one of them (default: single_class).

    on_top: overrides of a second layer, which change what the first ones have set. A key may stand in each layer once.
    pairing: `product` of all values, or `zip`, the values of the swept keys side by side. points_file: a CSV file
    with a column per key and a row per point, a layer more, combined with what `overrides` sweep. multirun false:
    several values are a mistake.

    A mistake of some points only leaves those without scenario. Raises ConfigError when no point has one.
    """
    loader = _Loader(Library(config_dir))
    given = loader.read(overrides)
    top = loader.read(on_top)
    rows = loader.rows(points_file)
    if not multirun:
        loader.problems.extend(_not_swept(assignment) for assignment in [*given, *top] if assignment.swept)
    points: list[Point] = []
    for row in rows if not loader.problems or multirun else [[]]:
        for choice in combinations([*given, *top, *row], pairing, loader.problems):
            listed = {assignment.key for assignment in row}
            points.append(loader.point(len(points), choice[: len(given)], choice[len(given) :], listed))
            if loader.problems:
                break
    loader.raise_problems(points)
    return tuple(points)


def _value_text(assignment: Assignment) -> str:
    return ",".join(text.partition("=")[2] for text in assignment.texts)


def _shown(assignment: Assignment, at: int) -> str:
    value = assignment.values[at]
    return value if isinstance(value, str) else assignment.texts[at].partition("=")[2]


def _not_swept(assignment: Assignment) -> Problem:
    message = "has several values: add -m to sweep over them, or write [a,b] for a list"
    return Problem(assignment.key, message, len(assignment.values))


@dataclass
class _Loader:
    library: Library
    problems: list[Problem] = field(default_factory=list)
    bases: dict[tuple[tuple[str, str], ...], Draft] = field(default_factory=dict)
    tables: dict[str, Any] = field(default_factory=dict)

    def read(self, texts: Iterable[str]) -> list[Assignment]:
        given = list(texts)
        wrong = [text for text in given if not isinstance(text, str)]
        if wrong:
            raise ConfigError(
                [Problem("overrides", "must be texts, key=value, one an argument", text) for text in wrong]
            )
        found = read_overrides(given, self.library.options, self.problems)
        for key, count in Counter(assignment.key for assignment in found).items():
            if count > 1:
                values = " and ".join(_value_text(a) for a in found if a.key == key)
                message = f"is given {count} times, as {values}; leave one (several values of a sweep: {key}=A,B)"
                self.problems.append(Problem(key, message))
        return found

    def rows(self, points_file: str | None) -> list[list[Assignment]]:
        """The assignments of each row of the points file; one empty row without a file."""
        if points_file is None:
            return [[]]
        try:
            listed = listed_points(points_file, self.library.user_folder)
        except FileRefusedError as refusal:
            self.problems.append(Problem("points", str(refusal), points_file))
            return [[]]
        rows = [self.read(texts) for texts in listed]
        self.problems.extend(_not_swept(a) for row in rows for a in row if a.swept)
        return rows

    def point(self, index: int, base: list[Choice], top: list[Choice], listed: set[str]) -> Point:
        choice = [*base, *top]
        overrides = tuple(assignment.texts[at] for assignment, at in choice)
        swept = {a.key: _shown(a, at) for a, at in choice if a.swept or a.key in listed}
        groups, problems = {SCENARIO_GROUP: DEFAULT_SCENARIO}, list[Problem]()
        layers = [self._split(layer, groups, problems) for layer in (base, top)]
        draft = self._base(groups).copy()
        for values in layers:
            problems += draft.override(values)
        document = draft.finished()
        if document.get("name") is None:
            document["name"] = groups[SCENARIO_GROUP]
        problems += take_out_refused(document)
        problems += self._read_fault_list(document)
        try:
            scenario = validate(document)
        except ScenarioError as error:
            problems += error.problems
        return Point(index, overrides, swept, None if problems else scenario, tuple(problems))

    def raise_problems(self, points: list[Point]) -> None:
        """Raise what is wrong with all points, if nothing can be run."""
        if not self.problems and any(point.scenario is not None for point in points):
            return
        found = [*self.problems, *(problem for point in points for problem in point.problems)]
        raise ConfigError(list({str(problem): problem for problem in found}.values()))

    def _split(self, choice: list[Choice], groups: dict[str, str], problems: list[Problem]) -> list[tuple[str, Any]]:
        """The values that are assigned. Group choices go to `groups`, those that do not exist to `problems`."""
        values = []
        for key, value in ((assignment.key, assignment.values[at]) for assignment, at in choice):
            options = self.library.options(key)
            if not options and "/" not in key:
                values.append((key, value))
            elif not options:
                problems.append(Problem(key, "no such group" + nearest(key, self.library.groups()), value))
            elif isinstance(value, dict) and key != SCENARIO_GROUP:
                values.append((key, value))
            elif value in options:
                groups[key] = value
            else:
                hint = " (got None)" if value is None else nearest(str(value), options)
                problems.append(Problem(key, f"must be one of {', '.join(options)}{hint}", value))
        if any(problem.path == SCENARIO_GROUP for problem in problems):
            # Which fault classes there are depends on the scenario that is not known.
            values = [(key, value) for key, value in values if not key.startswith("faults.")]
        return values

    def _base(self, groups: dict[str, str]) -> Draft:
        key = tuple(sorted(groups.items()))
        if key not in self.bases:
            self.bases[key] = _shipped(key) if self.library.user_folder is None else _composed(self.library, key)
        return self.bases[key]

    def _read_fault_list(self, document: dict[str, Any]) -> list[Problem]:
        """Put the content of the file that `fault_list` names in its place."""
        name = document.get("fault_list")
        if not isinstance(name, str):
            return []
        try:
            if name not in self.tables:
                self.tables[name] = read_fault_list(name, self.library.user_folder)
            document["fault_list"] = self.tables[name]
        except FileRefusedError as refusal:
            document["fault_list"] = None
            return [Problem("fault_list", str(refusal), name)]
        return []


def _composed(library: Library, choices: tuple[tuple[str, str], ...]) -> Draft:
    draft = Draft()
    chosen = f"{SCENARIO_GROUP}/{dict(choices)[SCENARIO_GROUP]}.yaml"
    for layer in library.layers(dict(choices)):
        draft.lay(layer.content, layer.user_file)
        if layer.user_file == chosen and "name" not in layer.content:
            draft.data["name"] = None  # not the name of the scenario that it builds on
    return draft


@functools.lru_cache(maxsize=64)
def _shipped(choices: tuple[tuple[str, str], ...]) -> Draft:
    return _composed(Library(), choices)
