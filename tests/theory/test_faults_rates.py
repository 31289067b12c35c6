"""How often classes without age strike, where, and how irregularly: Poisson, compound, clustered, lemons, moving."""

import heapq
import math
from collections import Counter

import numpy as np
import pytest
from fault_tools import DAY, process_of, replace_by_new, walk

from c4sim.faults import Activity
from c4sim.faults.lemons import LemonUnits
from c4sim.faults.pace import CalendarPace
from c4sim.scenario.faults import Reinforcement
from c4sim.streams import Streams
from c4sim.theory.arrivals import event_rate, lemon_failure_share, negative_binomial_empty_share

Sample = list[float] | np.ndarray


def within(sample: Sample, exact: float, errors: float = 4.0) -> bool:
    """Whether the sample's mean lies within 4 standard errors of the exact one."""
    values = np.asarray(sample, dtype=float)
    return bool(abs(values.mean() - exact) < errors * values.std(ddof=1) / math.sqrt(len(values)))


def times_of(process_end: float, *args: object, **sections: object) -> np.ndarray:
    return np.array([time for time, _ in walk(process_of(*args, **sections), process_end)])  # type: ignore[arg-type]


def per_node_gaps(nodes: int, mean: float, count: int, seed: int) -> np.ndarray:
    """Gaps between failures of nodes with an exponential clock each, one event after the other: slow and plain."""
    rng = np.random.default_rng(seed)
    clocks = [(float(rng.exponential(mean)), node) for node in range(nodes)]
    heapq.heapify(clocks)
    times = []
    for _ in range(count):
        time, node = heapq.heappop(clocks)
        times.append(time)
        heapq.heappush(clocks, (time + float(rng.exponential(mean)), node))
    return np.diff(times, prepend=0.0)


def test_superposed_class_and_per_node_clocks_give_the_same_gaps() -> None:
    """64 nodes of mean life 64 h: gaps exponential of mean 1 h, uncorrelated, both ways (Cox 1962, section 6.2).

    100,000 gaps show a bias of 2 % as more than 6 standard errors.
    """
    superposed = np.diff(times_of(100_000 * 3600.0, {"a": {"mtbf": "64h per node", "scope": "node"}}, nodes=64)) / 3600
    single = per_node_gaps(64, 64.0, 9_000, seed=7)
    for gaps in (superposed, single):
        assert within(gaps, 1.0)
        assert within((gaps - 1.0) ** 2, 1.0)
        assert within((gaps[1:] - 1.0) * (gaps[:-1] - 1.0), 0.0)
        for x in (0.05, 0.5, 1.0, 2.0, 4.0):
            assert within(gaps > x, math.exp(-x))


def test_every_place_is_struck_equally_often_and_independently() -> None:
    """Chi-square of the 80 GPUs' counts, mean 79 and variance 158; successive places uncorrelated."""
    faults = {"a": {"rate": "20 per job-hour"}}
    places = np.array([e.slots[0] * 8 + (e.gpu or 0) for _, e in walk(process_of(faults, nodes=10), 20 * DAY) if e])
    counts = np.bincount(places, minlength=80)
    expected = len(places) / 80
    assert abs(((counts - expected) ** 2).sum() / expected - 79) < 4 * math.sqrt(158)
    centred = places - 39.5
    assert within(centred[1:] * centred[:-1], 0.0)


@pytest.mark.parametrize("mark", ["confined", "permanent"])
def test_share_of_the_marked(mark: str) -> None:
    faults = {"a": {"rate": "20 per job-hour", mark: 0.825}}
    found = [getattr(event, mark) for _, event in walk(process_of(faults), 10 * DAY)]
    assert within(found, 0.825)


def test_confined_and_permanent_are_independent() -> None:
    faults = {"a": {"rate": "20 per job-hour", "confined": 0.5, "permanent": 0.5}}
    found = [event for _, event in walk(process_of(faults), 20 * DAY) if event]
    assert within([e.confined == e.permanent for e in found], 0.5)


def test_compound_events_are_fewer_and_every_node_is_hit_at_its_rate() -> None:
    """1,024 nodes hit .01 times a day, 10 % of the events take 8: 10.24 / 1.7 = 6.02 events a day, job MTBF 3.98 h."""
    compound = {"share": 0.1, "nodes": 8}
    faults = {"a": {"rate": "10 per 1000 node-days", "scope": "node", "compound": compound}}
    events = list(walk(process_of(faults, nodes=1024), 2_000 * DAY))
    days = np.array([time for time, _ in events]) // DAY
    per_day = np.bincount(days.astype(int), minlength=2_000)
    assert within(per_day, event_rate(1024, 0.01, (1, 8), (0.9, 0.1)))
    assert event_rate(1024, 0.01, (1, 8), (0.9, 0.1)) == pytest.approx(6.02, abs=0.005)
    sizes = [len(event.slots) for _, event in events if event]
    assert set(sizes) == {1, 8}
    assert within(np.array(sizes) == 8, 0.1)
    # Hits of neighbours come together, so that days are the independent samples, not nodes.
    hits = np.zeros((2_000, 1024))
    for time, event in events:
        if event:
            hits[int(time // DAY), list(event.slots)] += 1.0
    assert within(hits.mean(axis=1), 0.01)
    for part in np.array_split(hits - hits.mean(axis=1, keepdims=True), 16, axis=1):
        assert within(part.mean(axis=1), 0.0)
    assert within(hits[:, [*range(8), *range(1016, 1024)]].mean(axis=1), 0.01)  # no edge


@pytest.mark.parametrize("dispersion", [1.0, 3.0, 20.0])
def test_dispersion_of_clustered_arrivals(dispersion: float) -> None:
    """Counts in windows: mean 6, variance / mean as given, empty ones as negative binomial, uncorrelated."""
    clustering = {"dispersion": dispersion, "window": "1d"}
    times = times_of(3_000 * DAY, {"a": {"rate": "6 per job-day", "clustering": clustering}})
    counts = np.bincount((times // DAY).astype(int), minlength=3_000)
    assert within(counts, 6.0)
    assert within((counts - 6.0) ** 2 / 6.0, dispersion)
    assert within(counts == 0, negative_binomial_empty_share(6.0, dispersion))
    assert within((counts[1:] - 6.0) * (counts[:-1] - 6.0), 0.0)


def test_two_clustered_classes_cluster_apart() -> None:
    fault = {"rate": "6 per job-day", "clustering": {"dispersion": 20, "window": "1d"}}
    counts = np.zeros((2, 2_000))
    for time, event in walk(process_of({"a": fault, "b": fault}), 2_000 * DAY):
        assert event is not None
        counts[event.class_index, int(time // DAY)] += 1
    assert within((counts[0] - 6.0) * (counts[1] - 6.0), 0.0)


def test_clustering_counts_on_the_classs_own_clock() -> None:
    """The job operates every other half day: two half days of operation make one window of its clock."""
    clustering = {"dispersion": 8.0, "window": "1d"}
    process = process_of({"a": {"rate": "6 per job-day", "clustering": clustering}})
    now, operated, counts = 0.0, 0.0, np.zeros(1_500)
    while operated < 1_500 * DAY:
        end = now + DAY / 2
        while (due := process.next_time(now, Activity.OPERATING)) < end:
            process.run(now, due, Activity.OPERATING)
            process.take(due, Activity.OPERATING)
            counts[int((operated + due - (end - DAY / 2)) // DAY)] += 1
            now = due
        process.run(now, end, Activity.OPERATING)
        process.run(end, end + DAY / 2, Activity.STOPPED)
        operated += DAY / 2
        now = end + DAY / 2
    assert within(counts, 6.0)
    assert within((counts - 6.0) ** 2 / 6.0, 8.0)


@pytest.mark.parametrize("scope", ["node", "gpu"])
def test_a_lemon_takes_its_share_of_failures(scope: str) -> None:
    """1 node of 100 at 5 times the rate, never cured: 5 / 104 = 4.8 % of failures, at 1.04 times the rate."""
    cluster = {"lemons": {"share": 0.01, "multiplier": 5}}
    process = process_of({"a": {"rate": "100 per job-day", "scope": scope}}, nodes=100, cluster=cluster)
    events = [event for _, event in walk(process, 300 * DAY) if event]
    hits = Counter(event.slots[0] for event in events)
    lemon = hits.most_common(1)[0][0]
    assert within([event.slots[0] == lemon for event in events], lemon_failure_share(100, 1, 5))
    assert lemon_failure_share(100, 1, 5) == pytest.approx(0.048, abs=1e-3)
    assert abs(len(events) - 31_200) < 4 * math.sqrt(31_200)
    assert {event.slots[0] for event in events if event.stream == 1} == {lemon}


def test_lemons_are_the_share_of_the_clusters_nodes() -> None:
    """Exact in every replication where the share makes whole nodes (2 of 20), right on average where not (1.5)."""

    def lemons(share: float, replication: int) -> list[int]:
        units = LemonUnits(Streams(1, 0, replication), share, 20)
        return [unit for unit in range(20) if unit in units]

    assert {len(lemons(0.1, replication)) for replication in range(50)} == {2}
    assert within([len(lemons(0.075, replication)) for replication in range(400)], 1.5)
    found = [unit for replication in range(400) for unit in lemons(0.1, replication)]
    assert within(found, 9.5)


def test_fresh_units_without_end_are_lemons_with_the_share() -> None:
    fault = {"a": {"rate": "0.000001 per job-day", "scope": "node"}}
    process = process_of(fault, nodes=1, cluster={"lemons": {"share": 0.3, "multiplier": 1e9}})
    found = []
    for unit in range(1, 1_500):
        process.swap(0, unit - 1, unit, 0.0)
        found.append(process.next_time(0.0, Activity.OPERATING) < 10 * DAY)
    assert within(found, 0.3)


def test_aged_lemons_fail_as_many_times_as_often_in_the_long_run() -> None:
    fault = {"law": "weibull", "shape": 2.0, "mtbf": "10d per node", "scope": "node"}
    cluster = {"lemons": {"share": 0.5, "multiplier": 3}}
    rates = []
    for replication in range(100):
        process = process_of({"a": fault}, nodes=2, replication=replication, cluster=cluster)
        hits = Counter(event.slots[0] for _, event in walk(process, 400 * DAY) if event)
        assert len(hits) == 2
        rates.append(max(hits.values()) / 400)
    # A fresh start is short of up to half a life in 400 days.
    assert np.mean(rates) == pytest.approx(0.3, abs=4 * np.std(rates) / 10 + 0.005)


def test_rate_falls_by_the_record_within_six_months() -> None:
    """Reinforcement 3.33 over 180 days: failures of each month are the rate times the multiplier's integral."""
    falling = {"factor": 3.33, "over": "180d"}
    pace = CalendarPace(None, Reinforcement.model_validate(falling))
    months = []
    for replication in range(200):
        faults = {"a": {"rate": "66 per job-month", "clock": "calendar", "reinforcement": falling}}
        times = times_of(210 * DAY, faults, replication=replication)
        months.append(np.bincount((times // (30 * DAY)).astype(int), minlength=7))
    counts = np.array(months)
    edges = [pace.forward(30 * DAY * month) for month in range(8)]
    for month in range(7):
        assert within(counts[:, month], 66 * (edges[month + 1] - edges[month]) / (30 * DAY))
    assert within(counts[:, 6], 66 / 3.33)


def test_replacing_nodes_changes_nothing_for_classes_without_age() -> None:
    faults = {"a": {"rate": "1 per node-day", "scope": "node"}}
    kept, swapped = process_of(faults), process_of(faults)
    assert list(walk(kept, 50 * DAY)) == list(walk(swapped, 50 * DAY, replace_by_new))
