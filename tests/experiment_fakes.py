"""A simulator of a dozen lines, for tests of the machinery around it; in a module of its own so that workers find it.

A job of the scenario's horizon has Poisson failures (MTBF of class crash) and loses a uniform share of the checkpoint
interval at each: cheap, random, dependent on scenario, seed, point and replication only.
"""

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from c4sim.experiment.kernel import Kernel
from c4sim.scenario import Scenario

COLUMNS = ("wall_s", "lost_s", "operating_s", "failures")


@dataclass(frozen=True)
class Metric:
    numerator: tuple[str, ...]
    denominator: str | None
    unit: str
    complement: bool = False


DEFINITIONS = {
    "downtime_fraction": Metric(("lost_s",), "wall_s", "1"),
    "mtbf_s": Metric(("operating_s",), "failures", "s"),
    "uptime_fraction": Metric(("lost_s",), "wall_s", "1", complement=True),
    "failures": Metric(("failures",), None, "count"),
}


@dataclass
class FakeLedger:
    row: list[float]

    def to_frame(self) -> pd.DataFrame:
        return pd.DataFrame({"start_s": [0.0], "end_s": [self.row[0]], "phase": ["productive"]})


def run(scenario: Scenario, seed: int, point: int, replication: int) -> FakeLedger:
    random = np.random.default_rng([seed, point, replication])
    horizon, interval = scenario.horizon, scenario.checkpoint.interval
    assert horizon is not None
    assert isinstance(interval, float)
    mtbf = scenario.faults["crash"].mtbf
    failures = 0 if mtbf is None else int(random.poisson(horizon / mtbf.seconds))
    lost = float(np.sum(random.random(failures)) * interval)
    return FakeLedger([horizon, lost, horizon - lost, float(failures)])


def totals(ledger: FakeLedger, scenario: Scenario) -> NDArray[Any]:
    return np.array(ledger.row)


def columns(scenario: Scenario) -> tuple[str, ...]:
    return COLUMNS


def definitions(scenario: Scenario) -> dict[str, Metric]:
    return DEFINITIONS


def slow_run(scenario: Scenario, seed: int, point: int, replication: int) -> FakeLedger:
    """A replication of 20 ms processor time."""
    end = time.process_time() + 0.02
    while time.process_time() < end:
        pass
    return run(scenario, seed, point, replication)


def failing_run(scenario: Scenario, seed: int, point: int, replication: int) -> FakeLedger:
    """Fails in the second replication of scenarios whose checkpoint interval is 2 h."""
    if scenario.checkpoint.interval == 7200.0 and replication == 1:
        raise ValueError("the two hours do not work")
    return run(scenario, seed, point, replication)


@dataclass(frozen=True)
class DyingRun:
    """Kills its own worker once, at replication 5; a file remembers."""

    flag: str

    def __call__(self, scenario: Scenario, seed: int, point: int, replication: int) -> FakeLedger:
        if replication == 5 and not Path(self.flag).exists():
            Path(self.flag).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return run(scenario, seed, point, replication)


def kernel_that_dies_once(flag: Path) -> Kernel:
    return Kernel(DyingRun(str(flag)), columns, totals, definitions)


FAST = Kernel(run, columns, totals, definitions)
SLOW = Kernel(slow_run, columns, totals, definitions)
FAILING = Kernel(failing_run, columns, totals, definitions)


def kernel_with_loss_in(count: int) -> Kernel:
    """No losses but 1 s in each of the first `count` replications."""

    def lossy(scenario: Scenario, seed: int, point: int, replication: int) -> FakeLedger:
        return FakeLedger([1e6, 1.0 if replication < count else 0.0, 1e6, 0.0])

    return Kernel(lossy, columns, totals, definitions)


def kernel_that_stops(after: int) -> Kernel:
    """Runs so many replications and then raises."""
    left = iter(range(after))

    def limited(scenario: Scenario, seed: int, point: int, replication: int) -> FakeLedger:
        if next(left, None) is None:
            raise RuntimeError("enough")
        return run(scenario, seed, point, replication)

    return Kernel(limited, columns, totals, definitions)
