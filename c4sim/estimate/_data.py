"""Data of the estimators: one-dimensional, finite, and as much as the estimator needs."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]


def sample(values: ArrayLike, least: int = 1) -> FloatArray:
    """Return ``values`` as a float array of shape (n,), n at least ``least``.

    Raises ``ValueError`` for another shape, too few values, or values that are not finite.
    """
    data = np.asarray(values, dtype=np.float64)
    if data.ndim != 1:
        raise ValueError(f"one value per replication is needed (got shape {data.shape})")
    if data.size < least:
        raise ValueError(f"at least {least} replications are needed (got {data.size})")
    if not np.isfinite(data).all():
        where = int(np.argmin(np.isfinite(data)))
        raise ValueError(f"values must be finite (got {data[where]!r} in replication {where})")
    return data


def level(confidence: float) -> float:
    """Return ``confidence`` if it lies in (0, 1); raise ``ValueError`` otherwise."""
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1 (got {confidence!r})")
    return confidence
