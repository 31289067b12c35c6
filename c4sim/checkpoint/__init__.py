"""Checkpoints: what is durable when, what a save costs, and what a failure rolls back to."""

from c4sim.checkpoint.checkpoints import Checkpoints
from c4sim.checkpoint.facts import Progress, Rollback
from c4sim.checkpoint.plain import PlainCheckpoints, is_plain
from c4sim.checkpoint.plan import make_plan
from c4sim.scenario import Scenario
from c4sim.streams import Streams

__all__ = ["Checkpoints", "PlainCheckpoints", "Progress", "Rollback", "make_checkpoints"]


def make_checkpoints(scenario: Scenario, streams: Streams, operating_mtbf_s: float) -> Checkpoints | PlainCheckpoints:
    """The checkpoints of one run, in the leanest form that serves the scenario. See `Checkpoints`."""
    plan = make_plan(scenario, operating_mtbf_s)
    if is_plain(scenario, plan):
        return PlainCheckpoints(plan)
    return Checkpoints(scenario, streams, operating_mtbf_s)
