"""The fleet against queueing and reliability theory, driven by a job that only loses nodes.

Each test says whose clock the failures follow, what is left out as warm-up and that no other delay exists. Tolerance: 4
standard errors over independent replications, 27 comparisons in the default suite: a correct program fails once in 580
seeds. The seeds are fixed.
"""

import math
import random
from itertools import accumulate, count
from typing import Any

import numpy as np
import pytest
from fleet_tools import assert_mean, fleet_of, lose_nodes, scenario_of, share_filled

from c4sim.fleet import Fleet
from c4sim.streams import Streams

DAY = 86_400.0
RATE = 6.5e-3 / DAY  # per node
LAWS = [{"law": "exponential", "mean": "3d"}, {"law": "lognormal", "mean": "3d", "cv": 1.0}, "3d"]


def poisson_cdf(k: int, mean: float) -> float:
    return math.fsum(math.exp(n * math.log(mean) - mean - math.lgamma(n + 1)) for n in range(k + 1))


def run(fleet: Fleet, seed: int, end: float, clock: str = "calendar", rate: float = RATE) -> Fleet:
    for _ in lose_nodes(fleet, random.Random(seed), rate, clock=clock, end=end):
        pass
    return fleet


def down_at(fleet: Fleet, times: np.ndarray[Any, np.dtype[np.float64]]) -> np.ndarray[Any, np.dtype[np.int64]]:
    out = np.sort([o.out_s for o in fleet.outages])
    back = np.sort([o.back_s for o in fleet.outages if o.back_s is not None])
    return np.searchsorted(out, times, side="right") - np.searchsorted(back, times, side="right")


@pytest.mark.parametrize("law", LAWS)
def test_nodes_down_are_poisson_whatever_the_law_of_repair(law: Any) -> None:
    """M/G/infinity: 2,048 nodes, the job always full, a crew for everybody: Poisson with mean N lam r = 39.94.

    Source: Takacs, Introduction to the Theory of Queues (1962), chapter 3. 30 days are left out and samples lie 15
    days apart. P(K <= 48) = .9093 is the share with 48 spares.
    """
    fleet = fleet_of(2_048, {"per_pool": "unlimited"}, {"duration": law})
    run(fleet, 1, 5_000 * DAY)
    down = down_at(fleet, np.arange(30.0, 5_000.0, 15.0) * DAY)
    mean = 2_048 * 6.5e-3 * 3.0
    assert_mean([float(k) for k in down], mean)
    assert_mean([(k - mean) ** 2 for k in down], mean)
    assert_mean([float(k <= 48) for k in down], poisson_cdf(48, mean))
    assert mean == pytest.approx(39.94, abs=0.005)


def down_law(births: list[float], deaths: list[float]) -> list[float]:
    """Stationary law of a birth-death chain: p_k proportional to the product of births / deaths (Feller I, XVII.7)."""
    weights = list(accumulate([1.0, *(b / d for b, d in zip(births, deaths, strict=True))], lambda a, b: a * b))
    return [w / math.fsum(weights) for w in weights]


def share_with_nodes(nodes: int, spares: int, load: float, crews: float, clock: str) -> float:
    """Stationary share of time with at most `spares` of the units down; load: rate x mean repair of one node."""
    most = nodes + spares if clock == "calendar" else spares + 1
    births = [load * (nodes if clock == "operating" else min(nodes, nodes + spares - k)) for k in range(most)]
    law = down_law(births, [min(float(k), crews) for k in range(1, most + 1)])
    return math.fsum(law[: spares + 1])


@pytest.mark.parametrize(
    ("spares", "crews", "clock", "law", "published"),
    [
        (5, "unlimited", "calendar", LAWS[0], 0.9584),
        (5, "unlimited", "calendar", LAWS[2], 0.9584),
        (5, "unlimited", "operating", LAWS[1], 0.9719),
        (7, "unlimited", "calendar", LAWS[0], 0.9958),
        (7, "unlimited", "operating", LAWS[0], 0.9969),
        (7, 2, "calendar", LAWS[0], 0.0077),
        (7, 2, "operating", LAWS[0], 0.765),
    ],
)
def test_share_of_time_in_which_the_job_has_its_nodes(
    spares: int, crews: Any, clock: str, law: Any, published: float
) -> None:
    """128 nodes, 6.5 per 1,000 node-days, 3-day repair, no other delay; two years of warm-up.

    Calendar clock: birth-death chain; operating clock: one more node can be down than there are spares (Erlang's loss
    formula with spares + 1 servers). With 2 crews the offered load is 2.5: the shop is unstable on the calendar clock.
    """
    exact = share_with_nodes(128, spares, 6.5e-3 * 3.0, math.inf if crews == "unlimited" else crews, clock)
    assert exact == pytest.approx(published, abs=0.0005)
    scenario = scenario_of(128, {"total": spares}, {"duration": law, "crews": crews})
    end = (730.0 + (5_000.0 if crews == 2 else 2_500.0)) * DAY
    shares = [
        share_filled(Fleet(scenario, Streams(2, 0, r)), random.Random(r), RATE, clock=clock, warmup=730 * DAY, end=end)
        for r in range(16)
    ]
    assert_mean(shares, exact)


def erlang_c(servers: int, load: float) -> float:
    """Probability that an arrival waits in M/M/c (Kleinrock, Queueing Systems I, 1975, eq. 3.40)."""
    last = load**servers / math.factorial(servers) * servers / (servers - load)
    return last / (math.fsum(load**k / math.factorial(k) for k in range(servers)) + last)


def test_the_shop_is_an_m_m_c_queue() -> None:
    """100 nodes of mean life 100 days, always full; 4 crews, 3-day repair: W = r + C / (c mu - lam); warm-up 100 d."""
    spec = {"law": "exponential", "mean": "3d"}
    scenario = scenario_of(100, {"per_pool": "unlimited"}, {"duration": spec, "crews": 4})
    exact = 3.0 + erlang_c(4, 3.0) / (4 / 3.0 - 1.0)
    waits = []
    for r in range(20):
        fleet = run(Fleet(scenario, Streams(3, 0, r)), r, 1_200 * DAY, rate=0.01 / DAY)
        stays = [
            o.back_s - o.out_s for o in fleet.outages if 100 * DAY < o.out_s < 1_100 * DAY and o.back_s is not None
        ]
        waits.append(math.fsum(stays) / len(stays) / DAY)
    assert_mean(waits, exact)


def time_to_crash(spares: int, failure: float, repair: float) -> float:
    """Mean time from a full fleet until spares + 1 machines are down, one repairer: birth-death passage times."""
    passage, total = 0.0, 0.0
    for down in range(spares + 1):
        passage = 1.0 / failure + (1.0 / repair / failure * passage if down else 0.0)
        total += passage
    return total


def first_wait(fleet: Fleet, rng: random.Random, rate: float) -> float:
    for start, _, full, _ in lose_nodes(fleet, rng, rate, clock="calendar", end=math.inf):
        if not full:
            return start
    raise AssertionError("the iterator ends at a wait")


def check_ross(spares: int, published: float, runs: int) -> None:
    assert time_to_crash(spares, 10 / 100.0, 1.0) == pytest.approx(published)
    scenario = scenario_of(10, {"total": spares}, {"duration": {"law": "exponential", "mean": "1s"}, "crews": 1})
    times = [first_wait(Fleet(scenario, Streams(4, 0, r)), random.Random(r), 0.01) for r in range(runs)]
    assert_mean(times, published)


@pytest.mark.parametrize(("spares", "published", "runs"), [(0, 10.0, 3_000), (1, 120.0, 2_000), (2, 1_230.0, 600)])
def test_repair_problem(spares: int, published: float, runs: int) -> None:
    """Ross, Simulation, section 'A repair problem': from a full fleet to the first time that fewer than 10 work.

    10 work, shelf spares do not fail, one repairer, F exponential of mean 100, G exponential of mean 1; no warm-up.
    """
    check_ross(spares, published, runs)


@pytest.mark.slow
def test_repair_problem_with_three_spares() -> None:
    check_ross(3, 12_340.0, 1_000)


def test_hot_spares_age_like_working_nodes() -> None:
    """Calendar clock, a crew for everybody: each of N + S units is down for r / (r + 1/lam) of the time, independently:
    the number down is binomial, whatever the law of repair. On the shelf it would be .9584."""
    faults = {"crash": {"mtbf": "500d per node", "scope": "node", "clock": "calendar"}}
    scenario = scenario_of(20, {"total": 4, "state": "hot"}, {"duration": "30d"}, faults=faults)
    p = 30.0 / 530.0
    exact = math.fsum(math.comb(24, k) * p**k * (1 - p) ** (24 - k) for k in range(5))
    rate = 1.0 / (500 * DAY)
    shares = [
        share_filled(
            Fleet(scenario, Streams(5, 0, r)),
            random.Random(r),
            rate,
            clock="calendar",
            warmup=100 * DAY,
            end=20_000 * DAY,
        )
        for r in range(20)
    ]
    assert_mean(shares, exact)


def test_two_stages_of_repair_take_their_mean_together() -> None:
    """Automatic 1 d (mends .8, hands back .1 broken), manual 5 d (mends .5, repeats): mean stay 1 + .1 x 5 / .5 = 2 d.

    Always full, a crew for everybody; a unit handed back broken strikes at once when it sits in the job again (stream
    1), so that a tenth of all outages are such; the first and last 100 days are left out.
    """
    stages = [
        {"duration": "1d", "success": 0.8, "silent_failure": 0.1},
        {"duration": {"law": "exponential", "mean": "5d"}, "success": 0.5},
    ]
    scenario = scenario_of(1_000, {"total": 200}, {"stages": stages})
    fleet = run(Fleet(scenario, Streams(6, 0, 0)), 6, 2_000 * DAY)
    ended = [o for o in fleet.outages if 100 * DAY < o.out_s < 1_900 * DAY]
    assert_mean([((o.back_s or math.nan) - o.out_s) / DAY for o in ended], 2.0)
    assert_mean([float(o.defective) for o in ended], 0.1)
    assert_mean([float(o.attempts > 0) for o in ended], 0.1)
    assert_mean([float(o.stream == 1) for o in ended], 0.1)


def test_availability_of_one_node_depends_on_means_only() -> None:
    """Alternating renewal, Weibull up (shape .7, mean 9 d), lognormal down (mean 1 d, cv 2): M / (M + R) = .9.

    Source: Ross, Stochastic Processes (1996), theorem 3.4.4. Ratio of sums over 300 cycles a replication, so that no
    cycle is cut; the shop is all that delays.
    """
    scenario = scenario_of(1, {"total": 0}, {"duration": {"law": "lognormal", "mean": "1d", "cv": 2.0}})
    scale = 9.0 * DAY / math.gamma(1.0 + 1.0 / 0.7)
    excess = []
    for r in range(100):
        fleet, rng, now, up = Fleet(scenario, Streams(7, 0, r)), random.Random(r), 0.0, 0.0
        for number in range(300):
            life = rng.weibullvariate(scale, 0.7)
            up += life
            now += life
            fleet.take_out(0, now, broken=True, stream=0, number=number)
            assert fleet.request(now) == math.inf
            now = fleet.request(fleet.next_change())
            assert fleet.seat(now) == [(0, 0, 0)]
        excess.append((up - 0.9 * now) / DAY)
    assert_mean(excess, 0.0)


def test_blames_of_one_node_in_a_window() -> None:
    """Poisson blames at rate 1 per day; retired at 2 within half a day: mean time (2 - e^-.5) / (1 - e^-.5) days.

    A gap shorter than the window w ends it: T is the time to the first blame and G gaps, G geometric with
    p = 1 - e^(-lam w); by Wald E T = (1 + 1 / p) / lam.
    """
    p = 1.0 - math.exp(-0.5)
    times = []
    for r in range(2_000):
        rng = random.Random(r)
        fleet = fleet_of(1, {"total": 0}, {"retirement": {"faults": 2, "window": "12h"}})
        now = 0.0
        for number in count():
            now += rng.expovariate(1.0 / DAY)
            fleet.take_out(0, now, broken=False, stream=0, number=number)
            if fleet.request(now) == math.inf:
                assert not fleet.can_ever_fill()
                break
            fleet.seat(now)
        times.append(now / DAY)
    assert_mean(times, 1.0 + 1.0 / p)
