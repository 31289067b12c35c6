"""Work for the executor tests; in a module of its own so that workers can import it."""

import os
import signal
import time
from pathlib import Path
from typing import Any

from processes import alive


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


def die_at_three(work: tuple[int, str]) -> int:
    """Number 3 kills its worker every time, after noting how many others are at work; the others take a while."""
    number, folder = work[0], Path(work[1])
    busy = folder / f"busy-{os.getpid()}"
    if number == 3:
        time.sleep(0.05)
        others = sum(alive(int(path.name.partition("-")[2])) for path in folder.glob("busy-*"))
        with (folder / "company").open("a") as file:
            file.write(f"{others}\n")
        os.kill(os.getpid(), signal.SIGKILL)
    busy.touch()
    time.sleep(0.2)
    busy.unlink()
    return number * number


def fail(number: int) -> Any:
    raise ValueError(f"cannot do {number}")
