"""What the job does, and which clocks tick meanwhile."""

from enum import IntEnum
from typing import Final

from c4sim.scenario.faults import Clock


class Activity(IntEnum):
    """What the job does. A class's clock ticks while the activity is at least the clock's own level (`LEVEL`).

    STOPPED: only calendar clocks tick. RESTARTING: restart clocks too. OPERATING (saves included): all of them.
    """

    STOPPED = 0
    RESTARTING = 1
    OPERATING = 2


LEVEL: Final[dict[Clock, Activity]] = {
    "calendar": Activity.STOPPED,
    "restart": Activity.RESTARTING,
    "operating": Activity.OPERATING,
}
