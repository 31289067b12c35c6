"""From published shares of lost time to means per failure, and back to shares.

The record (Dong et al., arXiv:2406.04594, HPCA 2025) gives the shares of one month's wall time
lost to each phase, and by what factor the work thrown away fell in a later month in which users
saved every ten minutes.  Together they fix the failure rate and the mean of each phase.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from scipy.optimize import brentq

from c4sim.theory._checks import not_negative, positive, probability
from c4sim.theory.segments import mean_lost_work

Reading = Literal["operating", "calendar"]


@dataclass(frozen=True)
class MonthShares:
    """Shares of a month's wall time lost to each phase."""

    lost_work: float
    detection: float
    isolation: float
    restart: float

    @property
    def total(self) -> float:
        """Share lost to all phases."""
        return self.lost_work + self.stopped

    @property
    def stopped(self) -> float:
        """Share in which the job does not operate, and so cannot fail."""
        return self.detection + self.isolation + self.restart


@dataclass(frozen=True)
class LaterMonth:
    """What is published of the later month, in the caller's unit of time.

    ``interval`` is work between saves and ``write`` the stall of a save; ``stopped`` is the share
    of time in which the job does not operate.
    """

    lost_work_factor: float
    rate_factor: float
    interval: float
    write: float
    stopped: float


@dataclass(frozen=True)
class Calibration:
    """Means per failure of the first month, and the rates of both.

    ``failures`` and ``later_failures`` count per month, ``mtbf`` and ``later_mtbf`` are operating
    time per failure, ``cycle`` is interval + write of the first month.
    """

    failures: float
    mtbf: float
    later_failures: float
    later_mtbf: float
    lost_work: float
    cycle: float
    detection: float
    isolation: float
    restart: float


def calibrate(shares: MonthShares, later: LaterMonth, month: float, reading: Reading) -> Calibration:
    """Derive the five means of the first month from its shares and the later month's lost work.

    The later month lost ``shares.lost_work / lost_work_factor`` of its time, which at its known
    mean loss per failure counts its failures.  The first month's rate is ``rate_factor`` times
    that, per operating time (``reading="operating"``) or per calendar time
    (``reading="calendar"``); its shares divided by its failures are the means, and the cycle is
    the one whose mean loss is the first of them.

    Raises ``ValueError`` when the mean loss is not below the MTBF, so that no interval gives it.
    """
    positive(month=month, lost_work_factor=later.lost_work_factor, rate_factor=later.rate_factor)
    probability(lost_work=shares.lost_work, stopped=shares.stopped)
    not_negative(later_stopped=later.stopped)
    later_lost = shares.lost_work / later.lost_work_factor * month
    later_operating = (1 - later.stopped) * month
    later_failures = _failures(later_lost, later.interval + later.write, later_operating)
    operating = (1 - shares.stopped) * month
    exposure = operating / later_operating if reading == "operating" else 1.0
    failures = later_failures * later.rate_factor * exposure
    per_failure = month / failures
    mtbf = operating / failures
    return Calibration(
        failures=failures,
        mtbf=mtbf,
        later_failures=later_failures,
        later_mtbf=later_operating / later_failures,
        lost_work=shares.lost_work * per_failure,
        cycle=cycle_for_mean_loss(shares.lost_work * per_failure, mtbf),
        detection=shares.detection * per_failure,
        isolation=shares.isolation * per_failure,
        restart=shares.restart * per_failure,
    )


def cycle_for_mean_loss(loss: float, mtbf: float) -> float:
    """The cycle (interval + write) at which a failure throws away ``loss`` on average.

    The inverse of :func:`c4sim.theory.segments.mean_lost_work` without lag, operating clock.
    """
    positive(loss=loss, mtbf=mtbf)
    if not loss < mtbf:
        raise ValueError(f"a mean loss of {loss!r} is not below the MTBF of {mtbf!r}")
    high = 2 * loss
    while mean_lost_work(high, mtbf) < loss:
        high *= 2
    return float(brentq(lambda cycle: mean_lost_work(cycle, mtbf) - loss, loss, high, rtol=1e-14))


def long_run_shares(mtbf: float, cycle: float, stopped: Mapping[str, float]) -> dict[str, float]:
    """Share of wall time lost to rollback (``lost_work``) and to each stopped phase.

    ``mean / (M + sum of stopped means)``, operating clock, blocking saves; by renewal reward.
    ``stopped`` maps phase to mean time per failure.
    """
    positive(mtbf=mtbf)
    not_negative(**stopped)
    period = mtbf + sum(stopped.values())
    means = {"lost_work": mean_lost_work(cycle, mtbf), **stopped}
    return {phase: mean / period for phase, mean in means.items()}


def _failures(lost: float, cycle: float, operating: float) -> float:
    """Failures in ``operating`` time that together throw away ``lost``."""

    def excess(failures: float) -> float:
        return failures * mean_lost_work(cycle, operating / failures) - lost

    least = lost / cycle  # a failure throws away at most one cycle
    most = 2 * least
    while excess(most) < 0:
        most *= 2
    return float(brentq(excess, least, most, rtol=1e-14))
