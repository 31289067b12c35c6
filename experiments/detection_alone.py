"""What detection alone explains of June 2023, and how long a watchdog should wait.

First: the job of June 2023 as in the record (C4, arXiv:2406.04594) with hangs noticed after 30 minutes and after 30
seconds, everything else kept, on common random numbers. A stopped job loses D per failure, so the difference is near
D x failures, less what the gained time loses again. Second: the cost of a limit with one hang a day, ten pauses an hour
(lognormal, median 20 s, sigma 1), a restart of 300 s and 1,200 s of work between saves: too short kills a pausing job,
too long waits for every hang. Prints JSON and writes results/detection_alone/.

python experiments/detection_alone.py [replications] [workers]
"""

import csv
import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np

from c4sim import compare, load_scenario
from c4sim.estimate import Estimate, ratio_of_sums
from c4sim.experiment import Comparison, Result
from c4sim.report import style
from c4sim.scenario import Scenario
from c4sim.studies.plan_timeout import TimeoutPlan, plan_timeout, timeout_model
from c4sim.theory.calibration import long_run_shares

FOLDER = Path(__file__).parent.parent / "results" / "detection_alone"
SLOW, FAST = "30min", "30s"
LIMITS = (90, 120, 180, 240, 300, 400, 500, 650, 800, 1000, 1300, 1800, 2700, 3600)
PHASES = ("lost_work", "detection", "isolation", "restart")
MEDIAN_S, SIGMA = 20.0, 1.0


def downtime_s(result: Result) -> Any:
    """Seconds lost to errors in each replication."""
    return np.sum([result.totals.column(f"{phase}_s") for phase in (*PHASES, "spare_wait")], axis=0)


def exact_total(scenario: Scenario, delay_s: float) -> float:
    """Long-run share of time lost in closed form (renewal reward), with another detection delay."""
    rate = sum(1.0 / fault.mtbf.seconds for fault in scenario.faults.values() if fault.mtbf)
    means = (delay_s, scenario.isolation.delay.mean, scenario.restart.duration.mean)
    stopped = {str(index): float(mean or 0.0) for index, mean in enumerate(means)}
    cycle = float(scenario.checkpoint.interval) + float(scenario.checkpoint.write or 0.0)
    return sum(long_run_shares(1.0 / rate, cycle, stopped).values())


def june(replications: int, workers: int) -> Comparison:
    """June with slow and with fast detection."""
    slow, fast = (load_scenario("c4_june2023", f"detection.delay={delay}") for delay in (SLOW, FAST))
    return compare(slow, {FAST: fast}, replications=replications, seed=1, workers=workers)


def shares(found: Comparison) -> dict[str, Any]:
    """The downtime of both, and the share of it that detection explains, with 95 % intervals."""
    slow, fast = found.base, found.alternatives[0].result
    share = ratio_of_sums(downtime_s(slow) - downtime_s(fast), downtime_s(slow))
    difference = found.alternatives[0].differences["downtime_fraction"]
    exact = [exact_total(slow.scenario, seconds) for seconds in (1800.0, 30.0)]
    names = ("downtime_fraction", *(f"downtime_fraction/{phase}" for phase in PHASES))
    return {
        "slow": {name: slow.metrics[name].mean for name in names},
        "fast": {name: fast.metrics[name].mean for name in names},
        "failures": {"slow": slow.metrics["failures"].mean, "fast": fast.metrics["failures"].mean},
        "difference": {"mean": difference.difference, "low": difference.low, "high": difference.high},
        "variance_ratio": difference.variance_ratio,
        "share_of_loss": document(share),
        "closed_form": {"slow": exact[0], "fast": exact[1], "share_of_loss": (exact[0] - exact[1]) / exact[0]},
    }


def document(estimate: Estimate | None) -> dict[str, float | None] | None:
    """Plain data of an estimate."""
    return None if estimate is None else {"mean": estimate.value, "low": estimate.low, "high": estimate.high}


def paused() -> Scenario:
    """One hang a day, ten pauses an hour."""
    mean, cv = MEDIAN_S * math.exp(SIGMA**2 / 2), math.sqrt(math.expm1(SIGMA**2))
    return load_scenario(
        "single_class",
        "detection.delay=10min",  # any: plan_timeout tries limits of its own
        "horizon=60d",
        "checkpoint.interval=1200s",
        "restart.duration=300s",
        "faults.crash.effect=hang",
        "faults.crash.mtbf=1d per job",
        f"pauses={{rate: 10 per job-hour, law: lognormal, mean: {mean!r}s, cv: {cv!r}}}",
    )


def draw(found: dict[str, Any], scenario: Scenario, plan: TimeoutPlan) -> None:
    """June's phases under both detections, and the cost over the limit."""
    with style.drawing():
        figure = style.new_figure(8.6, 3.4)
        left, right = figure.subplots(1, 2, width_ratios=(1.0, 1.6))
        for place, side in enumerate(("slow", "fast")):
            bottom = 0.0
            for phase in PHASES:
                height = 100 * found[side][f"downtime_fraction/{phase}"]
                label = phase.replace("_", " ") if place == 0 else None
                left.bar(place, height, 0.6, bottom=bottom, color=style.PHASE_COLOURS[phase], label=label)
                bottom += height
            left.text(place, bottom + 0.4, f"{bottom:.1f} %", ha="center")
        left.set_xticks((0, 1), ("noticed after\n30 min", "noticed after\n30 s"))
        left.set_ylabel("time lost to errors, %")
        left.set_ylim(0, 44)
        left.set_title("June 2023, detection alone")
        left.legend(loc="upper right", ncols=2, fontsize=8)
        style.grid_on(left, "y")
        draw_limits(right, scenario, plan)
        style.save(figure, FOLDER, "detection_alone")


def draw_limits(axes: Any, scenario: Scenario, plan: TimeoutPlan) -> None:
    """Closed form as a line, simulated limits with their intervals, the best limit and its flat region."""
    model = timeout_model(scenario)
    limits = np.geomspace(LIMITS[0], LIMITS[-1], 200)
    axes.axvspan(*plan.flat_region, color=style.PALE, label="at most 1 % more than the best")
    axes.plot(limits, [100 * model.cost(float(limit)) for limit in limits], color=style.BLUE, label="closed form")
    means = [100 * cost.simulated.value for cost in plan.tried]
    half = [100 * (cost.simulated.half_width or 0.0) for cost in plan.tried]
    at = [cost.limit for cost in plan.tried]
    axes.errorbar(
        at, means, yerr=half, fmt="o", color=style.VERMILION, markersize=4, capsize=2, label="simulated, 95 %"
    )
    axes.axvline(plan.best, color=style.BLACK, linestyle=":", label=f"best: {plan.best:.0f} s")
    axes.set_xscale("log")
    axes.set_xticks((120, 300, 600, 1200, 3600), ("2", "5", "10", "20", "60"))
    axes.set_xlabel("limit of the watchdog, min")
    axes.set_ylabel("time lost, % of operation")
    axes.set_yscale("log")
    axes.set_yticks((1, 2, 5, 10, 20), ("1", "2", "5", "10", "20"))
    axes.set_ylim(0.5, 30)
    axes.minorticks_off()
    axes.set_title("One hang a day, ten pauses an hour")
    axes.legend(loc="upper right", fontsize=8)


def write(plan: TimeoutPlan) -> None:
    """The table of limits."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / "limits.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("limit_s", "closed_form", "simulated", "low", "high"))
        for cost in plan.tried:
            seen = cost.simulated
            writer.writerow((cost.limit, cost.closed_form, seen.value, seen.low, seen.high))


def main() -> None:
    """Run both parts, print as JSON, write table, summary and figure."""
    replications = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    workers = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    found = shares(june(replications, workers))
    scenario = paused()
    plan = plan_timeout(scenario, LIMITS, replications=max(replications // 10, 2), seed=1, workers=workers)
    write(plan)
    draw(found, scenario, plan)
    result = {"replications": replications, "seed": 1, "june": found, "timeout": plan.as_document()}
    (FOLDER / "summary.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
