"""Common random numbers in the simulator itself: how much they save, and that what has no effect has exactly none."""

import pytest

from c4sim import compare, load_scenario
from c4sim.experiment import Comparison

CASES = (
    ("60min", "spares.per_pool=unlimited"),
    ("10min", "spares.per_pool=unlimited"),
    ("60min", "spares={per_pool: unlimited, borrowing: true}"),
    ("60min", "spares.per_pool=2"),
)
LABELS = ("10min", "no effect", "fewer spares")


@pytest.fixture(scope="module")
def june() -> Comparison:
    base, *others = (load_scenario("c4_june2023", f"checkpoint.interval={t}", s) for t, s in CASES)
    return compare(base, dict(zip(LABELS, others, strict=True)), replications=100, seed=9)


def test_pairing_leaves_a_twentieth_of_the_variance(june: Comparison) -> None:
    """10 min against 60 min between checkpoints: the same faults, detection and isolation in both."""
    found = june.alternatives[0].differences["downtime_fraction"]
    assert found.variance_ratio is not None
    assert found.variance_ratio <= 0.05
    assert found.high is not None
    assert found.high < 0


def test_a_key_without_effect_gives_exactly_zero(june: Comparison) -> None:
    for name, found in june.alternatives[1].differences.items():
        assert (name, found.difference, found.low, found.high) == (name, 0.0, 0.0, 0.0)


def test_fewer_spares_leave_the_faults_as_they_were(june: Comparison) -> None:
    """On the operating clock the waiting job fails less in a month; its downtime still follows that of the base."""
    found = june.alternatives[2].differences["downtime_fraction"]
    assert found.low is not None
    assert found.low > 0
    assert found.variance_ratio is not None
    assert found.variance_ratio < 0.5
