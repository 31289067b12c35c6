"""status.csv: what is done, what failed and why, what it cost."""

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from c4sim.experiment.chunks import SpanResult
from c4sim.experiment.files import csv_text, replace_text
from c4sim.experiment.plan import Plan

STATES = ("pending", "running", "done", "failed")


@dataclass
class Status:
    """Per point: replications done and wanted, processor time, first error."""

    plan: Plan
    done: dict[int, int] = field(default_factory=dict)
    wanted: dict[int, int] = field(default_factory=dict)
    cpu_s: dict[int, float] = field(default_factory=dict)
    errors: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for point in self.plan.points:
            if point.scenario is None:
                self.errors[point.number] = point.error or "no scenario"

    def add(self, result: SpanResult) -> None:
        """Count what a span gave."""
        number = result.span.number
        self.done[number] = self.done.get(number, 0) + len(result.totals)
        self.cpu_s[number] = self.cpu_s.get(number, 0.0) + result.cpu_s
        if result.error is not None:
            self.errors.setdefault(number, result.error)

    def state(self, number: int) -> str:
        """One of STATES."""
        if number in self.errors:
            return "failed"
        done = self.done.get(number, 0)
        if done and done >= self.wanted.get(number, done + 1):
            return "done"
        return "running" if done else "pending"

    def text(self) -> str:
        """The table: point, swept keys, state, replications, cpu_s, error."""
        keys = self.plan.swept_keys()
        header = ["point", *keys, "state", "replications", "cpu_s", "error"]
        return csv_text(header, [[point.number, *self._cells(point.number, keys)] for point in self.plan.points])

    def _cells(self, number: int, keys: list[str]) -> list[object]:
        values = self.plan.points[number].values
        cpu = round(self.cpu_s.get(number, 0.0), 3)
        return [
            *(values.get(key) for key in keys),
            self.state(number),
            self.done.get(number, 0),
            cpu,
            self.errors.get(number),
        ]

    def write(self, path: Path) -> None:
        """Write the table whole."""
        replace_text(path, self.text())


def read_costs(path: Path) -> Mapping[int, tuple[float, str | None]]:
    """Point -> (cpu_s, error or None) out of a status table; nothing if there is none or it cannot be read."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        return {int(row["point"]): (float(row["cpu_s"]), row["error"] or None) for row in rows}
    except (OSError, ValueError, KeyError):
        return {}
