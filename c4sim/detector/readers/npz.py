"""Telemetry as .npz: one member a field, plain arrays, never a pickle."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path

import numpy as np

from c4sim.detector.errors import TelemetryError
from c4sim.detector.telemetry import AXES, Telemetry


def save_npz(path: str | Path, telemetry: Telemetry) -> None:
    """Write every field that is given to a compressed .npz at exactly ``path``."""
    with open(path, "wb") as stream:
        np.savez_compressed(stream, allow_pickle=False, **telemetry.present())


def load_npz(path: str | Path) -> Telemetry:
    """Read an .npz written by ``save_npz`` or by hand with the fields of ``Telemetry``.

    Raises:
        TelemetryError: for a truncated file, an unknown field, or an array of objects.
    """
    try:
        with open(path, "rb") as stream, np.load(stream, allow_pickle=False) as archive:
            unknown = sorted(set(archive.files) - set(AXES))
            if unknown:
                raise TelemetryError(unknown[0], f"is not a telemetry field of {', '.join(AXES)}")
            fields = {name: _member(archive, name) for name in archive.files}
    except (OSError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise TelemetryError(str(path), f"is not a readable .npz file ({error})") from None
    except AttributeError:
        raise TelemetryError(str(path), "is a bare array, not an .npz of named fields") from None
    return Telemetry(**fields)


def _member(archive: np.lib.npyio.NpzFile, name: str) -> np.ndarray:
    try:
        return np.asarray(archive[name])
    except ValueError as error:
        raise TelemetryError(name, f"cannot be read without executing it ({error})") from None
