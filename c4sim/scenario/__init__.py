"""Frozen models of everything a user can set. `validate` turns plain data into a `Scenario` or reports every problem
at once.
"""

from c4sim.scenario.checks import Problem, ScenarioError, validate
from c4sim.scenario.model import Provenance, Scenario

__all__ = ["Problem", "Provenance", "Scenario", "ScenarioError", "validate"]
