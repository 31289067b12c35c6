"""Experiments: points times replications -> tables, manifest, resume."""

from c4sim.experiment.files import StorageError
from c4sim.experiment.paired import Alternative, Comparison, Difference, compare
from c4sim.experiment.plan import Plan, Point, SweepError
from c4sim.experiment.precision import Missed, Precision
from c4sim.experiment.result import Result, simulate
from c4sim.experiment.running import Progress, ReplicationError
from c4sim.experiment.shards import Shard
from c4sim.experiment.sweep_run import Outcome
from c4sim.experiment.sweeps import default_folder, rerun, sweep
from c4sim.experiment.tables import Totals, Value

__all__ = [
    "Alternative",
    "Comparison",
    "Difference",
    "Missed",
    "Outcome",
    "Plan",
    "Point",
    "Precision",
    "Progress",
    "ReplicationError",
    "Result",
    "Shard",
    "StorageError",
    "SweepError",
    "Totals",
    "Value",
    "compare",
    "default_folder",
    "rerun",
    "simulate",
    "sweep",
]
