"""Many scenarios, one process map: each is simulated once, however many questions need it."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from c4sim.experiment.chunks import Span
from c4sim.experiment.kernel import simulator
from c4sim.experiment.result import COMMON_POINT, Result, check_seed
from c4sim.experiment.running import Progress, collect
from c4sim.experiment.tables import FloatArray, Totals
from c4sim.scenario import Scenario


@dataclass
class Batch:
    """Scenarios to simulate on common random numbers: replication k of each meets the same faults.

    entries: digest -> the scenario as first given, and the most replications asked for.
    """

    entries: dict[str, tuple[Scenario, int]] = field(default_factory=dict)

    def add(self, scenarios: Iterable[Scenario], replications: int) -> None:
        """Ask for replications 0 .. replications - 1 of each scenario."""
        for scenario in scenarios:
            digest = scenario.digest()
            first, count = self.entries.get(digest, (scenario, 0))
            self.entries[digest] = (first, max(count, replications))

    def run(self, seed: int, workers: int, progress: Progress | None = None) -> "Results":
        """Simulate everything. Raises ValueError for a seed that cannot be, ReplicationError."""
        check_seed(seed)
        kernel = simulator()
        spans = [
            Span(number, scenario, COMMON_POINT, 0, count)
            for number, (scenario, count) in enumerate(self.entries.values())
        ]
        parts: list[list[FloatArray]] = [[] for _ in spans]
        cpu_s = [0.0] * len(spans)
        for result in collect(spans, seed, kernel, workers, progress=progress):
            parts[result.span.number].append(result.totals)
            cpu_s[result.span.number] += result.cpu_s
        rows = [np.concatenate(part) for part in parts]
        return Results(
            {
                digest: Result(scenario, seed, Totals(kernel.columns(scenario), rows[number]), kernel, cpu_s[number])
                for number, (digest, (scenario, _)) in enumerate(self.entries.items())
            }
        )


@dataclass(frozen=True)
class Results:
    """What a batch gave, by the scenario's digest."""

    by_digest: dict[str, Result]

    def of(self, scenario: Scenario, replications: int | None = None) -> Result:
        """The result of one scenario, or of its first replications."""
        found = self.by_digest[scenario.digest()]
        if replications is None or replications == found.n:
            return found
        return Result(found.scenario, found.seed, found.totals.first(replications), found.kernel, found.cpu_s)

    @property
    def cpu_s(self) -> float:
        """Processor time of all simulations, s."""
        return sum(result.cpu_s for result in self.by_digest.values())

    @property
    def replications(self) -> int:
        """Simulated runs in all."""
        return sum(result.n for result in self.by_digest.values())


def values(result: Result, metric: str) -> FloatArray:
    """A metric's value in every replication, shape (n,). Raises ValueError where it is undefined."""
    found = result.totals.values(result.kernel.definitions(result.scenario)[metric])
    if found is None:
        raise ValueError(f"{metric} is undefined in {result.n} replications of {result.scenario.name}")
    return found
