"""Segments of work between saves: their expected time, efficiency, and what a failure throws away.

Failures are exponential with mean M.  A segment is ``interval`` of work followed by a save of
``write``; a failure anywhere in it costs ``detection`` and ``restart`` and starts it anew.
"""

from __future__ import annotations

import math
from typing import Literal

from c4sim.theory._checks import not_negative, positive

Clock = Literal["operating", "restart"]


def time_per_failure(mtbf: float, detection: float = 0.0, restart: float = 0.0, clock: Clock = "operating") -> float:
    """Mean time from one start of operation to the next.

    Operating clock: ``M + D + R``, with D and R the means of any law.  Restart clock:
    ``(M + D) exp(R / M)`` with R fixed, as each attempt to restart can fail and costs D again.

    Source: Daly, Future Generation Computer Systems 22 (2006), section 3; Bougeret, Casanova,
    Rabie, Robert and Vivien, SC'11, proposition 1.
    """
    positive(mtbf=mtbf)
    not_negative(detection=detection, restart=restart)
    if clock == "operating":
        return mtbf + detection + restart
    return (mtbf + detection) * math.exp(restart / mtbf)


def segment_time(
    interval: float,
    write: float,
    mtbf: float,
    detection: float = 0.0,
    restart: float = 0.0,
    clock: Clock = "operating",
) -> float:
    """Expected wall time until ``interval`` of work and its save are done.

    ``(M + D + R)(exp((tau + C) / M) - 1)`` for the operating clock,
    ``(M + D) exp(R / M) (exp((tau + C) / M) - 1)`` for the restart clock.

    Source: Bougeret et al., SC'11, proposition 1 (restart clock).
    """
    not_negative(interval=interval, write=write)
    per_failure = time_per_failure(mtbf, detection, restart, clock)
    return per_failure * _growth((interval + write) / mtbf)


def efficiency(
    interval: float,
    write: float,
    mtbf: float,
    detection: float = 0.0,
    restart: float = 0.0,
    clock: Clock = "operating",
) -> float:
    """Long-run share of wall time that is kept work: ``tau / segment_time``.

    Source: renewal reward (Ross, Stochastic Processes, theorem 3.6.1) over segments.
    """
    positive(interval=interval)
    return interval / segment_time(interval, write, mtbf, detection, restart, clock)


def makespan(
    work: float,
    interval: float,
    write: float,
    mtbf: float,
    detection: float = 0.0,
    restart: float = 0.0,
    clock: Clock = "operating",
    *,
    final_save: bool = False,
) -> float:
    """Expected wall time of a fixed amount of work saved every ``interval``.

    The sum of the segments' expected times: all but the last have a save, the last (a full
    interval or what remains) has one if ``final_save``.  The first start costs nothing.  With
    ``interval >= work`` it is the time of unsaved work, ``(M + D + R)(exp(W / M) - 1)``.
    """
    positive(work=work, interval=interval)
    full = max(math.ceil(work / interval * (1 - 1e-12)) - 1, 0)
    tail = (mtbf, detection, restart, clock)
    last = segment_time(work - full * interval, write if final_save else 0.0, *tail)
    return last if full == 0 else full * segment_time(interval, write, *tail) + last


def lost_work(age: float, cycle: float, lag: float = 0.0) -> float:
    """Operating time thrown away by a failure ``age`` after the last start of operation.

    Snapshots are taken every ``cycle`` of operating time and are durable ``lag`` later; the point
    of the last start is durable.  A failure at the instant of durability comes after it.
    """
    positive(cycle=cycle)
    not_negative(age=age, lag=lag)
    durable = max(math.floor((age - lag) / cycle), 0)
    return age - durable * cycle


def mean_lost_work(cycle: float, mtbf: float, lag: float = 0.0, first_cycle: float | None = None) -> float:
    """Mean operating time thrown away per failure, operating clock.

    Snapshots are taken at ``first_cycle`` (default ``cycle``) and then every ``cycle`` of
    operating time after a start, each durable ``lag`` later.  Blocking saves: cycle = interval +
    write, lag 0, which gives ``M - s / (exp(s / M) - 1)``, near s / 2 for s << M.  In general

        M - sum_k (t_k - t_(k-1)) P(X > t_k + lag)
          = M - exp(-(t_1 + lag) / M) (t_1 + s / (exp(s / M) - 1)).

    Source: mean of a truncated exponential; Daly (2006), equation 14 for lag 0.
    """
    positive(cycle=cycle, mtbf=mtbf)
    first = cycle if first_cycle is None else first_cycle
    not_negative(lag=lag, first_cycle=first)
    if lag == 0 and first == cycle:
        return mtbf * _truncated_mean(cycle / mtbf)
    kept = math.exp(-(first + lag) / mtbf) * (first + cycle / _growth(cycle / mtbf))
    return mtbf - kept


def lost_work_variance(cycle: float, mtbf: float) -> float:
    """Variance of the operating time lost per failure, blocking saves, operating clock.

    ``M^2 - s^2 exp(s / M) / (exp(s / M) - 1)^2``: an exponential truncated to [0, s].
    """
    positive(cycle=cycle, mtbf=mtbf)
    half = cycle / mtbf / 2
    if half < 1e-3:  # the difference below cancels; two terms of its series do not
        return cycle**2 * (1 / 12 - half**2 / 60)
    return mtbf**2 * (1 - (half / math.sinh(min(half, 700.0))) ** 2)


def async_efficiency(
    interval: float,
    mtbf: float,
    *,
    stall: float = 0.0,
    lag: float = 0.0,
    slowdown: float = 0.0,
    detection: float = 0.0,
    restart: float = 0.0,
    clock: Clock = "operating",
) -> float:
    """Long-run share of wall time that is kept work, with asynchronous saves.

    After each ``interval`` of work a snapshot stalls the job for ``stall``; it is durable ``lag``
    after the stall's start, and from the stall's end until then the job runs at ``1 - slowdown``
    of its rate.  ``interval * E[durable snapshots per failure] / time_per_failure``, where the
    k-th snapshot of a stretch starts at ``interval + (k - 1) cycle``.

    Raises ``ValueError`` when a save is not durable before the next snapshot starts.
    """
    positive(interval=interval)
    cycle = async_cycle(interval, stall, lag, slowdown)
    first_durable = interval + max(lag, stall)
    durable = math.exp(-first_durable / mtbf) / -math.expm1(-cycle / mtbf)
    return interval * durable / time_per_failure(mtbf, detection, restart, clock)


def async_cycle(interval: float, stall: float, lag: float, slowdown: float = 0.0) -> float:
    """Operating time from one snapshot to the next: work, stall, and what the slowdown costs.

    While a save is written in the background (``lag - stall``) the rate is ``1 - slowdown``, so it
    costs ``slowdown * (lag - stall)``.  Raises ``ValueError`` when the save outlasts the interval.
    """
    positive(interval=interval)
    not_negative(stall=stall, lag=lag, slowdown=slowdown)
    background = max(lag - stall, 0.0)
    cycle = interval + stall + slowdown * background
    if not slowdown < 1:
        raise ValueError(f"slowdown must be below 1 (got {slowdown!r})")
    if not max(lag, stall) <= cycle:
        raise ValueError(f"a save of {lag!r} outlasts its cycle of {cycle!r}")
    return cycle


def _truncated_mean(x: float) -> float:
    """Mean of a unit exponential truncated to [0, x]: ``1 - x / (exp(x) - 1)``."""
    if x < 1e-4:  # the difference below cancels; two terms of its series do not
        return x / 2 - x * x / 12
    return 1 - x / _growth(x)


def _growth(x: float) -> float:
    """``exp(x) - 1``, infinite beyond the range of a float."""
    return math.expm1(x) if x < 700 else math.inf
