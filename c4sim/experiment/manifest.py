"""How a result was made: scenario, digest, versions, seed, replications."""

import importlib.metadata
import platform
from typing import Any

from c4sim.scenario import Scenario

SCHEMA_VERSION = 1
PACKAGES = ("c4sim", "numpy", "simpy", "pydantic")


def versions() -> dict[str, str]:
    """Versions of what a result depends on. Nothing of the machine, the user or the environment."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found


def scenario_entry(scenario: Scenario) -> dict[str, Any]:
    """A scenario with its name and digest."""
    return {"name": scenario.name, "digest": scenario.digest(), "document": scenario.as_document()}
