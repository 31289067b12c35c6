"""Experiments: points times replications -> tables, manifest, resume."""

from c4sim.experiment.precision import Precision
from c4sim.experiment.result import Result, simulate
from c4sim.experiment.running import Progress, ReplicationError
from c4sim.experiment.tables import Totals, Value

__all__ = ["Precision", "Progress", "ReplicationError", "Result", "Totals", "Value", "simulate"]
