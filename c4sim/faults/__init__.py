"""When and where something breaks."""

from c4sim.faults.activity import Activity
from c4sim.faults.event import FaultEvent
from c4sim.faults.process import FaultProcess

__all__ = ["Activity", "FaultEvent", "FaultProcess"]
