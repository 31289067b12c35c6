"""The four functions that an experiment needs of a simulator."""

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from numpy.typing import NDArray

from c4sim.scenario import Scenario


class Definition(Protocol):
    """A metric in a unit: the sum of some columns over that of another one (None: per replication), or 1 minus that."""

    @property
    def numerator(self) -> tuple[str, ...]: ...

    @property
    def denominator(self) -> str | None: ...

    @property
    def complement(self) -> bool: ...

    @property
    def unit(self) -> str: ...


@dataclass(frozen=True)
class Kernel:
    """run: one replication of a scenario under (seed, point, replication); totals: its ledger as one row of sums.

    columns: names of that row's entries; definitions: the metrics that follow from them. All four are functions of a
    module, so that worker processes find them by name.
    """

    run: Callable[[Scenario, int, int, int], Any]
    columns: Callable[[Scenario], tuple[str, ...]]
    totals: Callable[[Any, Scenario], NDArray[Any]]
    definitions: Callable[[Scenario], Mapping[str, Definition]]


@functools.cache
def simulator() -> Kernel:
    """The simulator itself."""
    from c4sim import metrics, simulation

    return Kernel(simulation.run, metrics.columns, metrics.totals, metrics.definitions)
