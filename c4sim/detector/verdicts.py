"""What the detector says: one verdict is one sentence about one entity, with its evidence."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal[
    "slow_compute",
    "slow_sender",
    "slow_receiver",
    "slow_path",
    "comm_hang",
    "noncomm_hang",
    "input_stall",
    "clock_offset",
    "rotating",
    "job_wide",
    "unattributable",
    "no_data",
]
Label = int | str

#: Kinds that accuse nobody: they never make ``c4sim detect`` exit with 1.
ACCUSES_NOBODY: frozenset[str] = frozenset({"rotating", "job_wide", "unattributable", "no_data"})


@dataclass(frozen=True)
class Host:
    """A machine, as the entity of a verdict."""

    label: Label


#: A worker's label, a directed edge (sender, receiver) of labels, a host, or nobody.
Entity = Label | tuple[Label, Label] | Host | None


@dataclass(frozen=True)
class Verdict:
    """One finding.

    Attributes:
        kind: what is wrong; see ``Kind``.
        entity: who: a worker's label, an edge as (sender, receiver), a ``Host`` or ``None``.
        effect: a factor (slow kinds, job_wide), seconds (hangs, input_stall, clock_offset), or None where
            the telemetry does not say.
        score: evidence in units of its threshold; 1 is the edge of the false-alarm budget.
        first_step: row of the telemetry (streaming: step since the start) where it began to show.
        evidence: one sentence for a person.
        victims: labels of workers whose waiting this verdict explains.
    """

    kind: Kind
    entity: Entity
    effect: float | None
    score: float
    first_step: int
    evidence: str
    victims: tuple[Label, ...] = ()

    @property
    def accuses(self) -> bool:
        """True when the verdict blames an entity."""
        return self.kind not in ACCUSES_NOBODY

    def to_json(self) -> dict[str, Any]:
        """Plain containers: worker 17, edge [3, 11], host {"host": 4}, or null."""
        return {
            "kind": self.kind,
            "entity": _entity_json(self.entity),
            "effect": self.effect,
            "score": self.score,
            "first_step": self.first_step,
            "evidence": self.evidence,
            "victims": list(self.victims),
        }


def _entity_json(entity: Entity) -> Any:
    if isinstance(entity, Host):
        return {"host": entity.label}
    return list(entity) if isinstance(entity, tuple) else entity


def document(verdicts: Iterable[Verdict]) -> dict[str, Any]:
    """The JSON document of ``c4sim detect``."""
    return {"schema_version": 1, "verdicts": [verdict.to_json() for verdict in verdicts]}
