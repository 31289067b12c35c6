"""`simulate`: replications of one scenario, and what they gave."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from c4sim.experiment.chunks import Span, SpanResult
from c4sim.experiment.kernel import Kernel, simulator
from c4sim.experiment.manifest import SCHEMA_VERSION, scenario_entry, versions
from c4sim.experiment.precision import Missed, Precision, first_count
from c4sim.experiment.running import Progress, collect
from c4sim.experiment.tables import Totals, Value
from c4sim.scenario import Scenario

if TYPE_CHECKING:
    import pandas as pd

# Streams are keyed on (seed, point, replication, purpose). What is to be compared shares a point and so its faults.
COMMON_POINT = 0


@dataclass(frozen=True)
class Result:
    """Replications 0 .. n-1 of a scenario.

    metrics: name -> `.mean`, `.low`, `.high` (95 % interval of the mean; None with one replication), `.unit`.
    totals: sums of every replication, shape (n, columns). cpu_s: processor time of the simulation, s. precision: what
    was to be reached, if anything was.
    """

    scenario: Scenario
    seed: int
    totals: Totals
    kernel: Kernel
    cpu_s: float
    kept: tuple[Any, ...] | None = None
    precision: Precision | None = None

    @property
    def n(self) -> int:
        """Number of replications."""
        return self.totals.n

    @cached_property
    def metrics(self) -> dict[str, Value]:
        """Every metric by name."""
        return self.totals.metrics(self.kernel.definitions(self.scenario))

    @property
    def missed(self) -> Missed | None:
        """The target, if the budget ended before it was reached."""
        if self.precision is None:
            return None
        value = self.metrics[self.precision.metric]
        return self.precision.missed(self.n, value.low, value.high)

    @property
    def ledgers(self) -> tuple[Any, ...]:
        """The ledger of each replication. Replays the run if it kept none: the same seed gives the same ledger."""
        if self.kept is not None:
            return self.kept
        runs = range(self.n)
        return tuple(self.kernel.run(self.scenario, self.seed, COMMON_POINT, replication) for replication in runs)

    @property
    def ledger(self) -> "pd.DataFrame":
        """One row per interval of the job's time (see docs/metrics.md), `replication` first."""
        return self._frame(lambda ledger: ledger.to_frame())

    @property
    def incidents(self) -> "pd.DataFrame":
        """One row per fault that stopped the job, `replication` first."""
        return self._frame(lambda ledger: ledger.incidents_frame())

    def _frame(self, table: "Callable[[Any], pd.DataFrame]") -> "pd.DataFrame":
        import pandas as pd

        frames = [table(ledger) for ledger in self.ledgers]
        for replication, frame in enumerate(frames):
            frame.insert(0, "replication", replication)
        filled = [frame for frame in frames if len(frame)] or frames[:1]
        return pd.concat(filled, ignore_index=True)

    def as_document(self) -> dict[str, Any]:
        """Plain data for JSON: what does not exist is None."""
        return {
            "schema_version": SCHEMA_VERSION,
            "scenario": self.scenario.name,
            "digest": self.scenario.digest(),
            "seed": self.seed,
            "replications": self.n,
            **({} if self.precision is None else {"target_reached": self.missed is None}),
            "metrics": {name: value.as_document() for name, value in self.metrics.items()},
        }

    def manifest(self) -> dict[str, Any]:
        """How this result was made, enough to make it again."""
        return {
            "schema_version": SCHEMA_VERSION,
            "kind": "run",
            "scenario": scenario_entry(self.scenario),
            "seed": self.seed,
            "replications": [0, self.n],
            "versions": versions(),
        }


def simulate(
    scenario: Scenario,
    replications: int | Precision,
    seed: int = 0,
    *,
    workers: int = 1,
    keep_ledger: bool = False,
    progress: Progress | None = None,
    kernel: Kernel | None = None,
) -> Result:
    """Run replications of a scenario. The same seed gives the same result to the bit with any number of workers.

    replications: a number, or a Precision to reach. workers: processes (1: this one); a script that asks for more needs
    `if __name__ == "__main__":`. keep_ledger: hold every ledger in memory; without it `Result.ledger` replays the run.

    Raises ValueError for counts that cannot be, ReplicationError when a replication fails.
    """
    kernel = kernel or simulator()
    check_scenario(scenario)
    check_seed(seed)
    results: list[SpanResult] = []
    n, wanted = 0, first_count(replications)
    while wanted > n:
        span = Span(0, scenario, COMMON_POINT, n, wanted)
        results += collect([span], seed, kernel, workers, keep_ledger=keep_ledger, progress=progress)
        n, totals = wanted, _totals(kernel, scenario, results)
        if isinstance(replications, Precision):
            definition = kernel.definitions(scenario)[replications.metric]
            wanted = replications.more(totals.values(definition), n)
    kept = tuple(ledger for result in results for ledger in result.ledgers) if keep_ledger else None
    precision = replications if isinstance(replications, Precision) else None
    return Result(scenario, seed, totals, kernel, sum(result.cpu_s for result in results), kept, precision)


def _totals(kernel: Kernel, scenario: Scenario, results: list[SpanResult]) -> Totals:
    return Totals(kernel.columns(scenario), np.concatenate([result.totals for result in results]))


def check_scenario(scenario: object) -> None:
    """Refuse what is no scenario, such as the name of one."""
    if not isinstance(scenario, Scenario):
        raise ValueError(f"scenario: must be a Scenario, such as load_scenario gives (got {scenario!r:.60})")


def check_seed(seed: int) -> None:
    """Refuse a seed that is no whole number of 0 to 2^64 - 1."""
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**64:
        raise ValueError(f"seed: must be a whole number from 0 to 2^64 - 1 (got {seed!r})")
