"""What was really wrong with a synthetic job."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

EntityType = Literal["worker", "edge", "host"]

#: Kinds of fault that name an entity, in the order of the tables.
ACCUSING_KINDS: tuple[str, ...] = (
    "slow_compute",
    "slow_sender",
    "slow_receiver",
    "slow_path",
    "comm_hang",
    "noncomm_hang",
    "input_stall",
    "clock_offset",
)


@dataclass(frozen=True)
class Fault:
    """One injected fault.

    Attributes:
        kind: one of ``ACCUSING_KINDS``.
        entity_type: what ``entity`` counts.
        entity: (worker,), (sender, receiver) or (host,); workers are columns of the telemetry.
        workers: the columns that ``entity`` consists of (two for an edge).
        effect: factor of the slow kinds (a ramp's: the factor it ends at); seconds otherwise.
        first_step: first row in which it acts.
        bad_steps: rows in which it acts, in order.
        victims: workers outside ``workers`` that wait longer because of it.
        shape: constant, ramp, flapping or stop.
    """

    kind: str
    entity_type: EntityType
    entity: tuple[int, ...]
    workers: tuple[int, ...]
    effect: float
    first_step: int
    bad_steps: tuple[int, ...]
    victims: tuple[int, ...] = ()
    shape: str = "constant"


@dataclass(frozen=True)
class Truth:
    """The ground truth of one synthetic job.

    Attributes:
        scenario, seed: what it was made from.
        faults: what is wrong; empty when nobody may be accused.
        expected: kinds that accuse nobody and that a good detector reports here.
        apart: why the job is scored apart ("" when it is not), e.g. varying load withheld.
        host: host of each worker (one worker a host where the telemetry names none).
        step_s: nominal step time in seconds.
    """

    scenario: str
    seed: int
    faults: tuple[Fault, ...] = ()
    expected: frozenset[str] = field(default_factory=frozenset)
    apart: str = ""
    host: tuple[int, ...] = ()
    step_s: float = 0.0
