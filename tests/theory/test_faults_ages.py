"""How often classes with age strike: renewal equation, first failures, stationary and given starts."""

import math

import numpy as np
import pytest
from fault_tools import DAY, process_of, replace_by_new, walk
from scipy import stats

from c4sim.faults import Activity, FaultProcess
from c4sim.theory.renewal import expected_renewals, mean_first_failure, weibull_cdf


def within(sample: list[float] | np.ndarray, exact: float) -> bool:
    values = np.asarray(sample, dtype=float)
    return bool(abs(values.mean() - exact) < 4 * values.std(ddof=1) / math.sqrt(len(values)))


def weibull(shape: float, mtbf: str, **more: object) -> dict[str, object]:
    return {"law": "weibull", "shape": shape, "mtbf": mtbf, "scope": "node", **more}


@pytest.mark.parametrize(
    ("shape", "failures", "replications", "renewal"),
    [
        (0.7, 104.6, 200, "as_new"),
        (1.0, 40.0, 200, "as_new"),
        (1.5, 9.55, 400, "as_new"),
        (2.0, 2.45, 800, "as_new"),
        (3.0, 0.174, 2_000, "as_new"),
        (0.7, 104.6, 100, "carried"),
        (2.0, 2.45, 400, "carried"),
    ],
)
def test_failures_of_a_fresh_fleet(shape: float, failures: float, replications: int, renewal: str) -> None:
    """512 nodes, 30 days, mean life 384 days, no delays, a failed node replaced by a new one: renewal equation.

    A simulator that renews every node at every failure finds some 580 failures at shape .7.
    """
    exact = 512 * expected_renewals(weibull_cdf(shape, 384.0), 30.0, steps=500)
    assert exact == pytest.approx(failures, rel=5e-3)
    counts = []
    for replication in range(replications):
        fault = weibull(shape, "384d per node", renewal=renewal)
        process = process_of({"a": fault}, nodes=512, replication=replication)
        counts.append(sum(1 for _ in walk(process, 30 * DAY, replace_by_new)))
    assert within(counts, exact)


@pytest.mark.parametrize(("shape", "days"), [(0.5, 0.0001), (0.7, 0.00518), (1.0, 0.1), (1.5, 1.0)])
def test_first_failure_of_fresh_nodes(shape: float, days: float) -> None:
    """The least of 1,000 Weibull lives of mean 100 days is Weibull of mean 100 x 1000^(-1 / shape) days."""
    exact = mean_first_failure(shape, 100.0, 1_000)
    assert exact == pytest.approx(days, rel=2e-3)
    firsts = []
    for replication in range(1_000):
        process = process_of({"a": weibull(shape, "100d per node")}, nodes=1_000, replication=replication)
        firsts.append(process.next_time(0.0, Activity.OPERATING) / DAY)
    scale = exact / math.gamma(1 + 1 / shape)
    assert within(firsts, exact)
    assert within((np.array(firsts) / scale) ** shape, 1.0)  # exponential of mean 1: as sharp for every shape


LAWS = {
    "weibull .7": {"law": "weibull", "shape": 0.7},
    "weibull 3": {"law": "weibull", "shape": 3.0},
    "lognormal": {"law": "lognormal", "cv": 1.5},
    "gamma": {"law": "gamma", "shape": 4.0},
    "empirical": {"law": "empirical", "values": ["1d", "2d", "27d"]},
}


def counts_by_tenth(fault: dict[str, object], replications: int) -> np.ndarray:
    """Failures of 300 nodes of mean life 10 days in each of ten days, shape (replications, 10)."""
    found = []
    for replication in range(replications):
        process = process_of({"a": fault}, nodes=300, replication=replication)
        days = [int(time // DAY) for time, _ in walk(process, 10 * DAY, replace_by_new)]
        found.append(np.bincount(days, minlength=10))
    return np.array(found)


@pytest.mark.parametrize("renewal", ["as_new", "carried"])
@pytest.mark.parametrize("law", LAWS)
def test_a_stationary_fleet_fails_at_a_constant_rate(law: str, renewal: str) -> None:
    """Equilibrium renewal process: 300 nodes / 10 days = 30 failures on every day (Cox 1962, section 4.1)."""
    rate = {} if law == "empirical" else {"mtbf": "10d per node"}
    fault = {**LAWS[law], **rate, "scope": "node", "start": "stationary", "renewal": renewal}
    counts = counts_by_tenth(fault, 30)
    for day in range(10):
        assert within(counts[:, day], 30.0)


@pytest.mark.parametrize("law", ["weibull .7", "weibull 3", "lognormal", "gamma"])
def test_nodes_of_given_ages_live_on_as_their_law_says(law: str) -> None:
    """Half the nodes 4, half 12 days old: P(first failure within t) = 1 - S(age + t) / S(age), averaged."""
    laws = {
        "weibull .7": stats.weibull_min(0.7, scale=10 / math.gamma(1 + 1 / 0.7)),
        "weibull 3": stats.weibull_min(3.0, scale=10 / math.gamma(1 + 1 / 3)),
        "lognormal": stats.lognorm(math.sqrt(math.log(3.25)), scale=10 / math.sqrt(3.25)),
        "gamma": stats.gamma(4.0, scale=2.5),
    }
    fault = {**LAWS[law], "mtbf": "10d per node", "scope": "node", "start": "given", "ages": ["4d", "12d"]}
    firsts: list[list[float]] = [[], []]
    for replication in range(10):
        process = process_of({"a": fault}, nodes=400, replication=replication)
        seen: dict[int, float] = {}
        for time, event in walk(process, 60 * DAY):
            assert event is not None
            seen.setdefault(event.slots[0], time / DAY)
        for slot in range(400):
            firsts[slot % 2].append(seen.get(slot, math.inf))
    for age, sample in zip((4.0, 12.0), firsts, strict=True):
        for t in (0.5, 2.0, 6.0):
            exact = 1 - laws[law].sf(age + t) / laws[law].sf(age)
            assert within(np.array(sample) < t, exact)


def test_an_aged_class_with_a_multiplier_ages_faster() -> None:
    """Twice the pace from the start: as many failures in 15 days as without in 30."""
    hot = {"activation_energy_ev": 0.7, "reference_celsius": 60, "celsius": [69.762]}  # multiplier 2.0000 at 69.762 C
    counts = []
    for replication in range(150):
        fault = weibull(0.7, "384d per node", temperature=hot)
        process = process_of({"a": fault}, nodes=512, replication=replication)
        counts.append(sum(1 for _ in walk(process, 15 * DAY, replace_by_new)))
    assert within(counts, 512 * expected_renewals(weibull_cdf(0.7, 384.0), 30.0))


def cycle_counts(renewal: str, replications: int) -> list[int]:
    """Failures in 200 days of one node that changes places every day with a spare of its age."""
    found = []
    for replication in range(replications):
        spares = {"total": 1, "per_pool": None}
        fault = weibull(3.0, "10d per node", renewal=renewal)
        process = process_of({"a": fault}, nodes=1, replication=replication, spares=spares)
        found.append(_alternate(process))
    return found


def _alternate(process: FaultProcess) -> int:
    failures, now = 0, 0.0
    for day in range(200):
        while (due := process.next_time(now, Activity.OPERATING)) < (day + 1) * DAY:
            process.run(now, due, Activity.OPERATING)
            failures += process.take(due, Activity.OPERATING) is not None
            now = due
        process.run(now, (day + 1) * DAY, Activity.OPERATING)
        now = (day + 1) * DAY
        process.swap(0, day % 2, (day + 1) % 2, now)
    return failures


def test_two_units_in_turn_fail_like_two_nodes_of_half_the_time() -> None:
    """Each ages 100 days in all; a shelf on which ages started anew would hide wear-out (shape 3) almost wholly."""
    exact = 2 * expected_renewals(weibull_cdf(3.0, 10.0), 100.0)
    assert within(cycle_counts("carried", 200), exact)
    assert np.mean(cycle_counts("as_new", 100)) < exact / 10
