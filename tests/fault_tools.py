"""Fault processes without a job around them: built from plain data, walked event by event."""

from collections.abc import Callable, Iterator
from typing import Any

from c4sim.faults import Activity, FaultEvent, FaultProcess
from c4sim.scenario import validate
from c4sim.streams import Streams

DAY = 86_400.0
Answer = Callable[[FaultProcess, float, FaultEvent], None]


def process_of(
    faults: dict[str, Any], *, nodes: int = 4, seed: int = 1, replication: int = 0, **sections: Any
) -> FaultProcess:
    """The process of a job of `nodes` nodes with these fault classes; other sections of the scenario by name."""
    job = {"nodes": nodes, **sections.pop("job", {})}
    scenario = validate({"horizon": "3650d", "faults": faults, "job": job, **sections})
    return FaultProcess(scenario, Streams(seed, 0, replication))


def walk(
    process: FaultProcess, end: float, answer: Answer | None = None, activity: Activity = Activity.OPERATING
) -> Iterator[tuple[float, FaultEvent | None]]:
    """(time, event) of everything before `end` while the job does nothing but `activity`; events take no time.

    answer(process, time, event): what the job does about an event that struck.
    """
    now = 0.0
    while (due := process.next_time(now, activity)) < end:
        process.run(now, due, activity)
        event = process.take(due, activity)
        if event is not None and answer is not None:
            answer(process, due, event)
        now = due
        yield due, event


def replace_by_new(process: FaultProcess, now: float, event: FaultEvent) -> None:
    """Take the unit of every slot hit out and seat it again at once."""
    for slot in event.slots:
        process.swap(slot, slot, None, now)
        process.swap(slot, None, slot, now)
