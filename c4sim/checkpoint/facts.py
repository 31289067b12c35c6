"""What checkpoints answer: how far the job got, and what a failure throws it back to. Times in seconds."""

from functools import partial
from typing import NamedTuple, Protocol


class Progress(NamedTuple):
    """What a stretch of running time holds. The three times add up to its length.

    productive_s: time at the nominal rate that the work done is worth; stall_s: the job stood still for saves;
    slowdown_s: what slow rates and evaluations cost; saves: saves whose stall has ended.
    """

    productive_s: float
    stall_s: float
    slowdown_s: float
    saves: int


make_progress = partial(tuple.__new__, Progress)  # without the Python constructor of a NamedTuple: several a fault


class Rollback(NamedTuple):
    """What a failure throws the job back to.

    kept_until: running time up to this moment is kept (the start of the stretch if no save of it survives, earlier if
    not even its restart point does); work: the job's work there; load_s: time to load that checkpoint;
    failed_loads_s: tries of corrupt ones before it; no_progress: the newest checkpoint can never be loaded and there
    is no fallback; held: what the stretch in which `kept_until` lies holds up to then (a save that a planned stop
    wrote begins a stretch of its own).
    """

    kept_until: float
    work: float
    load_s: float
    failed_loads_s: float
    no_progress: bool
    held: Progress


class Loss(Protocol):
    """What a rollback must know of a fault: the places in the job whose memory is gone."""

    @property
    def slots(self) -> tuple[int, ...]:
        """Places hit; () if no node was."""


NO_PROGRESS_YET = Progress(0.0, 0.0, 0.0, 0)
make_rollback = partial(tuple.__new__, Rollback)
