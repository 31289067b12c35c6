"""Everything the command line says that is not a result: on stderr, in one form."""

import sys
from collections.abc import Iterable


def say(text: str) -> None:
    """A message to the user."""
    print(f"c4sim: {text}", file=sys.stderr)


def say_problems(problems: Iterable[object]) -> None:
    """Each problem on its own line, once."""
    for line in dict.fromkeys(" ".join(str(problem).split()) for problem in problems):
        say(line)
