"""Tables and numbers of Markdown pages."""

from collections.abc import Sequence
from typing import Any

from c4sim.units import parse_duration

Table = tuple[Sequence[str], Sequence[Sequence[str]]]
_MINUS = "−"
NOTHING = "–"


def markdown(table: Table) -> str:
    """A table (header, rows) as Markdown: the first column flush left, the others flush right."""
    header, rows = table
    lines = [_line(header), _line([":--", *["--:"] * (len(header) - 1)])]
    return "\n".join([*lines, *(_line(row) for row in rows)])


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def percent(share: float | None, digits: int = 2) -> str:
    """A share in per cent, without the sign of per cent."""
    return NOTHING if share is None else fixed(100.0 * share, digits)


def fixed(value: float | None, digits: int) -> str:
    """A number with so many decimals."""
    if value is None:
        return NOTHING
    rounded = round(value, digits) + 0.0  # adding zero drops the sign of a zero
    return f"{rounded:.{digits}f}".replace("-", _MINUS)


def span(low: float | None, high: float | None, scale: float = 100.0, digits: int = 2) -> str:
    """An interval, by default of shares in per cent."""
    if low is None or high is None:
        return NOTHING
    return f"{fixed(scale * low, digits)} to {fixed(scale * high, digits)}"


def signed(share: float, digits: int = 2) -> str:
    """A difference of shares in percentage points, with its sign."""
    return f"{100.0 * share:+.{digits}f}".replace("-", _MINUS)


def value(written: Any) -> str:
    """A scenario's value for people: durations in a unit that fits, four digits."""
    text = str(written)
    number, _, scope = text.partition(" per ")
    try:
        seconds = parse_duration(number)
    except ValueError:
        return text
    return time(seconds) + (f" per {scope}" if scope else "")


def time(seconds: float) -> str:
    """A duration for people, four digits: days from 2 d on, hours from 1 h, minutes from 2 min."""
    for least, size, unit in ((172800.0, 86400.0, "d"), (3600.0, 3600.0, "h"), (120.0, 60.0, "min")):
        if seconds >= least:
            return f"{seconds / size:.4g} {unit}"
    return f"{seconds:.4g} s"
