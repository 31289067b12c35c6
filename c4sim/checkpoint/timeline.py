"""The timeline of a stretch: what the job does after a restart, as arithmetic on the wall time since it.

A timeline knows the saves of one leg (a stretch, or the part of it that runs at one rate). All of its times count
from the leg's start. Saves are numbered per tier, from 0. No method takes a step per save.
"""

from typing import Literal, NamedTuple, Protocol

from c4sim.checkpoint.facts import Progress

JobPhase = Literal["save", "evaluation"]

STANDSTILL = 1e-12  # the least rate of a job: keeps every time finite


class Entry(NamedTuple):
    """State of the save schedule at the start of a leg.

    due_in: work until the next save is due; triggers: saves that came due before, modulo the period of the tiers;
    open: per tier, seconds until the save that it writes is durable (0: it writes none).
    """

    due_in: float
    triggers: int
    open: tuple[float, ...]


class Cut(NamedTuple):
    """Where one leg ends and the next begins: wall time in the leg, its progress and saves per tier up to there."""

    wall: float
    progress: Progress
    saved: tuple[int, ...]
    entry: Entry


class Timeline(Protocol):
    """One leg. `tier` numbers the tiers in the scenario's order; wall and work count from the leg's start."""

    def progress(self, wall: float) -> Progress:
        """What the first `wall` seconds hold. A save that ends at `wall` counts."""

    def wall_of_work(self, work: float) -> float:
        """The first moment at which `work` is done."""

    def saved(self, tier: int, wall: float, lag: float) -> int:
        """Number of the tier's saves that ended `lag` or more before `wall`."""

    def begun(self, tier: int, wall: float) -> int:
        """Number of the tier's saves that began at `wall` or before."""

    def save_end(self, tier: int, index: int) -> float:
        """When the stall of the tier's save `index` ends."""

    def held(self, tier: int, index: int) -> Progress:
        """What lies before the end of the stall of the tier's save `index`, that save included."""

    def cut(self, wall: float) -> Cut:
        """The first moment from `wall` on at which the job works: a save or an evaluation under way ends before."""

    def written(self, wall: float) -> float:
        """Seconds of the first `wall` in which saves are being written."""

    def phase_at(self, wall: float) -> JobPhase | None:
        """What the job does instead of working at `wall`; None when it works."""
