"""What a scenario says of checkpoints, worked out once for all replications."""

from functools import lru_cache
from typing import NamedTuple

from c4sim.checkpoint.blocking import Blocking
from c4sim.checkpoint.interval import interval_seconds
from c4sim.checkpoint.tiers import TierPlan, mean_cost, tier_plans
from c4sim.checkpoint.timeline import Entry, Timeline
from c4sim.scenario import Scenario
from c4sim.scenario.checkpoint import Checkpoint


class Plan(NamedTuple):
    """interval: work between saves, s; fresh: the timeline after a restart at the nominal rate."""

    interval: float
    tiers: tuple[TierPlan, ...]
    fresh: Timeline

    def timeline(self, rate: float, entry: Entry) -> Timeline:
        """The timeline of a leg that takes the schedule over in state `entry` and runs at `rate`."""
        tier = self.tiers[0]
        return Blocking(self.interval, tier.stall, rate, entry.due_in)


def make_plan(scenario: Scenario, operating_mtbf_s: float) -> Plan:
    """The plan of a scenario whose job fails every `operating_mtbf_s` on its operating clock (inf: never).

    Raises ValueError that names the key: an interval rule without an answer, a time that is not given.
    """
    job = scenario.job
    return _plan(scenario.checkpoint, job.nodes, job.gpus_per_node, operating_mtbf_s)


@lru_cache(maxsize=64)
def _plan(checkpoint: Checkpoint, nodes: int, gpus_per_node: int, mtbf: float) -> Plan:
    tiers = tier_plans(checkpoint, nodes, gpus_per_node)
    interval = interval_seconds(checkpoint.interval, mean_cost(tiers), mtbf)
    return Plan(interval, tiers, Blocking(interval, tiers[0].stall))
