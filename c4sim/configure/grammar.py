"""Override texts in Hydra's grammar, read into plain assignments without touching Hydra's global state."""

import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from hydra.core.override_parser.overrides_parser import OverridesParser, create_functions
from hydra.core.override_parser.types import (
    ChoiceSweep,
    Glob,
    Override,
    OverrideType,
    QuotedString,
    RangeSweep,
)
from hydra.errors import HydraException

from c4sim.scenario import Problem

LONGEST_TEXT = 20_000
MOST_VALUES = 100_000

# The generated parser keeps its tables in class attributes and fills them while it parses.
_PARSING = threading.Lock()


@dataclass(frozen=True)
class Assignment:
    """One override: a dotted key (or group) and its values, several when it is swept.

    `texts` holds one override text a value.
    """

    key: str
    values: tuple[Any, ...]
    texts: tuple[str, ...]
    swept: bool


class _RefusedError(ValueError):
    """An override that parses but is not taken; the message says why."""


def read_overrides(
    texts: Sequence[str], options_of: Callable[[str], list[str]], problems: list[Problem]
) -> list[Assignment]:
    """The assignments in `texts`, in order; what cannot be read is appended to `problems`.

    options_of: the options of a config group, for glob(...); an empty list for a key that is no group.
    """
    found = []
    for text in texts:
        try:
            found.append(_read(text, options_of))
        except _RefusedError as refusal:
            problems.append(_problem(text, str(refusal)))
        except (HydraException, ValueError, TypeError, ArithmeticError, RecursionError) as error:
            problems.append(_problem(text, f"cannot be read: {_first_line(error)}{_quoting_hint(text, error)}"))
    return found


def read_values(texts: Sequence[str], problems: list[Problem]) -> dict[str, tuple[Any, ...]]:
    """Key -> the values listed for it ("checkpoint.interval=10min,6h").

    What cannot be read is appended to `problems`.
    """
    return {found.key: found.values for found in read_overrides(texts, lambda _: [], problems)}


def _problem(text: str, message: str) -> Problem:
    key, equals, value = text[:LONGEST_TEXT].partition("=")
    return Problem(key.strip().lstrip("+~") or "override", message, _shortened(value if equals else text))


def _shortened(text: str, longest: int = 60) -> str:
    return text if len(text) <= longest else f"{text[: longest - 3]}..."


def _first_line(error: BaseException) -> str:
    if isinstance(error, RecursionError):
        return "nested too deeply"
    return _shortened(str(error).strip().split("\n", 1)[0], 100) or type(error).__name__


def _quoting_hint(text: str, error: BaseException) -> str:
    key, _, value = text.partition("=")
    quotable = "token recognition" in str(error) and not set(value) & set("'\"[]{}()\\")
    return f"; such a value is written in quotes, as in \"{key}='{_shortened(value)}'\"" if quotable else ""


def _read(text: str, options_of: Callable[[str], list[str]]) -> Assignment:
    if len(text) > LONGEST_TEXT:
        raise _RefusedError(f"is longer than {LONGEST_TEXT:,} characters; put it in a file of --config-dir")
    if text.startswith("+"):
        raise _RefusedError("is written without '+': every key exists already")
    if text.startswith("~"):
        raise _RefusedError("cannot be deleted; write key=null")
    if "=" not in text:
        raise _RefusedError("an override is written key=value")
    override = _parse(text)
    if override.package is not None:
        raise _RefusedError("is written without '@package'")
    return _assignment(override, text, options_of)


def _parse(text: str) -> Override:
    functions = create_functions()
    for function in ("shuffle", "interval"):  # a sweep is an ordered list of points, the same at every run
        del functions.functions[function], functions.definitions[function]
    with _PARSING:
        override = OverridesParser(functions).parse_override(text)
    assert override.type is OverrideType.CHANGE
    return override


def _assignment(override: Override, text: str, options_of: Callable[[str], list[str]]) -> Assignment:
    key = override.key_or_group
    raw: Any = override._value
    if isinstance(raw, Glob):
        raw = ChoiceSweep(list=list(raw.filter(options_of(key))))
    if isinstance(raw, RangeSweep):
        values: tuple[Any, ...] = _range_values(raw)
    elif isinstance(raw, ChoiceSweep):
        values = tuple(raw.list)
    else:
        return Assignment(key, (_plain(raw),), (text,), swept=False)
    if not values:
        raise _RefusedError("sweeps over nothing")
    texts = tuple(f"{key}={Override._get_value_element_as_str(value)}" for value in values)
    return Assignment(key, tuple(_plain(value) for value in values), texts, swept=True)


def _plain(value: Any) -> Any:
    if isinstance(value, QuotedString):
        return value.text
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(_plain(key)): _plain(item) for key, item in value.items()}
    return value


def _range_values(sweep: RangeSweep) -> tuple[int | float, ...]:
    """start, start + step, ... short of stop, in decimal arithmetic: range(.1,.5,.1) is .1, .2, .3, .4 to the digit."""
    bounds = (sweep.start, sweep.stop, sweep.step)
    if not all(bound is not None and math.isfinite(bound) for bound in bounds) or not sweep.step:
        raise _RefusedError("a range needs finite bounds and a step that is not 0")
    start, stop, step = (Decimal(repr(bound)) for bound in bounds)
    count = math.ceil((stop - start) / step)
    if count > MOST_VALUES:
        raise _RefusedError(f"sweeps over more than {MOST_VALUES:,} values")
    whole = all(isinstance(bound, int) for bound in bounds)
    return tuple((int if whole else float)(start + index * step) for index in range(count))
