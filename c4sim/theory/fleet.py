"""Nodes down in a fleet with spares and a repair shop: laws, and the spares needed.

``nodes`` are in the job when it runs, ``spares`` wait on the shelf and do not fail, a failed node
is away for ``repair`` on average.  ``rate`` is failures per node and time.  The job has its nodes
while at most ``spares`` are down.

Calendar clock: the nodes that are left go on failing while the job waits.  Operating clock: no
node fails while the job waits, so at most ``spares + 1`` are down.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincc, pdtr

from c4sim.theory._checks import at_least, not_negative, positive, probability

FloatArray = NDArray[np.float64]
Clock = Literal["operating", "calendar"]


def offered_load(nodes: int, rate: float, repair: float) -> float:
    """Mean repairs in progress if every failure found a free crew: ``N lam r`` (erlangs)."""
    at_least(1, nodes=nodes)
    not_negative(rate=rate, repair=repair)
    return nodes * rate * repair


def stability_warning(load: float, crews: int | None) -> str | None:
    """A message when the offered load is not below the number of crews, else ``None``.

    Source: stability of the M/M/c queue, load < c (Kleinrock, Queueing Systems I, 1975, 3.5).
    """
    if crews is None or load < crews:
        return None
    return f"repair shop unstable: offered load {load:.3g} with {crews} crews"


def failure_rates(nodes: int, spares: int, rate: float, clock: Clock) -> FloatArray:
    """Failures per time with k = 0, 1, ... nodes down, until no further failure is possible.

    Calendar: ``min(N, N + S - k) lam`` for k < N + S.  Operating: ``N lam`` for k <= S.
    """
    at_least(1, nodes=nodes)
    at_least(0, spares=spares)
    positive(rate=rate)
    if clock == "operating":
        return np.full(spares + 1, nodes * rate)
    down = np.arange(nodes + spares)
    rates: FloatArray = np.minimum(nodes, nodes + spares - down) * rate
    return rates


def repair_rates(states: int, repair: float, crews: int | None) -> FloatArray:
    """Repairs per time with k = 1, ..., ``states`` nodes down: ``min(k, crews) / r``."""
    positive(repair=repair)
    at_least(1, crews=1 if crews is None else crews)
    busy = np.arange(1, states + 1)
    rates: FloatArray = (busy if crews is None else np.minimum(busy, crews)) / repair
    return rates


def nodes_down_law(
    nodes: int,
    spares: int,
    rate: float,
    repair: float,
    *,
    crews: int | None = None,
    clock: Clock = "calendar",
) -> FloatArray:
    """Stationary probabilities of k = 0, 1, ... nodes down.

    Birth-death balance ``p_k = p_(k-1) lam_(k-1) / mu_k``.  Repair times are exponential; with a
    crew for every node (``crews=None``) the law depends on their mean alone.

    Source: Feller, Introduction to Probability Theory I, XVII.7; insensitivity without queueing:
    Sevastyanov, Theory of Probability and its Applications 2 (1957) 104.
    """
    births = failure_rates(nodes, spares, rate, clock)
    steps = np.log(births) - np.log(repair_rates(len(births), repair, crews))
    logs = np.concatenate(([0.0], np.cumsum(steps)))
    law: FloatArray = np.exp(logs - logs.max())
    law /= law.sum()
    return law


def probability_job_has_nodes(
    nodes: int,
    spares: int,
    rate: float,
    repair: float,
    *,
    crews: int | None = None,
    clock: Clock = "calendar",
) -> float:
    """Stationary share of time with at most ``spares`` nodes down.

    With the operating clock and ``crews=None`` this is one minus Erlang's loss formula with
    ``spares + 1`` servers.
    """
    law = nodes_down_law(nodes, spares, rate, repair, crews=crews, clock=clock)
    return float(law[: spares + 1].sum())


def spares_needed(
    nodes: int,
    rate: float,
    repair: float,
    probability_wanted: float,
    *,
    crews: int | None = None,
    clock: Clock = "calendar",
    most: int = 100_000,
) -> int | None:
    """Fewest spares with ``probability_job_has_nodes`` at least as wanted; ``None`` above ``most``.

    The probability grows with the spares, so the search doubles and then halves.
    """
    probability(probability_wanted=probability_wanted)

    def enough(spares: int) -> bool:
        has = probability_job_has_nodes(nodes, spares, rate, repair, crews=crews, clock=clock)
        return has >= probability_wanted

    high = 1
    while not enough(high):
        high *= 2
        if high > most:
            return None
    low = -1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def poisson_spares_needed(mean_down: float, probability_wanted: float) -> int:
    """Smallest S with P(K <= S) at least as wanted, K Poisson with mean ``mean_down``.

    Nodes down when the job always has its nodes and every repair its crew, any repair law.

    Source: Takacs, Introduction to the Theory of Queues (1962), M/G/infinity; Palm (1938).
    """
    not_negative(mean_down=mean_down)
    probability(probability_wanted=probability_wanted)
    top = int(mean_down + 40 * math.sqrt(mean_down) + 60)
    return int(np.argmax(pdtr(np.arange(top), mean_down) >= probability_wanted))


def erlang_loss(servers: int, load: float) -> float:
    """Erlang's loss probability B(n, a), by the recursion ``1/B_n = 1 + (n / a) / B_(n-1)``.

    Source: Erlang (1917); Jagerman, Bell System Technical Journal 53 (1974) 525.
    """
    at_least(0, servers=servers)
    positive(load=load)
    inverse = 1.0
    for n in range(1, servers + 1):
        inverse = 1 + n / load * inverse
    return 1 / inverse


def mean_time_to_exhaustion(nodes: int, spares: int, rate: float, repair: float, *, crews: int | None = 1) -> float:
    """Mean time from a full fleet until ``spares + 1`` nodes are down, exponential laws.

    ``h_k = 1 / lam_k + (mu_k / lam_k) h_(k-1)`` is the mean time from k to k + 1 down.  Until then
    the job always has its nodes, so the clock does not matter.

    Source: the repair problem of Ross, Simulation, chapter 7; Karlin and Taylor (1975), 4.7.
    """
    births = failure_rates(nodes, spares, rate, "operating")
    deaths = np.concatenate(([0.0], repair_rates(spares, repair, crews)))
    passage = total = 0.0
    for birth, death in zip(births.tolist(), deaths.tolist(), strict=True):
        passage = (1 + death * passage) / birth
        total += passage
    return total


def mean_nodes_down(law: FloatArray) -> float:
    """Mean of a law of nodes down."""
    return float(np.arange(len(law)) @ law)


def transient_law(
    nodes: int,
    spares: int,
    rate: float,
    repair: float,
    time: float,
    *,
    crews: int | None = None,
    clock: Clock = "calendar",
) -> tuple[FloatArray, FloatArray]:
    """Law of the nodes down at ``time``, and averaged over [0, time], from a full fleet.

    Uniformisation: with q at least every rate of leaving a state, the law is the Poisson(q t)
    mixture of the powers of ``I + Q / q``; the average weighs power n by P(Poisson(q t) > n)/(q t).

    Source: Jensen, Skandinavisk Aktuarietidskrift 36 (1953) 87; Grassmann (1977).
    """
    positive(time=time)
    births = failure_rates(nodes, spares, rate, clock)
    deaths = repair_rates(len(births), repair, crews)
    up, down = np.append(births, 0.0), np.concatenate(([0.0], deaths))
    q = float((up + down).max())
    mean = q * time
    jumps = np.arange(int(mean + 10 * math.sqrt(mean) + 40))
    after = gammaincc(jumps + 1, mean)  # P(Poisson(mean) <= n)
    weights, over = np.diff(after, prepend=0.0), (1 - after) / mean
    law, at_time, averaged = np.zeros((3, len(up)))
    law[0] = 1.0
    for weight, share in zip(weights, over, strict=True):
        at_time += weight * law
        averaged += share * law
        flow = (law * up)[:-1] - (law * down)[1:]
        law[:-1] -= flow / q
        law[1:] += flow / q
    return at_time / at_time.sum(), averaged / averaged.sum()
