"""Work for the executor tests; in a module of its own so that workers can import it."""

import os
import signal
import time
from pathlib import Path
from typing import Any


def square(number: int) -> int:
    return number * number


def slow_square(number: int) -> int:
    time.sleep(0.05)
    return number * number


def square_but_die_once(work: tuple[int, str]) -> int:
    """Kills its own worker the first time that it meets number 3; a file remembers."""
    number, folder = work
    flag = Path(folder) / "died"
    if number == 3 and not flag.exists():
        flag.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


def die_at_three(number: int) -> int:
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


def fail(number: int) -> Any:
    raise ValueError(f"cannot do {number}")
