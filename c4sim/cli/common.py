"""What several verbs share: their common options, and the scenario that their words describe."""

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from c4sim.cli import readers
from c4sim.cli.words import Reader, UsageError, Words
from c4sim.scenario import Problem, Scenario, ScenarioError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from c4sim.configure import Point
    from c4sim.experiment import Precision

FORMAT: dict[str, Reader] = {"format": readers.text_format}
SEED: dict[str, Reader] = {"seed": readers.whole(0)}
WORKERS: dict[str, Reader] = {"workers": readers.whole(1, 1024)}
REPLICATIONS: dict[str, Reader] = {
    "replications": readers.whole_or_auto(1, 10_000_000),
    "target": readers.share,
    "budget": readers.whole(2, 10_000_000),
}
CONFIG_DIR = ("--config-dir",)
SMALL = 500  # replications that a second process is not worth starting for

REPLICATIONS_HELP = """\
  replications=N|auto   number of simulated runs; auto: as many as target= needs
  target=0.1pp          with auto: half width of the 95 % interval of the downtime fraction
  budget=N              with auto: at most so many (10000)
  seed=N                random streams are keyed on it (0)
  workers=N             processes (all cores when it is worth it)"""

_LONGEST_TOGETHER = 64


@contextmanager
def refusing(*errors: type[Exception]) -> "Iterator[None]":
    """Turn these errors of a called function, whose text is written for the user, into bad input."""
    try:
        yield
    except errors as error:
        if hasattr(error, "problems"):
            raise
        raise UsageError([problem_of(line) for line in str(error).splitlines()]) from error


def problem_of(line: str) -> Problem:
    """'path: what is wrong' as a problem."""
    path, colon, message = line.partition(": ")
    apart = bool(colon) and len(path) <= _LONGEST_TOGETHER and " " not in path
    return Problem(path, message) if apart else Problem("input", line)


def points_of(words: Words, *, multirun: bool = False) -> "tuple[Point, ...]":
    """The points that the overrides span.

    Raises UsageError with the problems of the words and of the scenario together.
    """
    from c4sim.configure import load_points

    try:
        points = load_points(
            words.overrides,
            config_dir=words.text("--config-dir"),
            pairing=words.options.get("sweep", "product"),
            points_file=words.options.get("points"),
            multirun=multirun,
        )
    except ScenarioError as error:
        raise UsageError([*words.problems, *error.problems]) from error
    words.check()
    return points


def scenario_of(words: Words) -> Scenario:
    """The one scenario that the overrides describe."""
    scenario = points_of(words)[0].scenario
    assert scenario is not None
    return scenario


def alternatives_of(words: Words, options: "Collection[str]") -> dict[str, Scenario]:
    """The scenario of each --with, by its text: the overrides in it are on top of those of the base.

    options: those of the verb, which hold for all alternatives. Notes what is wrong in `words`.
    """
    from c4sim.configure import load_points

    found: dict[str, Scenario] = {}
    for text in words.texts.get("--with", []):
        on_top = split_overrides(text)
        for part in [part for part in on_top if part.partition("=")[0] in options]:
            words.wrong("--with", "takes what holds for one alternative; put this option outside it", part)
            on_top.remove(part)
        folder = words.text("--config-dir")
        try:
            point = load_points(words.overrides, on_top=on_top, config_dir=folder, multirun=False)[0]
        except ScenarioError as error:
            words.problems += error.problems
        else:
            assert point.scenario is not None
            found[text] = point.scenario
    return found


def split_overrides(text: str) -> list[str]:
    """The overrides in one text: a blank before key= separates them, other blanks belong to values."""
    return [part for part in re.split(r"\s+(?=[+~]*[A-Za-z_][\w./@-]*=)", text.strip()) if part]


def replications_of(words: Words, default: int) -> "int | Precision":
    """`replications=`, `target=` and `budget=` together."""
    from c4sim.experiment import Precision

    given = words.options
    count: int | str = given.get("replications", default)
    if count == "auto":
        if "target" not in given:
            words.wrong("target", "is required with replications=auto, as in target=0.1pp")
        words.check()
        limits: dict[str, Any] = {"budget": given["budget"]} if "budget" in given else {}
        with refusing(ValueError):
            return Precision(given["target"], **limits)
    for name in ("target", "budget"):
        if name in given:
            words.wrong(name, "goes with replications=auto", given[name])
    words.check()
    return int(count)


def workers_of(words: Words, replications: "int | Precision") -> int:
    """`workers=`, or all cores when there is enough to do."""
    from c4sim.executors import cpu_count

    if "workers" in words.options:
        return int(words.options["workers"])
    return 1 if isinstance(replications, int) and replications <= SMALL else cpu_count()
