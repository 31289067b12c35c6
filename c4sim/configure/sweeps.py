"""From assignments with several values to points: every combination, position by position, or a list in a file."""

import itertools
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from c4sim.configure.grammar import MOST_VALUES, Assignment
from c4sim.configure.plainfile import FileRefusedError, read_table
from c4sim.scenario import Problem

Pairing = Literal["product", "zip"]
Choice = tuple[Assignment, int]


def combinations(
    assignments: Sequence[Assignment], pairing: Pairing, problems: list[Problem]
) -> Iterator[list[Choice]]:
    """For each point, every assignment with the position of its value, in the order of the overrides.

    product: the last swept key moves fastest. zip: the swept keys move together and must have equally many values.
    """
    swept = [assignment for assignment in assignments if assignment.swept]
    counts = [len(assignment.values) for assignment in swept]
    if pairing == "zip" and len(set(counts)) > 1:
        lengths = ", ".join(f"{a.key} has {len(a.values)}" for a in swept)
        problems.append(Problem("sweep", f"zip needs equally many values for every key: {lengths}"))
        return iter(())
    if pairing == "product" and math.prod(counts) > MOST_VALUES:
        problems.append(Problem("sweep", f"has more than {MOST_VALUES:,} points", math.prod(counts)))
        return iter(())
    ranges = [range(len(assignment.values)) for assignment in assignments]
    if pairing == "product":
        return (list(zip(assignments, at, strict=True)) for at in itertools.product(*ranges))
    points = counts[0] if counts else 1
    return ([(a, index if a.swept else 0) for a in assignments] for index in range(points))


def listed_points(name: str, config_dir: Path | None) -> list[list[str]]:
    """The overrides of each row of a CSV file whose header holds keys. Empty cells leave the base value.

    Raises FileRefusedError for a file that cannot be taken, or without rows.
    """
    header, rows = read_table(name, config_dir)
    if not rows:
        raise FileRefusedError("lists no points")
    return [[f"{key}={cell.strip()}" for key, cell in zip(header, row, strict=True) if cell.strip()] for row in rows]
