"""A pickle reader that can build plain containers, strings and numbers, and nothing else.

Pickles are programs: importing a name and calling it is how they build anything but plain values. This
unpickler refuses every name, every persistent reference and every extension code.
"""

from __future__ import annotations

import io
import pickle
import pickletools
from typing import Any, NoReturn

from c4sim.detector.errors import TelemetryError

#: Largest dump that is read: a flight recorder of 20,000 entries is below 20 MB.
MAX_BYTES = 256 * 2**20


class _PlainUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> NoReturn:
        raise TelemetryError("pickle", f"refused to import {module}.{name}: only plain containers are read")

    def persistent_load(self, pid: Any) -> NoReturn:
        raise TelemetryError("pickle", f"refused the persistent reference {str(pid)[:80]!r}")


def plain(data: bytes, name: str) -> Any:
    """The dicts, lists, tuples, sets, strings, bytes and numbers that ``data`` pickles.

    Args:
        data: the file's content. name: what to call it in errors.

    Raises:
        TelemetryError: naming the first thing that is not plain, or a damaged file.
    """
    if len(data) > MAX_BYTES:
        raise TelemetryError(name, f"is larger than {MAX_BYTES} bytes (got {len(data)})")
    try:
        _refuse_buffers(data)
        return _PlainUnpickler(io.BytesIO(data)).load()
    except TelemetryError as error:
        raise TelemetryError(name, error.problem) from None
    except (RecursionError, MemoryError) as error:
        raise TelemetryError(name, f"is nested or sized beyond reason ({type(error).__name__})") from None
    except Exception as error:  # noqa: BLE001 - a damaged pickle can raise anything
        raise TelemetryError(name, f"is not a readable pickle ({type(error).__name__}: {error})") from None


def _refuse_buffers(data: bytes) -> None:
    """Extension codes and out-of-band buffers bypass ``find_class`` or ask for memory unseen."""
    for opcode, argument, _ in pickletools.genops(data):
        if opcode.name in ("EXT1", "EXT2", "EXT4", "NEXT_BUFFER", "READONLY_BUFFER"):
            raise TelemetryError("pickle", f"refused the opcode {opcode.name}")
        if opcode.name in ("LONG_BINPUT", "PUT") and int(argument or 0) > len(data):
            raise TelemetryError("pickle", "refused a memo index beyond the file's size")
