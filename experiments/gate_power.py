"""Does the gate hold what it promises? python experiments/gate_power.py [BASELINE...] [--trials 200] [--workers 2]

Checks each baseline so many times with other seeds: as the code is (must be equivalent in at least 99 % of the trials)
and with +2 % planted on every phase of downtime (must be called equivalent in at most 0.5 %). Prints JSON; exit code 1
if a promise is broken. 200 trials of c4_june2023 and c4_dec2023 take the better part of an hour on two cores.
"""

import argparse
import json
from collections import Counter
from pathlib import Path

from c4sim.experiment import Result, Totals, simulate
from c4sim.gate import Baseline, Verdict, read
from c4sim.gate.checking import compare_metrics, current_scenario

FOLDER = Path(__file__).parent.parent / "results" / "baselines"
PLANTED = 1.02
FIRST_SEED = 1_000_000


def planted(result: Result) -> Result:
    """The result as if every phase of downtime took 2 % longer."""
    rows = result.totals.rows.copy()
    for name in result.kernel.definitions(result.scenario)["downtime_fraction"].numerator:
        rows[:, result.totals.columns.index(name)] *= PLANTED
    return Result(result.scenario, result.seed, Totals(result.totals.columns, rows), result.kernel, result.cpu_s)


def verdict(baseline: Baseline, result: Result) -> Verdict:
    """The verdict on downtime_fraction alone."""
    found = next(c.verdict for c in compare_metrics(baseline, result) if c.metric == "downtime_fraction")
    assert found is not None
    return found


def trials(path: Path, count: int, workers: int) -> dict[str, object]:
    """Verdicts of so many checks of one baseline."""
    baseline = read(path)
    scenario = current_scenario(path, baseline, None)
    as_is: Counter[str] = Counter()
    changed: Counter[str] = Counter()
    cpu_s = 0.0
    for trial in range(count):
        result = simulate(scenario, baseline.check_replications, FIRST_SEED + trial, workers=workers)
        as_is[verdict(baseline, result).name.lower()] += 1
        changed[verdict(baseline, planted(result)).name.lower()] += 1
        cpu_s += result.cpu_s
    return {
        "scenario": scenario.name,
        "trials": count,
        "replications": baseline.check_replications,
        "unchanged": dict(as_is),
        "planted_2_percent": dict(changed),
        "cpu_s_per_trial": cpu_s / count,
        "holds": as_is["equivalent"] >= 0.99 * count and changed["equivalent"] <= 0.005 * count,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    names = ("c4_june2023", "c4_dec2023")
    parser.add_argument("baselines", nargs="*", type=Path, default=[FOLDER / f"{name}.json" for name in names])
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    reports = [trials(path, options.trials, options.workers) for path in options.baselines]
    print(json.dumps(reports, indent=2))
    return 0 if all(report["holds"] for report in reports) else 1


if __name__ == "__main__":
    raise SystemExit(main())
