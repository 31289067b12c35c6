"""The one error of configuring."""

from c4sim.scenario import ScenarioError


class ConfigError(ScenarioError):
    """A configuration that cannot be; `problems` lists every mistake found: syntax, names, values and combinations."""
