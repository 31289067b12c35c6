"""Text to number and back: durations, sizes, bandwidths, failure rates, shares.

Everything the simulator computes with is a float in base units (seconds, bytes, bytes per second,
events per second).  Text is read as exact rational numbers and rounded once, so that
``parse_duration(format_duration(x)) == x`` holds for every finite ``x >= 0``.

A month is 30 days.  There is no year, because twelve such months are not one: write ``365d``.
"""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import pairwise
from typing import Final

SECONDS_PER_MINUTE: Final = 60.0
SECONDS_PER_HOUR: Final = 3_600.0
SECONDS_PER_DAY: Final = 86_400.0
SECONDS_PER_MONTH: Final = 30 * SECONDS_PER_DAY

SCOPES: Final = ("gpu", "node", "link", "switch", "rack", "power", "job")

_NUMBER = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?"
_QUANTITY = re.compile(rf"\s*({_NUMBER})\s*([A-Za-zµ/]+)")
_LONGEST = 100  # characters; longer text is a mistake and would be slow to read exactly

_DURATIONS: Final = {
    name: Fraction(size)
    for names, size in (
        ("us µs microsecond microseconds", "1e-6"),
        ("ms millisecond milliseconds", "1e-3"),
        ("s sec secs second seconds", 1),
        ("min mins minute minutes", 60),
        ("h hr hrs hour hours", 3_600),
        ("d day days", 86_400),
        ("w wk week weeks", 7 * 86_400),
        ("mo month months", 30 * 86_400),
    )
    for name in names.split()
}
_DURATION_NAMES: Final = "us, ms, s, min, h, d, w, mo (30 days)"

_BYTES: Final = {"B": Fraction(1)} | {
    prefix + suffix: Fraction(base**power)
    for suffix, base, prefixes in (("B", 1_000, "k M G T P"), ("iB", 1_024, "K M G T P"))
    for power, prefix in enumerate(prefixes.split(), start=1)
}
_BYTES["KB"] = _BYTES["kB"]
_BYTE_NAMES: Final = "B, kB, MB, GB, TB, PB, KiB, MiB, GiB, TiB, PiB"

_BANDWIDTHS: Final = {f"{name}/s": size for name, size in _BYTES.items()} | {
    f"{prefix}bit/s": _BYTES[f"{prefix}B"] / 8 for prefix in ("k", "M", "G", "T")
}
_BANDWIDTH_NAMES: Final = "B/s, kB/s, MB/s, GB/s, TB/s, GiB/s, ..., Mbit/s, Gbit/s, Tbit/s"

_RATE_FORM: Final = "write a number per scope and time, as in '6.5 per 1000 node-days'"
_MTBF_FORM: Final = "write a duration per scope, as in '50000h per gpu' or '12h per job'"


class UnitError(ValueError):
    """Text that does not name a quantity; the message says what is wrong and what is allowed."""


def parse_duration(value: object, *, allow_number: bool = False) -> float:
    """Read a duration such as ``"10min"``, ``"1h 30min"``, ``"2d"`` or ``"250ms"``.

    Parameters
    ----------
    value
        Text: one or more numbers, each followed by a unit, from the largest unit to the smallest.
    allow_number
        Take a bare ``int`` or ``float`` as seconds.  Off by default: a duration needs its unit.

    Returns
    -------
    float
        Seconds, finite and not negative.

    Raises
    ------
    UnitError
        No unit, an unknown unit, a negative or non-finite number, or no number at all.
    """
    if allow_number and isinstance(value, (int, float)) and not isinstance(value, bool):
        return _checked_number(value)
    text = _text(value, "a duration", "10min")
    parts = _quantities(text, _DURATIONS, "duration", _DURATION_NAMES, "600s or 10min")
    sizes = [unit for _, unit in parts]
    if any(later >= earlier for earlier, later in pairwise(sizes)):
        raise UnitError(f"units must go from the largest to the smallest (got {text!r})")
    return _to_float(sum((number * unit for number, unit in parts), Fraction(0)), text)


def format_duration(seconds: float) -> str:
    """Write seconds as text that :func:`parse_duration` reads back to the same float.

    Raises :class:`UnitError` for a negative, infinite or undefined duration.
    """
    exact = Fraction(_checked_number(seconds))
    if exact == 0:
        return "0s"
    if exact.denominator == 1 and exact < 10**12:
        return _whole_seconds(int(exact))
    in_ms = f"{seconds * 1_000:.6g}ms"
    if exact < 1 and parse_duration(in_ms) == seconds:
        return in_ms
    return f"{repr(float(seconds)).removesuffix('.0')}s"


def parse_bytes(value: object) -> float:
    """Read a size such as ``"2.3 TB"`` (10^12) or ``"4 GiB"`` (2^30), in bytes.

    Raises :class:`UnitError` as :func:`parse_duration` does.  ``b`` for bits is refused.
    """
    return _single(value, _BYTES, "size", _BYTE_NAMES, "4GB")


def parse_bandwidth(value: object) -> float:
    """Read a bandwidth such as ``"2TB/s"`` or ``"400 Gbit/s"``, in bytes per second.

    Raises :class:`UnitError` as :func:`parse_duration` does.  ``Gb/s`` is refused: it does not
    tell bits from bytes.
    """
    return _single(value, _BANDWIDTHS, "bandwidth", _BANDWIDTH_NAMES, "2TB/s")


def parse_mtbf(value: object) -> tuple[float, str]:
    """Read a mean time between failures with its scope: ``"50000h per gpu"``, ``"12h per job"``.

    Returns
    -------
    tuple of (float, str)
        Seconds (above zero) and one of :data:`SCOPES`.

    Raises
    ------
    UnitError
        The scope is missing or unknown, or the duration cannot be read or is zero.
    """
    text = _text(value, "an MTBF", "50000h per gpu")
    duration, count, scope = _split_per(text, _MTBF_FORM)
    if count:
        raise UnitError(f"an MTBF is per one unit; {_MTBF_FORM} (got {text!r})")
    seconds = parse_duration(duration)
    if not seconds > 0:
        raise UnitError(f"an MTBF must be above zero (got {text!r})")
    return seconds, _scope(scope, text)


def parse_rate(value: object) -> tuple[float, str]:
    """Read a failure rate with its scope: ``"6.5 per 1000 node-days"``, ``"40 per job-month"``.

    Returns
    -------
    tuple of (float, str)
        Events per second and unit of the scope (not negative), and one of :data:`SCOPES`.

    Raises
    ------
    UnitError
        The scope or the time is missing or unknown, or a number cannot be read.
    """
    text = _text(value, "a rate", "6.5 per 1000 node-days")
    events, count, exposure = _split_per(text, _RATE_FORM)
    scope, dash, unit = exposure.partition("-")
    if not dash:
        raise UnitError(f"a rate needs scope and time joined by '-'; {_RATE_FORM} (got {text!r})")
    amount = _number(count, text) if count else Fraction(1)
    if amount == 0:
        raise UnitError(f"the exposure must be above zero (got {text!r})")
    size = _unit(unit.strip(), _DURATIONS, _DURATION_NAMES, text)
    return _to_float(_number(events, text) / (amount * size), text), _scope(scope, text)


def format_rate(per_second: float, scope: str) -> str:
    """Write a rate as text that :func:`parse_rate` reads back to the same float and scope."""
    _scope(scope, scope)
    per_day = _checked_number(per_second) * SECONDS_PER_DAY
    for number in (f"{per_day:.12g}", repr(per_day)):
        text = f"{number} per {scope}-day"
        if parse_rate(text)[0] == per_second:
            return text
    return f"{float(per_second)!r} per {scope}-second"


def format_mtbf(seconds: float, scope: str) -> str:
    """Write an MTBF as text that :func:`parse_mtbf` reads back to the same float and scope."""
    return f"{format_duration(seconds)} per {_scope(scope, scope)}"


def parse_share(value: object) -> float:
    """Read a share of a whole: ``"82.5 %"``, ``"0.1pp"`` (percentage points), ``0.825``.

    Returns a float in [0, 1].  Raises :class:`UnitError` outside it or for text of another form.
    """
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        share, text = _checked_number(value), repr(value)
    else:
        text = _text(value, "a share", "82.5%")
        bare = text.strip().removesuffix("%").removesuffix("pp")
        whole = 1 if bare == text.strip() else 100
        share = _to_float(_number(bare, text) / whole, text)
    if not share <= 1:
        raise UnitError(f"a share must lie between 0 and 1, or 0% and 100% (got {text!r})")
    return share


def _text(value: object, what: str, example: str) -> str:
    if not isinstance(value, str):
        raise UnitError(f"{what} is text with its unit, as in {example!r} (got {value!r})")
    if len(value) > _LONGEST:
        raise UnitError(f"{what} is longer than {_LONGEST} characters (got {value[:20]!r}...)")
    return value


def _checked_number(value: float) -> float:
    if not 0 <= value < float("inf"):
        raise UnitError(f"must be a finite number, not negative (got {value!r})")
    return float(value)


def _number(text: str, whole: str) -> Fraction:
    bare = text.strip()
    if re.fullmatch(_NUMBER, bare):
        return Fraction(bare)
    raise UnitError(f"{_why_no_number(bare)} (got {whole!r})")


def _why_no_number(bare: str) -> str:
    if bare.startswith("-"):
        return "must not be negative"
    if re.match(r"\+?(inf|nan)", bare, re.IGNORECASE):
        return "must be a finite number"
    return f"{bare!r} is not a decimal number"


def _quantities(
    text: str, units: dict[str, Fraction], what: str, names: str, example: str
) -> list[tuple[Fraction, Fraction]]:
    """Split ``"1h 30min"`` into exact (number, unit size) pairs."""
    rest, parts = text.strip(), []
    while rest:
        match = _QUANTITY.match(rest)
        if match is None:
            _number(rest, text)  # names a sign, an inf or a word; a bare number passes
            problem = f"a {what} needs a unit, as in {example}; allowed: {names}"
            raise UnitError(f"{problem} (got {text!r})")
        parts.append((Fraction(match[1]), _unit(match[2], units, names, text)))
        rest = rest[match.end() :].strip()
    if not parts:
        raise UnitError(f"a {what} is missing, as in {example} (got {text!r})")
    return parts


def _single(value: object, units: dict[str, Fraction], what: str, names: str, example: str) -> float:
    text = _text(value, f"a {what}", example)
    parts = _quantities(text, units, what, names, example)
    if len(parts) > 1:
        raise UnitError(f"a {what} is one number with one unit, as in {example} (got {text!r})")
    return _to_float(parts[0][0] * parts[0][1], text)


def _unit(name: str, units: dict[str, Fraction], allowed: str, whole: str) -> Fraction:
    if name in units:
        return units[name]
    hint = _nearest(name, list(units))
    raise UnitError(f"unknown unit {name!r}{hint}; allowed: {allowed} (got {whole!r})")


def _scope(name: str, whole: str) -> str:
    scope = name.strip().lower()
    if scope in SCOPES:
        return scope
    hint = _nearest(scope, list(SCOPES))
    raise UnitError(f"unknown scope {name.strip()!r}{hint}; allowed: {', '.join(SCOPES)} (got {whole!r})")


def _nearest(name: str, names: list[str]) -> str:
    from difflib import get_close_matches  # needed only to explain a mistake

    lowered = {candidate.lower(): candidate for candidate in names}
    found = get_close_matches(name.lower(), list(lowered), n=1, cutoff=0.6)
    return f" (did you mean {lowered[found[0]]!r}?)" if found and len(name) > 1 else ""


def _split_per(text: str, form: str) -> tuple[str, str, str]:
    """Split ``"a per 1000 b"`` into ``("a", "1000", "b")``; the count may be empty."""
    left, per, right = re.sub(r"\s+", " ", text.strip()).partition(" per ")
    if not per:
        raise UnitError(f"the scope is missing; {form}; scopes: {', '.join(SCOPES)} (got {text!r})")
    match = re.fullmatch(rf"({_NUMBER})? ?([A-Za-zµ -]+)", right)
    if match is None:
        raise UnitError(f"cannot read {right!r} after 'per'; {form} (got {text!r})")
    return left, match[1] or "", match[2]


def _whole_seconds(seconds: int) -> str:
    pieces = []
    for name in ("d", "h", "min", "s"):
        count, seconds = divmod(seconds, int(_DURATIONS[name]))
        if count:
            pieces.append(f"{count}{name}")
    return " ".join(pieces)


def _to_float(exact: Fraction, text: str) -> float:
    try:
        return float(exact)
    except OverflowError:
        raise UnitError(f"too large for a finite number (got {text!r})") from None
