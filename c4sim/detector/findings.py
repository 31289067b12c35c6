"""Numbers -> verdicts: entities by their labels, a whole host as one entity, evidence in a sentence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from c4sim.detector import victims
from c4sim.detector.series import Shifts
from c4sim.detector.telemetry import Telemetry
from c4sim.detector.verdicts import Entity, Host, Kind, Label, Verdict

Array = NDArray[Any]
#: Share of a host's workers with the same finding that makes the host the entity.
_HOST_SHARE = 0.75


@dataclass(frozen=True)
class Scope:
    """What verdicts of one window have in common.

    Attributes:
        telemetry: the rows that were judged (training steps of a running job).
        rows: (T,) their numbers in the original telemetry.
        step_s: length of a step.
    """

    telemetry: Telemetry
    rows: Array
    step_s: float

    def label(self, worker: int) -> Label:
        """The worker's label as a plain Python value."""
        return plain(self.telemetry.labels[worker])

    def row(self, index: int) -> int:
        """Number of a judged row in the original telemetry."""
        return int(self.rows[min(index, len(self.rows) - 1)])

    def edge(self, index: int) -> tuple[Label, Label]:
        """The edge as (sender, receiver) labels."""
        src, dst = self.telemetry.edge_src, self.telemetry.edge_dst
        assert src is not None
        assert dst is not None
        return self.label(int(src[index])), self.label(int(dst[index]))

    def victims(self, first: int, culprits: Array) -> tuple[Label, ...]:
        """Labels of those who wait longer since row ``first``."""
        added = victims.added_wait(self.telemetry, first, self.step_s)
        return tuple(self.label(int(worker)) for worker in victims.of(added, culprits))


def plain(label: Any) -> Label:
    """A NumPy label as int or str."""
    value = label.item() if hasattr(label, "item") else label
    return value if isinstance(value, str) else int(value)


def worker_verdicts(
    scope: Scope,
    kind: Kind,
    found: Shifts,
    effect: Callable[[Array], float],
    sentence: Callable[[str, float, int], str],
) -> list[Verdict]:
    """One verdict for each worker found, or for its host when the host's workers share the finding.

    Args:
        effect: from the columns of the entity to the effect of the verdict.
        sentence: evidence from (name of the entity, effect, first row).
    """
    verdicts = []
    for entity, columns in _entities(scope, found.found):
        size, first = effect(columns), int(np.median(found.first[columns]))
        verdicts.append(
            Verdict(
                kind=kind,
                entity=entity,
                effect=size,
                score=float(found.score[columns].max()),
                first_step=scope.row(first),
                evidence=sentence(name_of(entity), size, scope.row(first)),
                victims=scope.victims(first, columns) if kind != "clock_offset" else (),
            )
        )
    return sorted(verdicts, key=lambda verdict: -verdict.score)


def name_of(entity: Entity) -> str:
    """``worker 3``, ``host a``, ``path 3 -> 11``."""
    if isinstance(entity, Host):
        return f"host {entity.label}"
    return f"path {entity[0]} -> {entity[1]}" if isinstance(entity, tuple) else f"worker {entity}"


def _entities(scope: Scope, found: Array) -> list[tuple[Entity, Array]]:
    left = found.copy()
    entities: list[tuple[Entity, Array]] = []
    host = scope.telemetry.host
    if host is not None:
        for label in np.unique(host[found]):
            members = np.flatnonzero(host == label)
            if len(members) >= 2 and np.mean(found[members]) >= _HOST_SHARE:
                entities.append((Host(plain(label)), members[found[members]]))
                left[members] = False
    return entities + [(scope.label(worker), np.array([worker])) for worker in np.flatnonzero(left).tolist()]
