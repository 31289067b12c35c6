"""From override texts and YAML groups to scenarios: the only package that knows Hydra.

`load_scenario` is what users and studies call; `load_points` is what sweeps call.
"""

from c4sim.configure.errors import ConfigError
from c4sim.configure.files import scenario_names
from c4sim.configure.grammar import read_values
from c4sim.configure.load import DEFAULT_SCENARIO, Point, load_points, load_scenario

__all__ = ["DEFAULT_SCENARIO", "ConfigError", "Point", "load_points", "load_scenario", "read_values", "scenario_names"]
