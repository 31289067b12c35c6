"""PyTorch Flight Recorder dumps (JSON or pickle), one file a rank -> Telemetry of a stopped job.

A dump is written when the watchdog of a process group fires, so the job has stood still for its whole
timeout (minutes): it is read as a stopped job, the same numbers in every row. Enqueued counts as
started: with asynchronous launches "started" is often not recorded (-1).

A dump numbers its process groups by the order of their creation on that rank (``pg_id``); members are
matched by the group's global name. Operations of groups that carry point-to-point messages are counted
by each member for itself and are left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from c4sim.detector.errors import TelemetryError
from c4sim.detector.readers import unpickle
from c4sim.detector.telemetry import Telemetry

#: Rows of the telemetry: as many as make a stop.
_ROWS = 3
_RANK = re.compile(r"(\d+)\D*$")


@dataclass(frozen=True)
class _Member:
    rank: int
    group: str
    started: float
    done: float


def looks_like(path: Path) -> bool:
    """True for a pickle or JSON file that starts like a dump (a mapping)."""
    with path.open("rb") as stream:
        head = stream.read(64)
    return head[:1] == b"\x80" or head.lstrip()[:1] == b"{"


def read(paths: Sequence[Path]) -> Telemetry:
    """Telemetry from the dumps of all ranks; the rank is the number at the end of a file's name.

    Raises:
        TelemetryError: naming the file, for a damaged or hostile one, or one that is no dump.
    """
    dumps = {}
    for path in paths:
        rank = _rank(path)
        if rank in dumps:
            raise TelemetryError(str(path), f"is a second dump of rank {rank}")
        dumps[rank] = _load(path)
    return _telemetry(dumps)


def _rank(path: Path) -> int:
    match = _RANK.search(path.stem)
    if match is None:
        raise TelemetryError(str(path), "must end in the rank's number")
    return int(match.group(1))


def _load(path: Path) -> Mapping[str, Any]:
    data = path.read_bytes()
    if data.lstrip()[:1] == b"{":
        try:
            dump = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise TelemetryError(str(path), f"is not readable JSON ({error})") from None
    else:
        dump = unpickle.plain(data, str(path))
    if not isinstance(dump, dict):
        raise TelemetryError(str(path), f"is not a flight recorder dump: it holds a {type(dump).__name__}")
    for key, kind in (("entries", list), ("pg_config", dict)):
        if not isinstance(dump.get(key), kind):
            raise TelemetryError(str(path), f"is not a flight recorder dump: {key} is missing or no {kind.__name__}")
    return dict(dump)


def _telemetry(dumps: Mapping[int, Mapping[str, Any]]) -> Telemetry:
    mixed = {group for dump in dumps.values() for group in _point_to_point(dump)}
    members = [m for rank, dump in sorted(dumps.items()) for m in _members(rank, dump) if m.group not in mixed]
    ranks = _all_ranks(dumps)
    if not members:
        raise TelemetryError("entries", "hold no collective operation of any group")
    column = {rank: index for index, rank in enumerate(ranks)}
    started = np.tile([m.started for m in members], (_ROWS, 1))
    return Telemetry(
        worker=np.array(ranks),
        member_worker=np.array([column[m.rank] for m in members]),
        member_group=np.array([m.group for m in members]),
        op_started=started,
        op_done=np.tile([m.done for m in members], (_ROWS, 1)),
        step_time_s=np.full(_ROWS, np.nan),
    )


def _all_ranks(dumps: Mapping[int, Mapping[str, Any]]) -> list[int]:
    """Ranks that dumped, and those that the groups name without a dump."""
    known = set(dumps)
    for dump in dumps.values():
        for config in dump["pg_config"].values():
            known.update(int(rank) for rank in re.findall(r"\d+", str(_field(config, "ranks", ""))))
    return sorted(known)


def _field(record: Any, name: str, default: Any) -> Any:
    return record.get(name, default) if isinstance(record, Mapping) else default


def _entries(dump: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    return (entry for entry in dump["entries"] if isinstance(entry, Mapping))


def _point_to_point(dump: Mapping[str, Any]) -> Iterator[str]:
    """Groups with a send or receive among the recorded operations."""
    for entry in _entries(dump):
        if entry.get("is_p2p"):
            yield _group_name(entry)


def _group_name(entry: Mapping[str, Any]) -> str:
    group = entry.get("process_group")
    return str(group[0]) if isinstance(group, list | tuple) and group else str(entry.get("pg_id"))


def _members(rank: int, dump: Mapping[str, Any]) -> list[_Member]:
    """Numbers of each group: the status where the dump has one, else the recorded operations."""
    names = _names(dump)
    found = dict(_from_entries(rank, dump))
    for key, status in (dump.get("pg_status") or {}).items():
        group = names.get(str(key))
        if group is not None:
            started = _number(status, "last_enqueued_collective")
            done = _number(status, "last_completed_collective")
            found[group] = _Member(rank, group, max(started, done), done)
    return [member for member in found.values() if member.started >= 0]


def _number(status: Any, name: str) -> float:
    value = _field(status, name, -1)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TelemetryError(name, f"must be a number (got {value!r})")
    return float(max(value, 0))


def _names(dump: Mapping[str, Any]) -> dict[str, str]:
    """Local number of a group -> its global name.

    From the recorded operations; a rank whose operations have all completed records none, so groups
    are also matched in the order of creation when there are as many numbers as names and no recorded
    operation contradicts it.
    """
    recorded = {str(entry.get("pg_id")): _group_name(entry) for entry in _entries(dump)}
    status, config = dump.get("pg_status") or {}, dump["pg_config"]
    if len(status) != len(config) or not all(str(key).isdigit() for key in [*status, *config]):
        return recorded
    ordered = dict(zip(sorted(map(str, status), key=int), sorted(map(str, config), key=int), strict=True))
    agree = all(ordered.get(key, name) == name for key, name in recorded.items())
    return ordered if agree else recorded


def _from_entries(rank: int, dump: Mapping[str, Any]) -> Iterator[tuple[str, _Member]]:
    """The furthest operation recorded counts as started, the one before the oldest open one as done."""
    by_group: dict[str, list[Mapping[str, Any]]] = {}
    for entry in _entries(dump):
        by_group.setdefault(_group_name(entry), []).append(entry)
    for group, entries in by_group.items():
        started = max(_number(entry, "collective_seq_id") for entry in entries)
        opened = [_number(entry, "collective_seq_id") for entry in entries if not _finished(entry)]
        yield group, _Member(rank, group, started, max(min(opened) - 1, 0.0) if opened else started)


def _finished(entry: Mapping[str, Any]) -> bool:
    return entry.get("state") == "completed" or entry.get("retired") is True
