"""Arrivals of faults: superposition, lemons, events that take several nodes, over-dispersion."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from c4sim.theory._checks import at_least, not_negative, positive, probability

FloatArray = NDArray[np.float64]


def job_mtbf(unit_mtbf: float, units: int) -> float:
    """MTBF of a job that any of ``units`` independent units stops: ``m / n``.

    Exact for exponential lives; for others in the long run, as failures per time add up.
    """
    positive(unit_mtbf=unit_mtbf)
    at_least(1, units=units)
    return unit_mtbf / units


def lemon_failure_share(nodes: int, lemons: int, multiplier: float) -> float:
    """Share of failures on lemons, nodes that fail ``multiplier`` times as often and are not cured.

    ``l m / (N - l + l m)``.
    """
    at_least(0, lemons=lemons)
    at_least(max(lemons, 1), nodes=nodes)
    positive(multiplier=multiplier)
    return lemons * multiplier / (nodes - lemons + lemons * multiplier)


def event_rate(nodes: int, node_rate: float, sizes: Sequence[float], shares: Sequence[float]) -> float:
    """Events per time when each node is hit ``node_rate`` times, some events taking several nodes.

    ``N lam / E[size]``: a share ``shares[i]`` of the events takes ``sizes[i]`` nodes.
    """
    at_least(1, nodes=nodes)
    not_negative(node_rate=node_rate)
    if not math.isclose(math.fsum(shares), 1, abs_tol=1e-9):
        raise ValueError(f"shares must sum to 1 (got {list(shares)!r})")
    return nodes * node_rate / math.fsum(s * w for s, w in zip(sizes, shares, strict=True))


def compound_poisson_law(events: float, shares: FloatArray, most: int) -> FloatArray:
    """Probabilities of k = 0, ..., ``most`` nodes hit by a Poisson number of batches.

    ``events`` is the mean number of batches and ``shares[j]`` the probability that one takes
    j + 1 nodes.  With a fixed repair time r, a crew each, and events at the same rate whatever the
    state, the nodes down are those hit in the last r.

    Source: Panjer, ASTIN Bulletin 12 (1981) 22: ``p_k = (events / k) sum_j j f_j p_(k-j)``.
    """
    positive(events=events)
    at_least(0, most=most)
    moments = np.arange(1, len(shares) + 1) * np.asarray(shares, dtype=float)
    law = np.zeros(most + 1)
    law[0] = math.exp(-events)
    for k in range(1, most + 1):
        reach = min(k, len(moments))
        law[k] = events / k * (moments[:reach] @ law[k - reach : k][::-1])
    return law


def batch_spares_needed(events: float, shares: FloatArray, probability_wanted: float) -> int:
    """Smallest S with P(nodes hit <= S) at least as wanted, by :func:`compound_poisson_law`."""
    probability(probability_wanted=probability_wanted)
    size = np.arange(1, len(shares) + 1)
    mean, second = events * float(size @ shares), events * float(size**2 @ shares)
    most = int(mean + 40 * math.sqrt(second) + 60)
    reached = np.cumsum(compound_poisson_law(events, shares, most)) >= probability_wanted
    return int(np.argmax(reached))


def negative_binomial_empty_share(mean: float, dispersion: float) -> float:
    """Probability of no event in a period of over-dispersed counts, ``d^(-mean / (d - 1))``.

    ``dispersion`` is variance / mean, d >= 1; the limit d = 1 is Poisson, ``exp(-mean)``.

    Source: negative binomial law of size ``mean / (d - 1)`` (Johnson, Kemp and Kotz, 2005, 5.1).
    """
    not_negative(mean=mean)
    if not 1 <= dispersion < math.inf:
        raise ValueError(f"dispersion must be finite and at least 1 (got {dispersion!r})")
    if dispersion == 1:
        return math.exp(-mean)
    return math.exp(-mean * math.log(dispersion) / (dispersion - 1))


def complete_gaps_mean(mtbf: float, window: float, *, from_start: bool = False) -> float:
    """Expected length of all complete gaps over their expected number, Poisson events in windows.

    Gaps longer than what is left of the window are never seen whole, so this is below the MTBF.
    With a = window / mtbf and ``u = (1 - e^-a) / a``: between events
    ``window (1 + e^-a - 2 u) / (a - 1 + e^-a)``; with the gap from the window's start counted as
    complete (``from_start``) ``window (1 - u) / a``.

    Source: n events are uniform in the window, so that the first and last of them lie
    ``window (n - 1) / (n + 1)`` apart on average (David and Nagaraja, Order Statistics, 2003).
    """
    positive(mtbf=mtbf, window=window)
    a = window / mtbf
    empty, u = math.exp(-a), -math.expm1(-a) / a
    if from_start:
        return window * (1 - u) / a
    return window * (1 + empty - 2 * u) / (a - 1 + empty)


def neighbour_loss_probability(nodes: int) -> float:
    """Probability that two random losses in a ring are neighbours: ``2 / (n - 1)``.

    Then a copy kept on the next node of the ring dies with its original.
    """
    at_least(3, nodes=nodes)
    return 2 / (nodes - 1)
