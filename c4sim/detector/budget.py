"""The false-alarm budget, and every constant of the detector with its reason.

No threshold is "k sigma". A test statistic is the log-likelihood ratio of "shifted" against "as
before" in nats; for a true null hypothesis P(statistic > h) <= exp(-h) (Ville's inequality, Chernoff's
bound for a maximum over shifts). With m tests in 30 days and a budget of A false alarms,

    h = ln(m / A).

The number of tests m is counted: series x candidate rows of the windows judged in 30 days. The
standard deviations in the statistics are long-run ones (``variogram``), which counts correlated steps
as fewer independent ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

MONTH_S = 30 * 86400.0

#: Step time where the telemetry gives none: the order of magnitude of large jobs.
DEFAULT_STEP_S = 10.0
#: Families of tests that share the budget: compute, edges, flapping, input, clock.
FAMILIES = 5

# Smallest effects worth a verdict. A smaller persistent difference is real but is the spread of
# healthy parts: a detector that names it accuses a different worker each month.
#: log factor of a worker against its peers when no change was seen (parts differ by 1 to 3 %).
MIN_LEVEL = math.log(1.10)
#: log factor of a worker against its own past.
MIN_CHANGE = math.log(1.03)
#: log factor against a level learned long ago: healthy parts drift by a few per cent.
MIN_HISTORY = math.log(1.08)
#: The same for links, which are noisier and whose effect on the job is smaller.
MIN_LINK_LEVEL = math.log(1.15)
MIN_LINK_CHANGE = math.log(1.08)
#: Input waits: share of the step.
MIN_INPUT = 0.02

#: Share of the rows since the onset that must show at least half of the effect: a pause does not.
PERSISTENCE = 0.6
#: Rows that a change must have lasted: half of the 16 in which a strong one has to be found.
MIN_ROWS = 8
#: One row weighs at most this many long-run standard deviations about the series' median, once it is freed
#: of what it remembers of the row before (``series.without_memory``): one disturbance of any size then adds
#: at most CLIP^2 / (2 MIN_ROWS) = 1 nat, even if noise with memory carries it on over many rows. A strong
#: lasting shift still passes after MIN_ROWS rows, with as many before: it reaches CLIP^2 MIN_ROWS / 4 = 32
#: nats, the threshold of 600,000 series judged each second.
CLIP = 4.0
#: Smallest standard deviation of a log ratio that is believed (timers, rounding).
NOISE_FLOOR = 0.002
#: Smallest spread among peers that is believed: two healthy GPUs differ by about half a percent.
SPREAD_FLOOR = 0.005

#: A load is taken to vary, though none is given, when the cells of the median worker scatter by more
#: than this (healthy compute: 0.3 to 3 %), or its peers' levels do.
VARYING_CELLS = 0.08
VARYING_LEVELS = 0.06

#: A bad step of a flapping link: this factor above the link's own quiet level, and more than FLAP_SIGMA
#: of its noise.
FLAP_FACTOR = 1.8
FLAP_SIGMA = 5.0
#: Bad steps before a link is said to flap.
FLAP_STEPS = 6
#: Smallest chance of a bad step on a healthy link that is believed.
FLAP_FLOOR = 1e-4

#: Where roles are not given, so large a share of slow workers in one is a pipeline stage with more work.
CROWD = 1 / 16
#: A role needs this many workers for its median to be a majority.
MAJORITY = 3


@dataclass(frozen=True)
class Budget:
    """False alarms tolerated.

    Attributes:
        false_alarms: expected number per job per 30 days, all tests together.
        step_time_s: seconds between two rows; from the telemetry when ``None``.
    """

    false_alarms: float = 0.1
    step_time_s: float | None = None

    def __post_init__(self) -> None:
        if not 0 < self.false_alarms < math.inf:
            raise ValueError(f"false_alarms: must be positive (got {self.false_alarms})")
        if self.step_time_s is not None and not 0 < self.step_time_s < math.inf:
            raise ValueError(f"step_time_s: must be positive (got {self.step_time_s})")


@dataclass(frozen=True)
class Thresholds:
    """Nats that a statistic must exceed.

    Attributes:
        change: for a test repeated in every window.
        level: for a test of a fixed property of a part, made once in the life of a job.
    """

    change: float
    level: float


def thresholds(series: int, rows: int, step_time_s: float, budget: Budget) -> Thresholds:
    """Thresholds of one family of tests.

    Args:
        series: number of series K tested.
        rows: rows of a window; windows follow each other, so K x rows tests per window are K x
            (steps in 30 days) in all.
        step_time_s: seconds between rows.
    """
    share = budget.false_alarms / FAMILIES
    steps = max(MONTH_S / step_time_s, rows)
    return Thresholds(math.log(max(series, 1) * steps / share), math.log(max(series, 1) / share))
