"""Units: text and number are inverse to each other, to the bit, and nothing but UnitError leaks."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from c4sim.units import (
    SCOPES,
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


@given(st.floats(min_value=0.0, allow_infinity=False, allow_nan=False) | st.integers(0, 10**9).map(float))
def test_duration_round_trip(seconds: float) -> None:
    assert parse_duration(format_duration(seconds)) == seconds


@given(st.floats(min_value=0.0, max_value=1e300), st.sampled_from(SCOPES))
def test_rate_round_trip(rate: float, scope: str) -> None:
    assert parse_rate(format_rate(rate, scope)) == (rate, scope)


@given(st.floats(min_value=1e-300, max_value=1e300), st.sampled_from(SCOPES))
def test_mtbf_round_trip(seconds: float, scope: str) -> None:
    assert parse_mtbf(format_mtbf(seconds, scope)) == (seconds, scope)


@pytest.mark.parametrize("parse", [parse_duration, parse_bytes, parse_bandwidth, parse_mtbf, parse_rate, parse_share])
@given(text=st.text(alphabet="0123456789.eE+- perhdsinmogunTGB/%", max_size=24) | st.text())
def test_any_text_gives_a_finite_number_or_a_unit_error(
    parse: Callable[[object], float | tuple[float, str]], text: str
) -> None:
    with contextlib.suppress(UnitError):
        value = parse(text)
        number = value[0] if isinstance(value, tuple) else value
        assert 0 <= number < float("inf")
