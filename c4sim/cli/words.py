"""The words after a verb: options of the verb, overrides of the scenario, flags, and what is left."""

import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from c4sim.scenario import Problem


class UsageError(ValueError):
    """Words that cannot be taken; `problems` lists all that is wrong with them."""

    def __init__(self, problems: "Iterable[Problem]") -> None:
        self.problems = list(problems)
        super().__init__("; ".join(str(problem) for problem in self.problems))


Reader = Callable[[str], Any]


@dataclass(frozen=True)
class Grammar:
    """What a verb takes: options (key=value) with readers, switches (--update), texts (--config-dir TEXT), overrides.

    lists: flags with a text that may be given several times (--with TEXT).
    positional: what other words are, in a word or two; null: there are none.
    """

    options: Mapping[str, Reader] = field(default_factory=dict)
    switches: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()
    overrides: bool = True
    positional: str | None = None


@dataclass
class Words:
    """What was said. `options` holds only the given ones, `given` their texts; `problems` what is wrong so far, for the
    verb to add to.
    """

    options: dict[str, Any] = field(default_factory=dict)
    switches: set[str] = field(default_factory=set)
    texts: dict[str, list[str]] = field(default_factory=dict)
    overrides: list[str] = field(default_factory=list)
    positional: list[str] = field(default_factory=list)
    given: dict[str, str] = field(default_factory=dict)
    problems: "list[Problem]" = field(default_factory=list)

    def text(self, name: str) -> str | None:
        """The text given for a --flag."""
        return self.texts.get(name, [None])[0]

    def wrong(self, path: str, message: str, value: Any = None) -> None:
        """Note one mistake."""
        from c4sim.scenario import Problem

        self.problems.append(Problem(path, message, value))

    def check(self) -> None:
        """Raise UsageError if anything is wrong so far."""
        if self.problems:
            raise UsageError(self.problems)


def read(words: list[str], grammar: Grammar) -> Words:
    """Sort `words` by `grammar`. Mistakes become problems of the result, so that all are reported together."""
    said, rest = Words(), list(words)
    while rest:
        word = rest.pop(0)
        if word.startswith("-"):
            _flag(word, rest, grammar, said)
        elif "=" in word or word.startswith(("+", "~")):
            _pair(word, grammar, said)
        elif grammar.positional is not None:
            said.positional.append(word)
        else:
            said.wrong(word, "is no key=value and no option" + _near(word, grammar))
    return said


def _flag(word: str, rest: list[str], grammar: Grammar, said: Words) -> None:
    name, equals, value = word.partition("=")
    name = {"-m": "--multirun", "-cd": "--config-dir", "-cp": "--config-dir"}.get(name, name)
    if name in grammar.switches and not equals:
        said.switches.add(name)
    elif name in grammar.texts or name in grammar.lists:
        text = value if equals or not rest else rest.pop(0)
        if not text:
            said.wrong(name, "needs a text after it")
        elif name in said.texts and name in grammar.texts:
            said.wrong(name, _twice(said.texts[name][0], text))
        else:
            said.texts.setdefault(name, []).append(text)
    else:
        said.wrong(name, "unknown option" + _near(name, grammar))


def _pair(word: str, grammar: Grammar, said: Words) -> None:
    key, _, value = word.partition("=")
    key = key.strip()
    if key in said.given:
        said.wrong(key, _twice(said.given[key], value))
    elif key in grammar.options:
        said.given[key] = value
        try:
            said.options[key] = grammar.options[key](_unquoted(value.strip()))
        except ValueError as error:
            said.wrong(key, str(error), value)
    elif grammar.overrides and not _misspelt(key, grammar):
        said.overrides.append(word)
    else:
        said.wrong(key, "unknown key" + _near(key, grammar), value)


def _twice(first: str, second: str) -> str:
    return f"is given twice, as {first} and {second}; leave one"


def _unquoted(value: str) -> str:
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "'\"":
        return value[1:-1]
    return value


def _misspelt(key: str, grammar: Grammar) -> bool:
    """Whether a key looks like one of the verb's options and like nothing in a scenario."""
    from c4sim.scenario import Scenario

    if "." in key or "/" in key or key in Scenario.model_fields:
        return False
    near_scenario = difflib.get_close_matches(key, [*Scenario.model_fields, "scenario"], n=1, cutoff=0.75)
    return not near_scenario and bool(difflib.get_close_matches(key, list(grammar.options), n=1, cutoff=0.75))


def _near(word: str, grammar: Grammar) -> str:
    known = [*grammar.options, *grammar.switches, *grammar.texts, *grammar.lists]
    close = difflib.get_close_matches(word, known, n=1)
    return f"; did you mean '{close[0]}'?" if close else ""
