"""The published figures that the C4 scenarios are held against, each with its source. Nothing here was simulated.

Shares are fractions of wall time. Source unless said otherwise: Dong et al., arXiv:2406.04594 (HPCA 2025).
"""

from dataclasses import dataclass

PAPER = "arXiv:2406.04594 (HPCA 2025)"
SECONDARY = "quoted elsewhere, not in the paper's text; for comparison only"

HOUR_S = 3600.0
MONTH_S = 30 * 24 * HOUR_S

# The record's own names of the phases.
ROWS = {
    "lost_work": "work since the last checkpoint",
    "detection": "detection",
    "isolation": "diagnosis and isolation",
    "restart": "re-initialisation",
}
CAUSES = {
    "ecc_nvlink": "ECC / NVLink",
    "cuda": "CUDA",
    "ccl_timeout": "CCL timeout",
    "ack_timeout": "ACK timeout",
    "unknown": "unknown",
}


@dataclass(frozen=True)
class Month:
    """Published shares of one month's wall time; None where the record has no figure."""

    name: str
    total: float
    phases: dict[str, float | None]
    isolation: dict[str, float | None]


JUNE = Month(
    "June 2023",
    0.3119,
    {"lost_work": 0.0753, "detection": 0.0341, "isolation": 0.1965, "restart": 0.0060},
    {"ecc_nvlink": 0.0834, "cuda": 0.0419, "ccl_timeout": 0.0300, "ack_timeout": 0.0180, "unknown": 0.0229},
)
LOST_WORK_FACTOR = 33.0
RATE_FACTOR = 3.33
DECEMBER_INTERVAL_S = 600.0
DECEMBER = Month(
    "December 2023",
    0.0116,
    {"lost_work": 0.0753 / LOST_WORK_FACTOR, "detection": None, "isolation": None, "restart": None},
    dict.fromkeys(CAUSES),
)

# Another job: 4,096 GPUs on a newly built cluster.
DEATHS_4096 = 40
CAUSES_4096 = {"ecc_nvlink": 0.275, "cuda": 0.125, "ccl_timeout": 0.20, "ack_timeout": 0.275, "unknown": 0.125}
CONFINED_4096 = 0.825

# Secondary sources: December's other phases, and crashes confined to one node by cause.
DECEMBER_SECONDARY = {"lost_work": 0.0023, "detection": 0.0005, "isolation": 0.0073, "restart": 0.0015}
CONFINED_SECONDARY = {"ecc_nvlink": 1.0, "cuda": 1.0, "ccl_timeout": 0.75, "ack_timeout": 0.818, "unknown": 0.40}


def june_mix() -> dict[str, float]:
    """Each cause's part of June's isolation time, which is its part of the failures if one mean holds for all."""
    points = {cause: share for cause, share in JUNE.isolation.items() if share is not None}
    return {cause: share / sum(points.values()) for cause, share in points.items()}
