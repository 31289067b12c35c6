"""Checkpoints: what is durable when, what a save costs, and what a failure rolls back to."""

from c4sim.checkpoint.checkpoints import Checkpoints
from c4sim.checkpoint.facts import Progress, Rollback

__all__ = ["Checkpoints", "Progress", "Rollback"]
