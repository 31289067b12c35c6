"""The facts that a run leaves: what the job did when, which faults stopped it, which nodes were away.

Records are facts, metrics are opinions: nothing here divides. The intervals partition the job's wall time: they are
appended in order of time without gap or overlap, and what a running interval holds (productive, stall, slowdown) adds
up to its length.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import pandas as pd


class Phase(IntEnum):
    """What the job's wall time goes to. PRODUCTIVE rows hold running time: productive, checkpoint stall and slowdown
    together.
    """

    PRODUCTIVE = 0
    CHECKPOINT_STALL = 1
    SLOWDOWN = 2
    LOST_WORK = 3
    DETECTION = 4
    ISOLATION = 5
    SPARE_WAIT = 6
    RESTART = 7
    MAINTENANCE = 8
    QUEUE = 9

    @property
    def label(self) -> str:
        """The phase's name in metrics and tables."""
        return self.name.lower()


IntervalRow = tuple[float, float, int, int, int, float, float, float, int]
IncidentRow = tuple[
    float, float, int, int, int, int, str, bool, bool, bool, int, float | None, float | None, float | None
]

DOWNTIME_PHASES = (Phase.LOST_WORK, Phase.DETECTION, Phase.ISOLATION, Phase.SPARE_WAIT, Phase.RESTART)
NO_CAUSE = -1
NO_INCIDENT = -1


class Interval(NamedTuple):
    """One stretch of wall time, s. Of a running stretch (phase PRODUCTIVE): what it holds, and the saves committed in
    it.
    """

    start: float
    end: float
    phase: int
    cause: int
    incident: int
    productive: float
    stall: float
    slowdown: float
    saves: int


class Incident(NamedTuple):
    """One fault (or false alarm) that stopped the job, or that had to be answered. Times are s; -1 stands for no
    place.

    time: when it struck; stopped: when the job stopped (later than `time` for a slow node or a corruption); detected,
    isolated,
    resumed: ends of the phases of its answer, None where the run ended first or another fault took over. operating: it
    stopped a job that was working. attempt: 0, or how often the same fault has struck again.
    """

    time: float
    stopped: float
    cause: int
    gpu: int
    node: int
    rank: int
    symptom: str
    confined: bool
    permanent: bool
    operating: bool
    attempt: int
    detected: float | None
    isolated: float | None
    resumed: float | None


class Outage(NamedTuple):
    """One node away from job and shelf: from `out` until `back`, s (None: still away at the end)."""

    unit: int
    out: float
    back: float | None


@dataclass(slots=True)
class Ledger:
    """The record of one run: intervals, incidents, outages, and why it ended.

    start: end of the warm-up, s. end_reason: "horizon", "work done", "no progress", "gave up restarting" or "no node
    can return". rows, incident_rows: plain tuples in the order of Interval and Incident, as a run appends hundreds.
    stopped_faults: faults that struck while the job stood still already. planned_stops: maintenance windows, which are
    no failures.
    """

    causes: tuple[str, ...]
    start: float = 0.0
    end: float = 0.0
    end_reason: str = ""
    rows: list[IntervalRow] = field(default_factory=list)
    incident_rows: list[IncidentRow] = field(default_factory=list)
    outages: list[Outage] = field(default_factory=list)
    stopped_faults: int = 0
    planned_stops: int = 0

    @property
    def intervals(self) -> list[Interval]:
        """The rows by name."""
        return [Interval(*row) for row in self.rows]

    @property
    def incidents(self) -> list[Incident]:
        """The incidents by name."""
        return [Incident(*row) for row in self.incident_rows]

    def cause_name(self, cause: int) -> str | None:
        """Name of a cause by its number; None for NO_CAUSE."""
        return None if cause == NO_CAUSE else self.causes[cause]

    def to_frame(self) -> pd.DataFrame:
        """One row per interval: start_s, end_s, phase, cause, incident, productive_s, stall_s, slowdown_s, saves."""
        import pandas as pd

        names = ["start_s", "end_s", "phase", "cause", "incident", "productive_s", "stall_s", "slowdown_s", "saves"]
        frame = pd.DataFrame(self.rows, columns=names)
        frame["phase"] = [Phase(phase).label for phase in frame["phase"]]
        frame["cause"] = [self.cause_name(cause) for cause in frame["cause"]]
        return frame

    def incidents_frame(self) -> pd.DataFrame:
        """One row per incident, times in s."""
        import pandas as pd

        frame = pd.DataFrame(self.incident_rows, columns=list(Incident._fields))
        frame["cause"] = [self.cause_name(cause) for cause in frame["cause"]]
        frame.insert(0, "incident", range(len(frame)))
        times = ("time", "stopped", "detected", "isolated", "resumed")
        return frame.rename(columns={name: f"{name}_s" for name in times})
