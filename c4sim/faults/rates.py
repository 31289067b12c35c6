"""From the rate that the user wrote to events per second and to the mean life of one place."""

from c4sim.faults.places import Topology
from c4sim.scenario.faults import FaultClass


def hits_per_event(fault: FaultClass, topology: Topology) -> float:
    """Mean number of nodes hit at once: 1 - share + share x nodes for a class with compound events, else 1."""
    if fault.compound is None or not topology.per_node(fault.scope):
        return 1.0
    share = fault.compound.share
    return 1.0 - share + share * min(fault.compound.nodes, topology.nodes)


def event_rate(fault: FaultClass, topology: Topology) -> float:
    """Events per second of the class's clock in the whole job; 0 for a class without mtbf, rate and values.

    The written rate counts hits per unit of its own scope: N units of rate r, hit k at a time on average, see N r / k
    events.
    """
    if fault.values is not None:
        lives = len(fault.values) / sum(fault.values)
        return topology.count(fault.scope) * lives / hits_per_event(fault, topology)
    if fault.mtbf is not None:
        hits = topology.count(fault.mtbf.scope) / fault.mtbf.seconds
    elif fault.rate is not None:
        hits = topology.count(fault.rate.scope) * fault.rate.per_second
    else:
        return 0.0
    return hits / hits_per_event(fault, topology)
