"""Blocking saves to one store that nothing destroys: the checkpoints of most studies, as bare arithmetic.

The same answers as `Checkpoints` for scenarios that need no history: every save is durable and loadable when its stall
ends, and no fault reaches back behind the current restart point.
"""

from c4sim.checkpoint.blocking import Blocking
from c4sim.checkpoint.facts import Loss, Progress, Rollback, make_rollback
from c4sim.checkpoint.plan import Plan
from c4sim.checkpoint.timeline import JobPhase
from c4sim.scenario import Scenario


def is_plain(scenario: Scenario, plan: Plan) -> bool:
    """Whether `PlainCheckpoints` serves the scenario: one durable store, no doubts about a save, one rate of work."""
    spec = scenario.checkpoint
    doubts = spec.save_failure > 0.0 or spec.corrupt > 0.0 or spec.retention is not None
    latent = any(fault.effect in ("slow", "corruption") for fault in scenario.faults.values())
    one_store = len(plan.tiers) == 1 and not plan.volatile and plan.persist == (0.0,)
    return isinstance(plan.nominal, Blocking) and plan.evaluation is None and one_store and not doubts and not latent


class PlainCheckpoints:
    """See `Checkpoints`, whose methods these are."""

    def __init__(self, plan: Plan) -> None:
        assert isinstance(plan.nominal, Blocking)
        self._timeline = plan.nominal
        self._stall = plan.tiers[0].stall
        self._load = plan.tiers[0].load
        self._start = 0.0
        self.interval = plan.interval
        self.progress = plan.nominal.progress
        self.work = 0.0

    def begin(self, now: float) -> None:
        """A stretch starts: counts of saves start anew."""
        self._start = now

    def progress_at(self, time: float) -> Progress:
        """The progress of the current stretch by absolute time."""
        return self.progress(time - self._start)

    def phase_at(self, wall: float) -> JobPhase | None:
        """What the job does instead of working `wall` seconds into this stretch; None when it works."""
        return self._timeline.phase_at(wall)

    def set_rate(self, wall: float, factor: float) -> None:
        """Never asked: no class of the scenario slows the job."""
        raise ValueError(f"factor: a job without slow faults has one rate (got {factor!r} at {wall!r} s)")

    def wall_until_work(self, work: float) -> float:
        """The first moment of this stretch, from its start, at which the job's surviving work reaches `work`."""
        return self._timeline.wall_of_work(work - self.work)

    def rollback(self, now: float, loss: Loss, corrupt_since: float | None = None) -> Rollback:  # noqa: ARG002
        """A fault at `now` ends the stretch: the job goes back to its last save."""
        kept, held = self._timeline.up_to_last_save(now - self._start)
        self.work += held[0]
        kept += self._start
        return make_rollback((kept if kept < now else now, self.work, self._load, 0.0, False, held))

    def save_now(self, now: float) -> tuple[float, float]:
        """A planned stop at `now` ends the stretch with a save. Returns its seconds and those to load it."""
        self.work += self.progress(now - self._start).productive_s
        self._start = now
        return self._stall, self._load
