"""How fast is the engine? CPU time of one replication, as JSON: python experiments/speed.py [--quick]

Each line is the median of five samples on one core, checkpoints on, ledger kept. Beside every sample 1,000 raw SimPy
timeouts are timed in the same process: a line's `units` is its time over theirs, which carries over between machines.
`totals_ms` is what metrics take on top of a run.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable, Generator
from typing import Any

import simpy

from c4sim import load_scenario
from c4sim.ledger import Ledger
from c4sim.metrics import totals
from c4sim.scenario import Scenario
from c4sim.simulation import run

SAMPLES = 5
TIMEOUTS = 1000
UNIT_REPEATS = 20


def scenarios() -> dict[str, tuple[Scenario, int]]:
    """Name -> (scenario, replications in one sample)."""
    return {
        "june": (load_scenario("c4_june2023"), 50),
        "december": (load_scenario("c4_dec2023"), 50),
        "2048 nodes, 54 days, 420 failures": (_single(2048, 54, 54 * 24 / 420), 10),
        "12500 nodes, 365 days, 17500 failures": (_single(12_500, 365, 365 * 24 / 17_500), 1),
        "2048 nodes, 54 days, fresh Weibull .7 ages": (_fresh(), 5),
        "june, two asynchronous tiers, four layers": (load_scenario("c4_june2023", *_ASYNC), 50),
        "128 nodes, 365 days": (_single(128, 365, 3.0), 2),
        "32768 nodes, 365 days": (_single(32_768, 365, 3.0), 2),
    }


_ASYNC = (
    "checkpoint.mode=async",
    "checkpoint.write=null",
    "checkpoint.tiers=[{name: memory, stall: 1s, persist: 10s, slowdown: 0.02, load: 10s, lost_with: node},"
    "{name: store, every: 6, stall: 1s, persist: 5min, slowdown: 0.02, load: 2min}]",
    "checkpoint.interval=10min",
    "detection.layers=[{kind: process_exit, delay: 0s, coverage: 0.1}, {kind: c4d, delay: 45s, coverage: 0.9},"
    "{kind: collective_watchdog, delay: {law: lognormal, mean: 30min, cv: 0.1}, coverage: 0.95},"
    "{kind: people, delay: {law: lognormal, mean: 12h, cv: 1.0}}]",
)


def _fresh() -> Scenario:
    keys = ("law=weibull", "mtbf=384d per node", "shape=0.7", "scope=node")
    return load_scenario("single_class", "job.nodes=2048", "horizon=54d", *(f"faults.crash.{key}" for key in keys))


def _single(nodes: int, days: int, mtbf_h: float) -> Scenario:
    keys = [f"job.nodes={nodes}", f"horizon={days}d", f"faults.crash.mtbf={mtbf_h!r}h per job"]
    return load_scenario("single_class", *keys, "spares.per_pool=unlimited")


def cpu_s(work: Callable[[], object]) -> float:
    """Processor time of a call, s."""
    began = time.process_time()
    work()
    return time.process_time() - began


def raw_timeouts() -> None:
    """1,000 timeouts of one SimPy process, and nothing else."""
    env = simpy.Environment()

    def wait() -> Generator[simpy.Event, Any, None]:
        for _ in range(TIMEOUTS):
            yield env.timeout(1.0)

    env.process(wait())
    env.run()


def measure(scenario: Scenario, replications: int) -> dict[str, float]:
    """Medians over samples: CPU of a replication, in units of raw timeouts, of its metrics, and of one failure."""
    run(scenario, 0, 0, 0)
    samples = [_sample(scenario, first * replications, replications) for first in range(SAMPLES)]
    return {name: statistics.median(sample[name] for sample in samples) for name in samples[0]}


def _sample(scenario: Scenario, first: int, replications: int) -> dict[str, float]:
    ledgers: list[Ledger] = []
    unit = statistics.fmean(cpu_s(raw_timeouts) for _ in range(UNIT_REPEATS))
    taken = cpu_s(lambda: ledgers.extend(run(scenario, 1, 0, first + k) for k in range(replications)))
    metrics = cpu_s(lambda: [totals(ledger, scenario) for ledger in ledgers])
    struck = sum(len(ledger.incident_rows) for ledger in ledgers)
    return {
        "cpu_ms": 1e3 * taken / replications,
        "units": taken / replications / unit,
        "totals_ms": 1e3 * metrics / replications,
        "cpu_us_per_failure": 1e6 * taken / max(struck, 1),
    }


def main() -> None:
    """Measure every line and print one JSON document."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one replication in a sample")
    quick = parser.parse_args().quick
    raw_timeouts()
    unit_ms = 1e3 * statistics.median(cpu_s(raw_timeouts) for _ in range(25))
    lines = {name: measure(scenario, 1 if quick else count) for name, (scenario, count) in scenarios().items()}
    ratio = lines["32768 nodes, 365 days"]["cpu_us_per_failure"] / lines["128 nodes, 365 days"]["cpu_us_per_failure"]
    document = {"unit_ms": unit_ms, "lines": lines, "per_failure_32768_over_128_nodes": ratio}
    print(json.dumps(document, indent=1))


if __name__ == "__main__":
    main()
