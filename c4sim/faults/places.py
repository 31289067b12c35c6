"""Where a fault can strike: GPU or link in a node, node in a rack under one leaf switch, rack in a power domain,
job.
"""

from dataclasses import dataclass

from c4sim.scenario import Scenario
from c4sim.scenario.faults import Scope


@dataclass(frozen=True, slots=True)
class Topology:
    """Consecutive slots share a rack, consecutive racks a power domain; the last rack and domain may be smaller.

    A spare takes over rack and power domain of the slot that it fills, so places belong to slots, not to units.
    """

    nodes: int
    gpus_per_node: int
    links_per_node: int
    nodes_per_rack: int
    racks_per_power_domain: int

    @classmethod
    def of(cls, scenario: Scenario) -> "Topology":
        """The topology of the scenario's job."""
        job, cluster = scenario.job, scenario.cluster
        return cls(
            job.nodes,
            job.gpus_per_node,
            job.links_per_node,
            cluster.nodes_per_rack,
            cluster.racks_per_power_domain,
        )

    def per_node(self, scope: Scope) -> int:
        """Places of `scope` in one node; 0 for a scope wider than a node."""
        if scope == "gpu":
            return self.gpus_per_node
        if scope == "link":
            return self.links_per_node
        return 1 if scope == "node" else 0

    def per_place(self, scope: Scope) -> int:
        """Slots of a full place of a scope wider than a node."""
        if scope == "job":
            return self.nodes
        racks = self.racks_per_power_domain if scope == "power" else 1
        return racks * self.nodes_per_rack

    def count(self, scope: Scope) -> int:
        """Places of `scope` in the job."""
        inside = self.per_node(scope)
        if inside:
            return inside * self.nodes
        return -(-self.nodes // self.per_place(scope))

    def slots(self, scope: Scope, place: int) -> tuple[int, ...]:
        """The slots that a fault of `scope` at `place` hits; () for scope job."""
        inside = self.per_node(scope)
        if inside:
            return (place // inside,)
        if scope == "job":
            return ()
        size = self.per_place(scope)
        return tuple(range(place * size, min((place + 1) * size, self.nodes)))

    def neighbours(self, slot: int, nodes: int) -> tuple[int, ...]:
        """`nodes` slots from `slot` on; after the last slot comes the first, so that every slot is hit equally
        often.
        """
        return tuple((slot + step) % self.nodes for step in range(min(nodes, self.nodes)))
