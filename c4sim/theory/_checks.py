"""Arguments of the closed forms: refused when they make the formula meaningless."""

from __future__ import annotations

import math


def positive(**values: float) -> None:
    """Raise ``ValueError`` naming the first value that is not finite and above zero."""
    for name, value in values.items():
        if not 0 < value < math.inf:
            raise ValueError(f"{name} must be finite and above zero (got {value!r})")


def not_negative(**values: float) -> None:
    """Raise ``ValueError`` naming the first value that is not finite and at least zero."""
    for name, value in values.items():
        if not 0 <= value < math.inf:
            raise ValueError(f"{name} must be finite and not negative (got {value!r})")


def probability(**values: float) -> None:
    """Raise ``ValueError`` naming the first value outside the open interval (0, 1)."""
    for name, value in values.items():
        if not 0 < value < 1:
            raise ValueError(f"{name} must lie between 0 and 1 (got {value!r})")


def at_least(low: int, **values: int) -> None:
    """Raise ``ValueError`` naming the first count below ``low``."""
    for name, value in values.items():
        if not value >= low:
            raise ValueError(f"{name} must be at least {low} (got {value!r})")
