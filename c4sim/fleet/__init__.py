"""Nodes, spare pools and repair shop: a passive state machine that knows nothing of the job's work."""

from c4sim.fleet.fleet import Fleet
from c4sim.fleet.hot_spares import hot_spare_rate
from c4sim.fleet.places import Outage, Place, Reason

__all__ = ["Fleet", "Outage", "Place", "Reason", "hot_spare_rate"]
