"""From shares to means per failure and back: the record's June and December, and a round trip."""

from __future__ import annotations

import pytest

from c4sim.theory.calibration import (
    Calibration,
    LaterMonth,
    MonthShares,
    Reading,
    calibrate,
    cycle_for_mean_loss,
    long_run_shares,
)
from c4sim.theory.ettr import kokolis_ettr
from c4sim.theory.segments import efficiency, mean_lost_work

HOUR, MONTH = 3_600.0, 720 * 3_600.0
JUNE = MonthShares(lost_work=0.0753, detection=0.0341, isolation=0.1965, restart=0.0060)
DECEMBER = LaterMonth(33, 3.33, interval=600.0, write=0.0, stopped=0.0116 - 0.0753 / 33)


def june(reading: Reading) -> Calibration:
    return calibrate(JUNE, DECEMBER, MONTH, reading)


def test_shares_of_june() -> None:
    assert JUNE.total == pytest.approx(0.3119)
    assert 1 - JUNE.stopped == pytest.approx(0.763, abs=5e-4)


@pytest.mark.parametrize(
    ("reading", "failures", "mtbf", "minutes", "cycle"),
    [
        ("operating", 51, 10.86, (64, 29, 168, 5.1), 2.22),
        ("calendar", 66, 8.37, (49.5, 22, 129, 3.9), 1.71),
    ],
)
def test_june(reading: Reading, failures: float, mtbf: float, minutes: tuple[float, ...], cycle: float) -> None:
    found = june(reading)
    assert found.failures == pytest.approx(failures, abs=0.5)
    assert found.mtbf / HOUR == pytest.approx(mtbf, abs=0.01)
    means = (found.lost_work, found.detection, found.isolation, found.restart)
    assert [mean / 60 for mean in means] == pytest.approx(list(minutes), rel=0.02)
    assert found.cycle / HOUR == pytest.approx(cycle, abs=0.005)
    assert found.later_failures == pytest.approx(19.7, abs=0.05)
    assert found.later_mtbf / HOUR == pytest.approx(36.15, abs=0.01)


@pytest.mark.parametrize("reading", ["operating", "calendar"])
def test_calibrated_means_give_back_the_shares(reading: Reading) -> None:
    found = june(reading)
    stopped = {"detection": found.detection, "isolation": found.isolation, "restart": found.restart}
    shares = long_run_shares(found.mtbf, found.cycle, stopped)
    assert shares == pytest.approx({"lost_work": 0.0753, "detection": 0.0341, "isolation": 0.1965, "restart": 0.0060})
    assert found.failures * sum(stopped.values()) + found.failures * found.mtbf == pytest.approx(MONTH)
    later = found.later_failures * mean_lost_work(600.0, found.later_mtbf) / MONTH
    assert later == pytest.approx(0.0753 / 33)
    rates = found.later_mtbf / found.mtbf, found.failures / found.later_failures
    assert rates[reading == "calendar"] == pytest.approx(3.33)


def test_a_write_counts_in_the_later_cycle() -> None:
    with_write = calibrate(JUNE, LaterMonth(33, 3.33, 600.0, 5.0, DECEMBER.stopped), MONTH, "operating")
    assert with_write.later_failures / june("operating").later_failures == pytest.approx(600 / 605, rel=1e-4)


def test_cycle_for_a_mean_loss() -> None:
    for cycle in (10.0, 8_000.0, 400_000.0):
        assert cycle_for_mean_loss(mean_lost_work(cycle, 39_000.0), 39_000.0) == pytest.approx(cycle, rel=1e-9)
    with pytest.raises(ValueError, match="not below the MTBF"):
        cycle_for_mean_loss(39_000.0, 39_000.0)


def test_december_of_the_record() -> None:
    """5 min rollback, 45 s, isolation of 14 min on average, June's restart: 1.16 % (within .03)."""
    found = june("operating")
    stopped = {"detection": 45.0, "isolation": 840.0, "restart": found.restart}
    assert sum(long_run_shares(found.later_mtbf, 600.0, stopped).values()) == pytest.approx(0.0116, abs=3e-4)


def test_first_order_ettr_is_exact_to_first_order() -> None:
    """Half the rate of a 1,000-node job: the error of the first order falls to a quarter."""
    errors = []
    for rate in (2e-9, 1e-9):
        exact = efficiency(3_600.0, 60.0, 1 / (1_000 * rate), 0.0, 300.0)
        errors.append(exact - kokolis_ettr(1_000, rate, 300.0, 3_600.0, 60.0))
    slope = 1_000 * 1e-9 * 60.0 / 2 * 3_600 / 3_660  # half the write, which the first order leaves out
    assert (errors[0] + 2 * slope) / (errors[1] + slope) == pytest.approx(4, rel=0.02)
    assert kokolis_ettr(2_000, 6.5e-3 / 24, 5 / 60, 1.0, 0.0) == pytest.approx(0.684, abs=5e-4)
