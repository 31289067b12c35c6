"""One fault that strikes the job."""

from typing import NamedTuple


class FaultEvent(NamedTuple):
    """What a fault hits and of what kind it is.

    class_index, name: the fault class, by its position among the scenario's classes and by name.
    stream, number: address of the event's own draws (response, repair): stream `class_index` for the class itself,
        `classes + class_index` for what lemons add to it, `2 x classes` for the scripted list; number counts the events
        of that stream from 0 (a scripted event: its line).
    slots: places in the job that are hit, the first one the seat of the fault; () for scope job.
    gpu: index in its node of the GPU hit (scope gpu) or served by the link hit (scope link).
    """

    class_index: int
    name: str
    stream: int
    number: int
    slots: tuple[int, ...]
    gpu: int | None
    confined: bool
    permanent: bool
    effect: str
