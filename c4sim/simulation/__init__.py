"""The only package that knows SimPy: `run` simulates one replication of a scenario."""

from c4sim.simulation.run import run

__all__ = ["run"]
