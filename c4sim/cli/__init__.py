"""The command line: a verb's module reads the verb's words and calls one function of the package.

Importing this package is cheap, so that help needs no simulator. Each verb's module holds its help text (`HELP`) and
`run(words)`, which returns the exit code: 0 fine, 1 found what the verb looks for or failed, 2 bad input, 3 undecided.
"""

import importlib
import io
import os
import sys
from collections.abc import Sequence

from c4sim.cli.messages import say, say_problems
from c4sim.cli.verbs import VERBS, overview

INTERRUPTED = 130
BROKEN_PIPE = 141


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    _open_streams()
    try:
        code = _dispatch(words)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt as stop:
        say(f"interrupted; {stop}" if str(stop) else "interrupted")
        _end_workers()
        return INTERRUPTED
    except BrokenPipeError:
        # Nobody reads any more. The interpreter must not stumble over what is still in the buffer when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except OSError as error:
        say(str(error))
        return 1
    except ValueError as error:
        if not hasattr(error, "problems"):
            raise
        say_problems(error.problems)
        return 2


def _open_streams() -> None:
    """Whoever starts the command may have closed what it writes to (then nobody wants to see it), or set an encoding
    that does not hold every letter.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w"))
        elif isinstance(stream, io.TextIOWrapper) and stream.encoding.lower() not in ("utf-8", "utf8"):
            stream.reconfigure(errors="backslashreplace")


def _end_workers() -> None:
    """Ctrl-C may come while workers start, when nobody can tell them yet to stop; Python would wait for them."""
    if "multiprocessing" in sys.modules:
        for child in sys.modules["multiprocessing"].active_children():
            child.terminate()


def _dispatch(words: list[str]) -> int:
    if not words or words[0] in ("--help", "-h", "help"):
        print(overview())
        return 0
    if words[0] == "--version":
        print(f"c4sim {_version()}")
        return 0
    verb = words[0]
    if verb not in VERBS:
        return _unknown(verb)
    module = importlib.import_module(f"c4sim.cli.{verb}")
    if any(word in ("--help", "-h") for word in words[1:]):
        print((module.help_text(words[1:]) if hasattr(module, "help_text") else module.HELP).strip())
        return 0
    code: int = module.run(words[1:])
    return code


def _version() -> str:
    """Of the installed package; in a source tree that is not installed, what its pyproject.toml says."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("c4sim")
    except PackageNotFoundError:
        import tomllib
        from pathlib import Path

        described = Path(__file__).parents[2] / "pyproject.toml"
        try:
            return f"{tomllib.loads(described.read_text(encoding='utf-8'))['project']['version']}+source"
        except (OSError, ValueError, KeyError):
            return "of unknown version"


def _unknown(verb: str) -> int:
    from difflib import get_close_matches

    close = get_close_matches(verb, list(VERBS), n=1)
    hint = f"; did you mean '{close[0]}'?" if close else ""
    say(f"no such verb '{verb}'{hint} (c4sim --help lists them)")
    return 2
