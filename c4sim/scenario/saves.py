"""Checks of what a scenario says of checkpoints and evaluations, across fields."""

from collections.abc import Iterator
from math import lcm
from typing import Any

from c4sim.scenario.checkpoint import Checkpoint, Tier
from c4sim.scenario.model import Scenario

Found = tuple[tuple[str, ...], str, Any]

LONGEST_TURN = 512  # saves after which the tiers' turns repeat
_SILENCE = "(0 is an answer, silence is not)"


def check_saves(s: Scenario) -> Iterator[Found]:
    """Problems of checkpoint tiers, interval rules and evaluations as (paths, message, value)."""
    if s.evaluation is not None and not s.evaluation.every > 0.0:
        yield ("evaluation.every",), "must be longer than 0", s.evaluation.every
    yield from _check_rule(s)
    if s.checkpoint.tiers is not None:
        yield from _check_tiers(s.checkpoint, s.checkpoint.tiers, s.detection.collective_timeout)


def _check_rule(s: Scenario) -> Iterator[Found]:
    c = s.checkpoint
    if isinstance(c.interval, float):
        return
    alarms = s.pauses is not None and s.pauses.rate.per_second > 0.0
    if not alarms and not any(f.mtbf or f.values or (f.rate and f.rate.per_second > 0.0) for f in s.faults.values()):
        yield (
            ("checkpoint.interval", "faults", "pauses"),
            "needs a job that fails: give a fault class its mtbf or rate, or the interval as a duration",
            c.interval,
        )
    if not _costs(c):
        paths = ("checkpoint.interval", *(f"checkpoint.{key}" for key in ("write", "stall", "mode", "tiers")))
        yield paths, "needs a save that costs something: the best interval of free saves is 0", c.interval


def _costs(c: Checkpoint) -> bool:
    """Whether any save stops the job or slows it down. What sizes give is taken to cost something."""
    blocking = c.mode == "blocking"
    if c.tiers is None:
        stall = c.write if blocking else c.stall
        return bool(stall or (not blocking and c.slowdown and c.persist))
    for tier in c.tiers:
        stall = tier.stall if tier.stall is not None else tier.bytes_per_gpu
        persist = tier.persist if tier.persist is not None else tier.bytes_per_gpu
        if stall or (not blocking and tier.slowdown and persist):
            return True
    return False


def _check_tiers(c: Checkpoint, tiers: tuple[Tier, ...], timeout: float | None) -> Iterator[Found]:
    if not tiers:
        yield ("checkpoint.tiers",), "must name at least one tier, or be null", None
    turn = lcm(*(tier.every for tier in tiers))
    if turn > LONGEST_TURN:
        yield (
            ("checkpoint.tiers",),
            f"the tiers' turns meet only every {turn} saves (at most {LONGEST_TURN}): choose values of every that "
            "divide each other",
            [tier.every for tier in tiers],
        )
    names: set[str] = set()
    for index, tier in enumerate(tiers):
        at = f"checkpoint.tiers[{index}]"
        if tier.name in names:
            yield (f"{at}.name",), "two tiers of one name", tier.name
        names.add(tier.name)
        yield from _check_size(at, tier)
        yield from _check_times(at, tier, c.mode)
        if timeout is not None and tier.stall is not None and tier.stall >= timeout:
            paths = (f"{at}.stall", "detection.collective_timeout")
            yield paths, f"every save would run into detection.collective_timeout = {timeout:g} s", tier.stall


def _check_size(at: str, tier: Tier) -> Iterator[Found]:
    paths = (f"{at}.bytes_per_gpu", f"{at}.bandwidth", f"{at}.node_bandwidth")
    widths = (tier.bandwidth, tier.node_bandwidth)
    if (tier.bytes_per_gpu is None) != (widths == (None, None)):
        yield paths, "bytes_per_gpu goes together with bandwidth (shared by the job) or node_bandwidth", None
    for path, width in zip(paths[1:], widths, strict=True):
        if width is not None and not width > 0.0:
            yield (path,), "must be above 0", width


def _check_times(at: str, tier: Tier, mode: str) -> Iterator[Found]:
    sized = tier.bytes_per_gpu is not None
    if mode == "blocking":
        if tier.stall is None and not sized:
            yield (
                (f"{at}.stall", "checkpoint.mode"),
                f"must be given, or bytes_per_gpu with a bandwidth {_SILENCE}",
                None,
            )
        for key in ("persist", "slowdown"):
            if getattr(tier, key):
                yield (f"{at}.{key}", "checkpoint.mode"), "belongs to checkpoint.mode=async", getattr(tier, key)
        return
    if tier.stall is None:
        yield (f"{at}.stall", "checkpoint.mode"), f"must be given for mode=async {_SILENCE}", None
    if tier.persist is None and not sized:
        yield (f"{at}.persist", "checkpoint.mode"), f"must be given, or bytes_per_gpu with a bandwidth {_SILENCE}", None
    if tier.slowdown is None and tier.persist != 0.0:
        yield (f"{at}.slowdown", "checkpoint.mode"), f"must be given for mode=async {_SILENCE}", None
