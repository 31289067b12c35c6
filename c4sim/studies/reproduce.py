"""The record, reproduced: June and December 2023 beside the published table, and what follows from them.

One batch of simulations on common random numbers answers every question; `reproduce` runs it, `write` in
reproduce_files puts it into a folder.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from c4sim.configure import load_scenario
from c4sim.estimate import Estimate
from c4sim.experiment.result import COMMON_POINT
from c4sim.experiment.running import Progress
from c4sim.ledger import Phase
from c4sim.scenario import Scenario
from c4sim.studies import calibrate, reproduce_band, reproduce_levers, reproduce_others, reproduce_sweeps
from c4sim.studies import reproduce_record as record
from c4sim.studies.reproduce_batch import Batch, Results, values
from c4sim.studies.reproduce_table import Row, lost_work_fall, month_rows, other_job_rows

REPLICATIONS = 4000
TABLES: Mapping[str, tuple[str, record.Month]] = {
    "c4_june2023": ("June 2023", record.JUNE),
    "c4_june2023_calendar": ("June 2023, calendar reading", record.JUNE),
    "c4_dec2023": ("December 2023", record.DECEMBER),
    "c4_dec2023_calendar": ("December 2023, calendar reading", record.DECEMBER),
}
OTHER_JOB = "c4_4096"


@dataclass(frozen=True)
class Sizes:
    """Replications of each part, from those of June."""

    june: int
    months: int
    levers: int
    sweeps: int
    corners: int

    @classmethod
    def of(cls, replications: int) -> "Sizes":
        """Parts that compare on common random numbers need fewer months than June's own table; two is the least."""
        parts = (max(2, replications // divisor) for divisor in (2, 10, 25, 80))
        return cls(max(2, replications), *parts)


@dataclass(frozen=True)
class Stretch:
    """A stretch of one month's wall time, s, and what it went to."""

    start_s: float
    end_s: float
    phase: str
    cause: str | None


@dataclass(frozen=True)
class Timeline:
    """One simulated month: the replication whose total is the median of June's, and its downtime in this scenario."""

    scenario: str
    replication: int
    downtime: float
    stretches: tuple[Stretch, ...]


@dataclass(frozen=True)
class Reproduction:
    """Everything that `reproduce` found. tables: by scenario name. cpu_s: processor time of the simulations, s."""

    seed: int
    sizes: Sizes
    calibration: calibrate.CalibrationStudy
    tables: Mapping[str, tuple[Row, ...]]
    lost_work_fall: Estimate
    band: reproduce_band.Band
    sweeps: tuple[reproduce_sweeps.Sweep, ...]
    optima: tuple[reproduce_sweeps.Optimum, ...]
    levers: reproduce_levers.Levers
    others: tuple[reproduce_others.Other, ...]
    timelines: tuple[Timeline, ...]
    results: Results

    @property
    def cpu_s(self) -> float:
        """Processor time of all simulations, s."""
        return self.results.cpu_s


@dataclass(frozen=True)
class _Questions:
    """The scenarios that the questions need."""

    months: dict[str, Scenario]
    corners: dict[reproduce_band.Place, Scenario]
    combinations: dict[reproduce_levers.Pulled, Scenario]

    @property
    def june(self) -> Scenario:
        return self.months["c4_june2023"]

    @property
    def december(self) -> Scenario:
        return self.months["c4_dec2023"]

    @property
    def pair(self) -> dict[str, Scenario]:
        return {"June 2023": self.june, "December 2023": self.december}

    def batch(self, sizes: Sizes) -> Batch:
        batch = Batch()
        batch.add([self.june], sizes.june)
        batch.add(self.months.values(), sizes.months)
        batch.add(self.combinations.values(), sizes.levers)
        for month in self.pair.values():
            batch.add(reproduce_others.alternatives(month).values(), sizes.sweeps)
        batch.add(reproduce_sweeps.sweep_scenarios(self.june, self.december), sizes.sweeps)
        batch.add(self.corners.values(), sizes.corners)
        batch.add([self.corners[place] for place in reproduce_band.extremes(self.corners)], sizes.months)
        return batch


def reproduce(
    replications: int = REPLICATIONS, seed: int = 0, workers: int = 1, progress: Progress | None = None
) -> Reproduction:
    """Simulate the record and everything that is asked of it.

    replications: months of June 2023; the other parts take fixed fractions of it. The same seed gives the same result
    to the bit with any number of workers.

    Raises ValueError for counts that cannot be, ReplicationError when a replication fails.
    """
    if replications < 2:
        raise ValueError(f"replications: must be at least 2 (got {replications})")
    asked, sizes = _questions(), Sizes.of(replications)
    results = asked.batch(sizes).run(seed, workers, progress)
    june, december = results.of(asked.june), results.of(asked.december)
    return Reproduction(
        seed=seed,
        sizes=sizes,
        calibration=calibrate.study(),
        tables=_tables(asked, results),
        lost_work_fall=lost_work_fall(june, december),
        band=reproduce_band.band(asked.december, asked.corners, results, sizes.corners),
        sweeps=(
            reproduce_sweeps.interval_sweep(asked.june, results, sizes.sweeps),
            reproduce_sweeps.spares_sweep(asked.june, asked.december, results, sizes.sweeps),
            reproduce_sweeps.delay_sweep(asked.june, results, sizes.sweeps),
        ),
        optima=reproduce_sweeps.optima(asked.june),
        levers=reproduce_levers.levers(asked.june, asked.december, results, sizes.levers),
        others=reproduce_others.others(asked.pair, results, sizes.sweeps),
        timelines=_timelines(asked, results),
        results=results,
    )


def _questions() -> _Questions:
    months = {name: load_scenario(name) for name in (*TABLES, OTHER_JOB)}
    june, december = months["c4_june2023"], months["c4_dec2023"]
    return _Questions(months, reproduce_band.corners(december), reproduce_levers.combinations(june, december))


def _tables(asked: _Questions, results: Results) -> dict[str, tuple[Row, ...]]:
    tables = {name: month_rows(results.of(asked.months[name]), month) for name, (_, month) in TABLES.items()}
    return tables | {OTHER_JOB: other_job_rows(results.of(asked.months[OTHER_JOB]))}


def _timelines(asked: _Questions, results: Results) -> tuple[Timeline, ...]:
    """The month of median June in both scenarios, replayed: the same replication meets the same faults."""
    downtime = {name: values(results.of(scenario), "downtime_fraction") for name, scenario in asked.pair.items()}
    count = min(len(rows) for rows in downtime.values())
    ranked = np.argsort(downtime["June 2023"][:count], kind="stable")
    replication = int(ranked[(count - 1) // 2])
    return tuple(
        Timeline(name, replication, float(downtime[name][replication]), _stretches(results, scenario, replication))
        for name, scenario in asked.pair.items()
    )


def _stretches(results: Results, scenario: Scenario, replication: int) -> tuple[Stretch, ...]:
    result = results.of(scenario)
    ledger = result.kernel.run(scenario, result.seed, COMMON_POINT, replication)
    return tuple(
        Stretch(row.start, row.end, Phase(row.phase).label, ledger.cause_name(row.cause)) for row in ledger.intervals
    )
