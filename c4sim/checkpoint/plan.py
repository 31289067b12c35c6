"""What a scenario says of checkpoints, worked out once for all replications."""

from functools import lru_cache
from typing import NamedTuple

from c4sim.checkpoint.blocking import Blocking
from c4sim.checkpoint.evaluation import Evaluated
from c4sim.checkpoint.interval import interval_seconds
from c4sim.checkpoint.periodic import Periodic
from c4sim.checkpoint.schedule import LONGEST_PERIOD, Overrun, nominal_schedule, schedule_from
from c4sim.checkpoint.tiers import TierPlan, mean_cost, period, tier_plans
from c4sim.checkpoint.timeline import Entry, Timeline
from c4sim.scenario import Scenario
from c4sim.scenario.checkpoint import Checkpoint, Evaluation


class Plan(NamedTuple):
    """interval: work between saves, s; nominal: the timeline after a restart, without evaluations.

    persist: per tier, s; volatile: tiers in the nodes' memory, which hold again what the job has loaded.
    """

    interval: float
    tiers: tuple[TierPlan, ...]
    overrun: Overrun
    evaluation: Evaluation | None
    nominal: Timeline
    persist: tuple[float, ...]
    volatile: tuple[int, ...]

    def fresh(self, work: float) -> Timeline:
        """The timeline after a restart with `work` done."""
        return self.nominal if self.evaluation is None else self._evaluated(self.nominal, work)

    def resumed(self, work: float, rate: float, entry: Entry) -> Timeline:
        """The timeline of a leg that takes the schedule over in state `entry` and works at `rate`."""
        if isinstance(self.nominal, Blocking):
            inner: Timeline = Blocking(self.interval, self.tiers[0].stall, rate, entry.due_in)
        else:
            schedule = schedule_from(self.interval, self.tiers, self.overrun, rate, entry)
            inner = Periodic(schedule, self.persist, entry.open)
        return inner if self.evaluation is None else self._evaluated(inner, work)

    def _evaluated(self, inner: Timeline, work: float) -> Timeline:
        assert self.evaluation is not None
        return Evaluated(inner, self.evaluation.every, self.evaluation.duration, work)


def make_plan(scenario: Scenario, operating_mtbf_s: float) -> Plan:
    """The plan of a scenario whose job fails every `operating_mtbf_s` on its operating clock (inf: never).

    Raises ValueError that names the key: an interval rule without an answer, a time that is not given, turns of tiers
    that hardly ever meet.
    """
    job = scenario.job
    return _plan(scenario.checkpoint, scenario.evaluation, job.nodes, job.gpus_per_node, operating_mtbf_s)


@lru_cache(maxsize=64)
def _plan(checkpoint: Checkpoint, evaluation: Evaluation | None, nodes: int, gpus_per_node: int, mtbf: float) -> Plan:
    tiers = tier_plans(checkpoint, nodes, gpus_per_node)
    if period(tiers) > LONGEST_PERIOD:
        raise ValueError(
            f"checkpoint.tiers: their turns meet only every {period(tiers)} saves (at most {LONGEST_PERIOD}): "
            "choose values of `every` that divide each other"
        )
    interval = interval_seconds(checkpoint.interval, mean_cost(tiers), mtbf)
    persist = tuple(tier.persist for tier in tiers)
    volatile = tuple(index for index, tier in enumerate(tiers) if tier.lost_with != "nothing")
    if len(tiers) == 1 and tiers[0].every == 1 and tiers[0].persist == 0.0:
        nominal: Timeline = Blocking(interval, tiers[0].stall)
    else:
        nominal = Periodic(nominal_schedule(interval, tiers, checkpoint.overrun), persist, (0.0,) * len(tiers))
    return Plan(interval, tiers, checkpoint.overrun, evaluation, nominal, persist, volatile)
