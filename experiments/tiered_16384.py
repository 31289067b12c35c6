"""How often should a job of 16,384 GPUs save to each tier, and how much does ten times slower storage cost?

Each GPU saves 4 GB, asynchronously: into its node's memory (lost with the node), to a partner node (lost with two
neighbours) and to storage of 2 TB/s or 200 GB/s shared by the job. examples/scenario/tiered_16384.yaml says the rest.
The search goes tier by tier over grids, the others kept, on common random numbers, until nothing changes; beside it
stands the first-order optimum of each tier, sqrt(2 C M) (Young, 1974), with C what one save to the tier costs and M the
mean time between the faults that need it. Prints JSON and writes results/tiered_16384/.

python experiments/tiered_16384.py [replications] [workers]
"""

import csv
import json
import sys
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from c4sim import load_scenario, simulate
from c4sim.estimate import mean_interval, paired_difference
from c4sim.experiment import Result
from c4sim.report import style
from c4sim.scenario import Scenario
from c4sim.theory.intervals import young_interval

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "results" / "tiered_16384"
TIERS = ("memory", "partner", "storage")
BANDWIDTHS = {"2 TB/s": 32.768, "200 GB/s": 327.68}  # storage -> seconds to write 16,384 x 4 GB
NEEDED_BY = {"memory": ("software", "node", "rack"), "partner": ("node", "rack"), "storage": ("rack",)}
COSTS = {"memory": 1.0, "partner": 0.01 * 0.64, "storage": None}  # s of stall and slowdown a save
GRIDS = {
    "memory": (30, 60, 90, 120, 150, 200, 300, 600),
    "partner": (1, 2, 4, 8, 16),
    "storage": (150, 300, 450, 600, 900, 1200, 1800, 3600, 7200),
}
COLOURS = {"2 TB/s": style.BLUE, "200 GB/s": style.VERMILION}


class Choice(NamedTuple):
    """memory: s of work between saves; partner: it gets every so manieth; storage: s of work between saves to it."""

    memory: int
    partner: int
    storage: int


def turn_of_storage(choice: Choice) -> int:
    """Every how many saves the storage gets one: the multiple of the partner's turn nearest to what is wanted."""
    return choice.partner * max(round(choice.storage / (choice.memory * choice.partner)), 1)


def work_between(choice: Choice) -> tuple[int, int, int]:
    """s of work between saves to each tier."""
    memory = choice.memory
    return memory, memory * choice.partner, memory * turn_of_storage(choice)


@dataclass
class Search:
    """Simulated points of one storage, and the best of them."""

    bandwidth: str
    replications: int
    workers: int
    found: dict[tuple[int, int, int], Result] = field(default_factory=dict)

    @property
    def write_s(self) -> float:
        return BANDWIDTHS[self.bandwidth]

    def scenario(self, choice: Choice) -> Scenario:
        tiers = [f"checkpoint.tiers.1.every={choice.partner}", f"checkpoint.tiers.2.every={turn_of_storage(choice)}"]
        tiers += [f"checkpoint.tiers.2.bandwidth={self.bandwidth}", f"checkpoint.interval={choice.memory}s"]
        return load_scenario("tiered_16384", *tiers, config_dir=ROOT / "examples")

    def at(self, choice: Choice) -> Result:
        work = work_between(choice)
        if work not in self.found:
            self.found[work] = simulate(self.scenario(choice), self.replications, seed=1, workers=self.workers)
        return self.found[work]

    def lost(self, choice: Choice) -> float:
        """Share of time that is not productive."""
        return 1.0 - float(self.at(choice).metrics["ettr"].mean or 0.0)

    def axis(self, base: Choice, tier: str) -> list[Choice]:
        """Choices that differ from `base` in one tier; saves to storage that outlast their interval are left out."""
        points = [base._replace(**{tier: value}) for value in GRIDS[tier]]
        return [point for point in points if work_between(point)[2] >= self.write_s]

    @cached_property
    def best(self) -> Choice:
        best = Choice(150, 1, 600)
        while True:
            before = best
            for tier in TIERS:
                best = min(self.axis(best, tier), key=self.lost)
            if best == before:
                return best

    def flat(self, tier: str) -> list[int]:
        """Shortest and longest interval of the tier at which at most 1 % more time is lost than at the best."""
        best = self.lost(self.best)
        near = [point for point in self.axis(self.best, tier) if self.lost(point) <= 1.01 * best]
        good = [work_between(point)[TIERS.index(tier)] for point in near]
        return [min(good), max(good)]


def productive(result: Result) -> Any:
    """Productive share of each replication."""
    return result.totals.column("productive_s") / result.totals.column("wall_s")


def first_order(scenario: Scenario, tier: str, write_s: float) -> float:
    """sqrt(2 C M), s of work between saves to the tier."""
    rate = sum(
        fault.rate.per_second for name, fault in scenario.faults.items() if name in NEEDED_BY[tier] and fault.rate
    )
    cost = COSTS[tier]
    return young_interval(0.02 * write_s if cost is None else cost, 1.0 / rate)


def storage_only(search: Search) -> dict[str, float]:
    """The best interval without the copies in memory."""
    tier = f"{{name: storage, stall: 1s, slowdown: 0.02, bytes_per_gpu: 4 GB, bandwidth: {search.bandwidth}}}"
    lost = {}
    for interval in GRIDS["storage"]:
        if interval >= search.write_s:
            keys = (f"checkpoint.tiers=[{tier}]", f"checkpoint.interval={interval}s")
            scenario = load_scenario("tiered_16384", *keys, config_dir=ROOT / "examples")
            found = simulate(scenario, search.replications, seed=1, workers=search.workers)
            lost[interval] = 1.0 - float(found.metrics["ettr"].mean or 0.0)
    best = min(lost, key=lost.__getitem__)
    return {"best_s": best, "lost": lost[best]}


def summary(search: Search) -> dict[str, Any]:
    """What the search of one storage found."""
    best = search.best
    at_best = search.at(best)
    interval = mean_interval(1.0 - productive(at_best))
    return {
        "storage": search.bandwidth,
        "write_s": search.write_s,
        "best_s": dict(zip(TIERS, work_between(best), strict=True)),
        "within_1_percent_s": {tier: search.flat(tier) for tier in TIERS},
        "first_order_s": {tier: round(first_order(at_best.scenario, tier, search.write_s)) for tier in TIERS},
        "lost": {"mean": interval.value, "low": interval.low, "high": interval.high},
        "failures": at_best.metrics["failures"].mean,
        "mean_lost_work_s": at_best.metrics["mean_lost_work_s"].mean,
        "storage_only": storage_only(search),
    }


def rows(searches: list[Search]) -> list[dict[str, Any]]:
    """The curves of the figure: lost time along each tier's axis through the best point, paired with that point."""
    table = []
    for search in searches:
        best = productive(search.at(search.best))
        for place, tier in enumerate(TIERS):
            for point in search.axis(search.best, tier):
                worse = paired_difference(productive(search.at(point)), best)
                work = work_between(point)
                row = {"storage": search.bandwidth, "tier": tier, "interval_s": work[place], "lost": search.lost(point)}
                row |= {"above_best": worse.value, "low": worse.low, "high": worse.high}
                table.append(row | {f"{name}_s": seconds for name, seconds in zip(TIERS, work, strict=True)})
    return table


def draw(table: list[dict[str, Any]], found: list[dict[str, Any]]) -> None:
    """Lost time over the work between saves to each tier, the best marked, the first-order optimum dashed."""
    with style.drawing():
        figure = style.new_figure(9.0, 3.4)
        panels = figure.subplots(1, 3, sharey=True)
        for tier, axes in zip(TIERS, panels, strict=True):
            for result in found:
                storage = result["storage"]
                curve = [row for row in table if (row["tier"], row["storage"]) == (tier, storage)]
                x, y = [row["interval_s"] for row in curve], [100 * row["lost"] for row in curve]
                colour = COLOURS[storage]
                axes.plot(x, y, "o-", color=colour, markersize=3.5, label=f"storage {storage}")
                axes.plot(result["best_s"][tier], 100 * result["lost"]["mean"], "*", color=colour, markersize=12)
                if result["first_order_s"][tier] >= x[0]:
                    axes.axvline(result["first_order_s"][tier], color=colour, linestyle=":", linewidth=1.2)
            axes.set_xscale("log")
            seen = [row["interval_s"] for row in table if row["tier"] == tier]
            ticks = [value for value in (30, 60, 150, 300, 600, 1200, 3600, 7200) if min(seen) <= value <= max(seen)]
            axes.set_xticks(ticks, [f"{value / 60:g}" for value in ticks])
            axes.minorticks_off()
            axes.set_xlabel("work between saves, min")
            axes.set_title(f"to {tier}")
        panels[0].set_ylabel("time not productive, %")
        panels[0].legend()
        figure.suptitle(
            "16,384 GPUs, 4 GB each: best interval of each tier (star); dotted: first-order optimum", fontsize=10
        )
        style.save(figure, FOLDER, "tiered_16384")


def main() -> None:
    """Search both storages, print as JSON, write the table and the figure."""
    replications = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    workers = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    searches = [Search(bandwidth, replications, workers) for bandwidth in BANDWIDTHS]
    found = [summary(search) for search in searches]
    table = rows(searches)
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / "intervals.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(table[0]))
        writer.writeheader()
        writer.writerows(table)
    draw(table, found)
    document = {"replications": replications, "seed": 1, "storages": found}
    (FOLDER / "summary.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(document, indent=1))


if __name__ == "__main__":
    main()
