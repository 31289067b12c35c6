"""Short ways to build checkpoints for tests."""

from typing import Any

from c4sim.checkpoint import Checkpoints
from c4sim.scenario import validate
from c4sim.streams import Streams


class Fault:
    """A fault that takes the memory of these places in the job."""

    def __init__(self, *slots: int) -> None:
        self.slots = slots


SOMEWHERE = Fault(0)
NOWHERE = Fault()


def checkpoints(mtbf: float = 36_000.0, replication: int = 0, **sections: Any) -> Checkpoints:
    """Checkpoints of a scenario with these sections, at the start of its first stretch (time 0)."""
    made = Checkpoints(validate(sections), Streams(1, 0, replication), mtbf)
    made.begin(0.0)
    return made


def blocking(interval: str, write: str = "0s", **more: Any) -> dict[str, Any]:
    """A checkpoint section of blocking saves."""
    return {"interval": interval, "write": write, **more}


def background(interval: str, stall: str, persist: str, slowdown: float, **more: Any) -> dict[str, Any]:
    """A checkpoint section of asynchronous saves."""
    return {
        "mode": "async",
        "interval": interval,
        "stall": stall,
        "persist": persist,
        "slowdown": slowdown,
        **more,
    }
