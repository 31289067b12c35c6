"""Units: what is read, what is refused, and what the refusal says."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest

from c4sim.units import (
    UnitError,
    format_duration,
    format_mtbf,
    format_rate,
    parse_bandwidth,
    parse_bytes,
    parse_duration,
    parse_mtbf,
    parse_rate,
    parse_share,
)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("10min", 600.0),
        ("1h 30min", 5_400.0),
        ("1h30min", 5_400.0),
        ("2d", 172_800.0),
        ("90s", 90.0),
        ("250ms", 0.25),
        ("1mo", 2_592_000.0),
        ("1w", 604_800.0),
        ("0s", 0.0),
        (" 1.5 hours ", 5_400.0),
        ("1e-6s", 1e-6),
        ("0.1s", 0.1),
        ("3us", 3e-6),
        (".5d", 43_200.0),
    ],
)
def test_durations(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


def test_composite_duration_is_rounded_once() -> None:
    assert parse_duration("1s 100ms") == 1.1
    assert parse_duration("0.1h") == 360.0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("10", "needs a unit"),
        ("0", "needs a unit"),
        ("10min 5", "needs a unit"),
        ("", "missing"),
        ("-5min", "must not be negative"),
        ("-0s", "must not be negative"),
        ("nan", "must be a finite number"),
        ("inf s", "must be a finite number"),
        ("Infinity", "must be a finite number"),
        ("1e400s", "too large"),
        ("0x10", "unknown unit 'x'"),
        ("10m", "unknown unit 'm'; allowed: us, ms, s, min"),
        ("10 minuts", "did you mean 'minutes'"),
        ("5y", "unknown unit 'y'"),
        ("30min 1h", "from the largest to the smallest"),
        ("1h 1h", "from the largest to the smallest"),
        ("soon", "'soon' is not a decimal number"),
        ("1_000s", "'1_000s' is not a decimal number"),
        ("٣s", "is not a decimal number"),
        ("9" * 200 + "s", "longer than"),
    ],
)
def test_refused_durations_name_value_and_reason(text: str, message: str) -> None:
    with pytest.raises(UnitError) as caught:
        parse_duration(text)
    assert message in str(caught.value)
    assert f"got {text!r}" in str(caught.value) or f"got {text[:20]!r}..." in str(caught.value)


@pytest.mark.parametrize("value", [None, True, 10, 10.0, ["10min"]])
def test_only_text_is_a_duration(value: object) -> None:
    with pytest.raises(UnitError, match="text with its unit"):
        parse_duration(value)


def test_numbers_are_seconds_only_where_the_caller_says_so() -> None:
    assert parse_duration(90, allow_number=True) == 90.0
    assert parse_duration("90s", allow_number=True) == 90.0
    for bad in (float("nan"), float("inf"), -1.0):
        with pytest.raises(UnitError, match="finite number"):
            parse_duration(bad, allow_number=True)
    with pytest.raises(UnitError, match="text with its unit"):
        parse_duration(True, allow_number=True)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0s"),
        (600.0, "10min"),
        (5_400.0, "1h 30min"),
        (172_800.0, "2d"),
        (0.25, "250ms"),
        (1_698.5, "1698.5s"),
        (1 / 3, "0.3333333333333333s"),
    ],
)
def test_durations_as_people_write_them(seconds: float, text: str) -> None:
    assert format_duration(seconds) == text


@pytest.mark.parametrize(
    ("read", "text", "value"),
    [
        (parse_bytes, "2.3 TB", 2.3e12),
        (parse_bytes, "4GiB", 4.0 * 2**30),
        (parse_bytes, "1 kB", 1e3),
        (parse_bytes, "1 KB", 1e3),
        (parse_bytes, "1KiB", 1024.0),
        (parse_bandwidth, "2TB/s", 2e12),
        (parse_bandwidth, "400 Gbit/s", 5e10),
    ],
)
def test_sizes_and_bandwidths(read: Callable[[object], float], text: str, value: float) -> None:
    assert read(text) == value


@pytest.mark.parametrize(
    ("read", "text", "message"),
    [
        (parse_bytes, "4Gb", "did you mean 'GB'"),
        (parse_bytes, "4", "needs a unit"),
        (parse_bytes, "4GB 2MB", "one number with one unit"),
        (parse_bandwidth, "2TB", "did you mean 'TB/s'"),
        (parse_bandwidth, "400Gb/s", "unknown unit 'Gb/s'"),
    ],
)
def test_refused_sizes(read: Callable[[object], float], text: str, message: str) -> None:
    with pytest.raises(UnitError, match=message):
        read(text)


@pytest.mark.parametrize(
    ("text", "seconds", "scope"),
    [
        ("50000h per gpu", 1.8e8, "gpu"),
        ("12h per job", 43_200.0, "job"),
        ("1h 30min per Rack", 5_400.0, "rack"),
        ("300d  per  link", 2.592e7, "link"),
    ],
)
def test_mtbf_names_its_scope(text: str, seconds: float, scope: str) -> None:
    assert parse_mtbf(text) == (seconds, scope)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("50000h", "the scope is missing"),
        ("12h per", "the scope is missing"),
        ("12h per gpus", "did you mean 'gpu'"),
        ("12h per server", "unknown scope 'server'; allowed: gpu, node, link"),
        ("12 per job", "needs a unit"),
        ("0s per job", "above zero"),
        ("1h per 1000 gpu", "per one unit"),
        ("nan per job", "finite"),
    ],
)
def test_refused_mtbf(text: str, message: str) -> None:
    with pytest.raises(UnitError, match=message):
        parse_mtbf(text)


@pytest.mark.parametrize(
    ("text", "rate", "scope"),
    [
        ("6.5 per 1000 node-days", 6.5 / 86_400_000, "node"),
        ("40 per job-month", 40 / 2_592_000, "job"),
        ("1 per 3 gpu-weeks", 1 / (3 * 604_800), "gpu"),
        ("0.01 per node-day", 0.01 / 86_400, "node"),
        ("0 per switch-hour", 0.0, "switch"),
        ("1e-9 per gpu-s", 1e-9, "gpu"),
    ],
)
def test_rates_name_scope_and_time(text: str, rate: float, scope: str) -> None:
    value, named = parse_rate(text)
    assert value == pytest.approx(rate, rel=1e-15)
    assert named == scope


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("5", "the scope is missing"),
        ("5 per node", "scope and time joined by '-'"),
        ("5 per day", "scope and time joined by '-'"),
        ("5 per 0 node-days", "exposure must be above zero"),
        ("5 per node-dayz", "did you mean 'day'"),
        ("5 per nod-days", "did you mean 'node'"),
        ("-1 per node-day", "must not be negative"),
        ("inf per node-day", "finite"),
        ("1e400 per node-day", "too large"),
        ("5 per x1000 node-days", "cannot read"),
    ],
)
def test_refused_rates(text: str, message: str) -> None:
    with pytest.raises(UnitError, match=message):
        parse_rate(text)


def test_rates_and_mtbf_as_people_write_them() -> None:
    assert format_rate(0.01 / 86_400, "node") == "0.01 per node-day"
    assert format_mtbf(43_200.0, "job") == "12h per job"
    with pytest.raises(UnitError, match="unknown scope"):
        format_rate(1.0, "server")


def test_shares() -> None:
    assert parse_share("82.5 %") == parse_share("82.5%") == parse_share(0.825) == 0.825
    assert parse_share("0.1pp") == 0.001
    assert parse_share("1") == parse_share(1) == 1.0
    for bad in ("120%", 1.2, float("nan"), "half", -0.1, None, True):
        with pytest.raises(UnitError):
            parse_share(bad)


def test_import_is_light() -> None:
    code = "import sys, c4sim.units; print([m for m in ('numpy', 'scipy') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
