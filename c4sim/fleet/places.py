"""Where a unit (a physical node) is, and the record of one stay outside the job."""

from dataclasses import dataclass
from enum import IntEnum, StrEnum


class Place(IntEnum):
    """The one place where a unit is."""

    JOB = 0
    SPARE = 1
    RESERVED = 2
    SHOP = 3
    RETIRED = 4


# One integer per unit says all: a slot of the job if >= 0, else one of these; in stage i of the shop it is IN_SHOP -
# i.
ON_SHELF = -1
IN_PROVISIONING = -2
GONE = -3
IN_SHOP = -4


def place_of_code(code: int) -> Place:
    """The place that a whereabouts code stands for."""
    if code >= 0:
        return Place.JOB
    if code <= IN_SHOP:
        return Place.SHOP
    return {ON_SHELF: Place.SPARE, IN_PROVISIONING: Place.RESERVED, GONE: Place.RETIRED}[code]


class Reason(StrEnum):
    """Why a unit was taken out."""

    FAULT = "fault"
    BLAMED = "blamed"  # healthy: the fault was elsewhere
    HOT_SPARE = "hot_spare"  # it failed while it stood by


class Outage:
    """One unit's absence, from when it was taken out until it (or what replaces it) is back on the shelf.

    stream, number: the incident that took it out; ordinal: how many units that incident had taken out before.
    back_s: None while it lasts. stage, attempts: the repair stage it is in or was in last, and the attempts that did
    not mend it.
    retired: the unit left for good. defective: it was handed back still broken (silent failure of the repair).
    """

    # Defaults of the class, not of the constructor: one is made per fault, and most never change them.
    back_s: float | None = None
    stage = 0
    attempts = 0
    retired = False
    defective = False

    def __init__(
        self, unit: int, out_s: float, stream: int, number: int, ordinal: int, reason: Reason, broken: bool
    ) -> None:
        self.unit = unit
        self.out_s = out_s
        self.stream = stream
        self.number = number
        self.ordinal = ordinal
        self.reason = reason
        self.broken = broken


@dataclass(slots=True, eq=False)
class Vacancy:
    """An empty slot: the outage that emptied it, the spare reserved for it (-1: none) and when that spare is ready."""

    slot: int
    outage: Outage
    unit: int = -1
    ready_s: float = float("inf")
