"""Synthetic telemetry of a synchronous training job, with the truth beside it.

    from c4sim.synthetic import SCENARIOS, generate
    telemetry, truth = generate("hot_experts+slow_sender", seed=7)
    truth.faults[0].kind, truth.faults[0].workers, truth.faults[0].first_step

A scenario is ``condition``, or ``condition+fault``: every fault stands on top of every condition
(``clean``, and everything a healthy job does that looks like a fault: hot experts, re-balancing,
checkpoints, garbage collection, ...). Without a fault nobody may be accused, except that the
condition ``clock_skew`` is itself an offset clock. The result is a function of (scenario, seed).

A job is dp x pp x tp workers. Each does its own work; barriers of the three kinds of parallelism
turn one worker's delay into the others' waiting. Nothing here is shared with the detector except
the structure ``Telemetry``.
"""

from c4sim.synthetic.generate import SCENARIOS, generate
from c4sim.synthetic.layout import Layout
from c4sim.synthetic.stream import CleanJob
from c4sim.synthetic.truth import ACCUSING_KINDS, Fault, Truth

__all__ = ["ACCUSING_KINDS", "SCENARIOS", "CleanJob", "Fault", "Layout", "Truth", "generate"]
