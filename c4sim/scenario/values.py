"""Typed values of a scenario: durations, delays with a law, rates with a scope, counts that may be unlimited.

Every value that a user writes as text is parsed here, once, into SI floats. Serialising gives text that parses back to
the same float, so that a resolved scenario in a manifest is a scenario.
"""

import math
from collections.abc import Callable
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer, model_validator

from c4sim import units

RateScope = Literal["gpu", "node", "link", "switch", "rack", "power", "job"]
LawName = Literal["fixed", "exponential", "weibull", "lognormal", "gamma", "uniform", "empirical"]


class Model(BaseModel):
    """Base of every section: frozen, unknown keys refused, defaults checked like given values."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True, allow_inf_nan=False)


def _text_parser(parse: Callable[[str], Any], what: str) -> Callable[[Any], Any]:
    def convert(value: Any) -> Any:
        if isinstance(value, str):
            return parse(value)
        raise ValueError(f"{what} is written as text with its unit")

    return convert


def _seconds_text(value: float) -> str:
    return f"{value!r}s"


Duration = Annotated[
    float,
    BeforeValidator(_text_parser(units.parse_duration, "a duration")),
    PlainSerializer(_seconds_text, return_type=str),
]
PositiveDuration = Annotated[Duration, Field(gt=0.0)]
Bytes = Annotated[
    float,
    BeforeValidator(_text_parser(units.parse_bytes, "a size")),
    PlainSerializer(lambda value: f"{value!r} B", return_type=str),
]
Bandwidth = Annotated[
    float,
    BeforeValidator(_text_parser(units.parse_bandwidth, "a bandwidth")),
    PlainSerializer(lambda value: f"{value!r} B/s", return_type=str),
]


def _number(value: Any) -> Any:
    if isinstance(value, bool | str):
        raise ValueError("must be a number")
    return value


Number = Annotated[float, BeforeValidator(_number), Field(allow_inf_nan=False)]
Probability = Annotated[Number, Field(ge=0.0, le=1.0)]
NonNegative = Annotated[Number, Field(ge=0.0)]
Positive = Annotated[Number, Field(gt=0.0)]


def _whole(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError("must be a whole number")
    return value


Count = Annotated[int, BeforeValidator(_whole), Field(ge=0)]
PositiveCount = Annotated[int, BeforeValidator(_whole), Field(ge=1)]


def _count_or_unlimited(value: Any) -> Any:
    if value is None or value == "unlimited":
        return value
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError("must be a whole number >= 0 or 'unlimited'")
    return value


Unlimited = Literal["unlimited"]
CountOrUnlimited = Annotated[int | Unlimited, BeforeValidator(_count_or_unlimited)]


class Mtbf(Model):
    """Mean time between failures of one unit of `scope`: "50000h per gpu"."""

    seconds: Positive
    scope: RateScope


class Rate(Model):
    """Failures per second and unit of `scope`: "6.5 per 1000 node-days"."""

    per_second: NonNegative
    scope: RateScope


def _parse_mtbf(text: str) -> dict[str, Any]:
    seconds, scope = units.parse_mtbf(text)
    return {"seconds": seconds, "scope": scope}


def _parse_rate(text: str) -> dict[str, Any]:
    per_second, scope = units.parse_rate(text)
    return {"per_second": per_second, "scope": scope}


MtbfText = Annotated[
    Mtbf,
    BeforeValidator(_text_parser(_parse_mtbf, "an MTBF")),
    PlainSerializer(lambda m: f"{m.seconds!r}s per {m.scope}", return_type=str),
]
RateText = Annotated[
    Rate,
    BeforeValidator(_text_parser(_parse_rate, "a rate")),
    PlainSerializer(lambda r: f"{r.per_second!r} per {r.scope}-second", return_type=str),
]


class LawSpec(Model):
    """A law of a duration: name, mean and coefficient of variation (or shape; or the values of an empirical law).

    `cv` means the standard deviation over the mean. An exponential law has cv 1 and a fixed one 0 without being told.
    A uniform law of cv c lies in mean x (1 -+ c sqrt 3).
    """

    law: LawName = "fixed"
    mean: Duration | None = None
    cv: NonNegative | None = None
    shape: Positive | None = None
    values: tuple[Duration, ...] | None = None

    @model_validator(mode="after")
    def _complete(self) -> Self:
        problem = self._problem()
        if problem:
            raise ValueError(problem)
        return self

    def _problem(self) -> str | None:
        if self.law == "empirical":
            return None if self.values and self.mean is None else "an empirical law takes `values` only"
        if self.values is not None or self.mean is None:
            return f"a law '{self.law}' takes `mean`, not `values`"
        if self.law in ("fixed", "exponential"):
            return None if self.cv is None and self.shape is None else f"a law '{self.law}' takes `mean` only"
        if self.shape is not None and (self.cv is not None or self.law not in ("weibull", "gamma")):
            return "give `cv`, or `shape` for weibull and gamma"
        if self.shape is None and (self.cv is None or not self.cv > 0.0):
            return f"a law '{self.law}' needs cv > 0"
        if self.law == "uniform" and self.cv is not None and self.cv > 1.0 / math.sqrt(3.0):
            return "a uniform law of positive delays has cv <= 0.577"
        return spread_problem(self.law, self.shape, self.cv)


_SHAPES = {"weibull": (0.05, 500.0), "gamma": (1e-4, 1e8)}


def weibull_cv(shape: float) -> float:
    """Coefficient of variation of a Weibull law: sqrt(Gamma(1 + 2/k) / Gamma(1 + 1/k)^2 - 1)."""
    return math.sqrt(math.expm1(math.lgamma(1.0 + 2.0 / shape) - 2.0 * math.lgamma(1.0 + 1.0 / shape)))


def spread_problem(law: str, shape: float | None, cv: float | None) -> str | None:
    """What is wrong with the shape or the coefficient of variation of a law; None if draws can follow it."""
    least, most = _SHAPES.get(law, (0.0, math.inf))
    if shape is not None and not least <= shape <= most:
        return f"a {law} law has a shape from {least:g} to {most:g} (got {shape:g})"
    if cv is None:
        return None
    ends = {"weibull": (weibull_cv(500.0), weibull_cv(0.05)), "gamma": (1e-4, 100.0), "lognormal": (1e-4, 1e4)}
    low, high = ends.get(law, (0.0, math.inf))
    return None if low <= cv <= high else f"a {law} law has a cv from {low:.3g} to {high:.3g} (got {cv:g})"


def _delay(value: Any) -> Any:
    if isinstance(value, str):
        return {"law": "fixed", "mean": value}
    if isinstance(value, dict | LawSpec):
        return value
    raise ValueError("a delay is text with its unit, such as 5min, or {law, mean, cv}")


def _delay_text(spec: LawSpec) -> Any:
    if spec.law == "fixed" and spec.mean is not None:
        return _seconds_text(spec.mean)
    return spec.model_dump(exclude_none=True)


Delay = Annotated[LawSpec, BeforeValidator(_delay), PlainSerializer(_delay_text)]
