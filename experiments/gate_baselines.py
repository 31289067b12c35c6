"""Make the baselines of results/baselines/: python experiments/gate_baselines.py [NAME...] [--workers N].

One scenario for each mechanism. `c4sim check --update FILE` makes an existing one again.
"""

import argparse
from pathlib import Path

from c4sim import load_scenario
from c4sim.gate import Baseline, Gate, create, write

FOLDER = Path(__file__).parent.parent / "results" / "baselines"
RECORD = ("c4_june2023", "c4_dec2023", "c4_4096")
MECHANISMS = {
    "ages_as_new": (
        "faults.crash={law: weibull, shape: 0.7, mtbf: 1536h per node, scope: node}",
        "restart.duration=10min",
    ),
    "ages_carried": (
        "faults.crash={law: weibull, shape: 1.5, mtbf: 1536h per node, scope: node, "
        "renewal: carried, start: stationary}",
        "repair.duration=2d",
        "restart.duration=10min",
    ),
    "lemons": (
        "cluster.lemons={share: 0.05, multiplier: 5}",
        "repair={duration: 1d, retirement: {faults: 3, window: 7d}}",
        "spares.per_pool=16",
        "restart.duration=10min",
    ),
    "correlated": (
        "faults.crash={mtbf: 1536h per node, scope: node, compound: {share: 0.1, nodes: 8}, "
        "clustering: {dispersion: 1.0, window: 1d}}",
        "spares.per_pool=8",
        "repair.duration=2d",
        "restart.duration=10min",
    ),
    "moving_rates": (
        "faults.crash={mtbf: 12h per job, reinforcement: {factor: 3.33, over: 180d}, "
        "temperature: {activation_energy_ev: 0.7, reference_celsius: 60, celsius: [60, 70], period: 15d}}",
        "restart.duration=10min",
    ),
    "async_tiers": (
        "checkpoint.mode=async",
        "checkpoint.interval=10min",
        "checkpoint.tiers=[{name: node, stall: 2s, persist: 5s, slowdown: 0, load: 20s, lost_with: node}, "
        "{name: store, every: 6, stall: 5s, persist: 4min, slowdown: 0.1, load: 5min}]",
        "restart.duration=5min",
    ),
    "bad_checkpoints": (
        "checkpoint={write: 30s, save_failure: 0.05, corrupt: 0.05, fallback: {tries: 3, each: 90s}}",
        "restart.duration=5min",
    ),
    "corruption": (
        "faults.crash={mtbf: 12h per job, effect: corruption, latency: {law: exponential, mean: 2h}}",
        "restart.duration=5min",
    ),
    "fail_slow": (
        "faults.crash={mtbf: 12h per job, effect: slow, slow_factor: 0.7}",
        "detection.delay={law: exponential, mean: 1h}",
        "restart.duration=5min",
    ),
    "layers_and_pauses": (
        "faults.crash.effect=hang",
        "detection.layers=[{kind: collective_watchdog, delay: 30min, coverage: 0.95}, "
        "{kind: people, delay: {law: lognormal, mean: 12h, cv: 1}}]",
        "pauses={rate: 1 per job-day, mean: 20s, cv: 1.3}",
        "restart.duration=5min",
    ),
    "isolation": (
        "faults.crash.confined=0.8",
        "isolation={delay: {law: lognormal, mean: 2h, cv: 1}, automatic: {delay: 5min, names_node: 0.9}, "
        "wrong_blame: 0.1}",
        "restart={duration: 5min, rendezvous: {failure: 0.1}}",
    ),
    "repair_shop": (
        "spares.per_pool=4",
        "repair={stages: [{duration: 12h, crews: 2, success: 0.6, silent_failure: 0.1}, "
        "{duration: {law: lognormal, mean: 3d, cv: 1}, crews: 4}]}",
        "restart.duration=5min",
    ),
    "hot_spares": ("spares={per_pool: 6, state: hot}", "repair.duration=2d", "restart.duration=5min"),
    "planned_stops": (
        "maintenance={every: 7d, duration: 6h}",
        "evaluation={every: 6h, duration: 10min}",
        "checkpoint.write=30s",
        "restart.duration=10min",
    ),
    "fixed_work": ("work=20d", "checkpoint.interval=daly", "checkpoint.write=60s", "restart.duration=10min"),
}
# The record's scenarios hold the promise of the README; a mechanism that breaks moves its own scenario by far more.
MARGIN, MECHANISM_MARGIN = 0.015, 0.05
GATES = {"fail_slow": ("downtime_fraction", "slowdown_fraction"), "fixed_work": ("downtime_fraction", "makespan_s")}


def make(name: str, workers: int) -> Baseline:
    """The baseline of one name."""
    margin = MARGIN if name in RECORD else MECHANISM_MARGIN
    gates = [Gate(metric=metric, margin=margin) for metric in GATES.get(name, ("downtime_fraction",))]
    source = [name] if name in RECORD else ["single_class", f"name={name}", *MECHANISMS[name]]
    return create(load_scenario(*source), gates=gates, source=source, workers=workers)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    names = [*RECORD, *MECHANISMS]
    parser.add_argument("names", nargs="*", default=names, help=f"of {', '.join(names)}")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    for name in options.names:
        baseline = make(name, options.workers)
        write(FOLDER / f"{name}.json", baseline)
        print(f"{name}: {baseline.replications} replications, a check runs {baseline.check_replications}", flush=True)


if __name__ == "__main__":
    main()
