"""The calibration study: the configuration files hold the closed form, and what is small is as small as said."""

import csv
import math
from pathlib import Path

import pytest

from c4sim.configure import load_scenario
from c4sim.studies import reproduce_record as record
from c4sim.studies.calibrate import DECEMBER_STOPPED, SCENARIOS, CalibrationStudy, origins, solve, study
from c4sim.studies.reproduce_files import write_calibration

HOUR = 3600.0


@pytest.fixture(scope="module")
def found() -> CalibrationStudy:
    return study()


@pytest.mark.parametrize("reading", list(SCENARIOS))
def test_the_files_hold_the_closed_form(found: CalibrationStudy, reading: str) -> None:
    means, (june, december) = found.means[reading], SCENARIOS[reading]  # type: ignore[index]
    for name in ("mtbf", "cycle", "detection", "isolation", "restart"):
        assert found.shipped[june][name] == pytest.approx(getattr(means, name), rel=1e-7), name
    assert found.shipped[december]["mtbf"] == pytest.approx(means.later_mtbf, rel=1e-7)
    assert found.shipped[december]["restart"] == pytest.approx(means.restart, rel=1e-7)


def test_december_failures_by_hand() -> None:
    """Lost work of 7.53 % / 33 of 720 h at nearly 5 min a failure: 19.73 failures in 99.07 % of 720 h of operation."""
    means = solve("operating")
    lost_s = 0.0753 / 33 * record.MONTH_S
    assert means.later_failures == pytest.approx(lost_s / 300.0, rel=1e-3)
    # To first order the mean loss is s/2 - s^2/(12 M) (series of the truncated exponential).
    loss = 300.0 - 600.0**2 / (12 * means.later_mtbf)
    assert means.later_failures == pytest.approx(lost_s / loss, rel=1e-6)
    assert means.later_failures * means.later_mtbf == pytest.approx((1 - DECEMBER_STOPPED) * record.MONTH_S)
    assert math.isclose(DECEMBER_STOPPED, 0.0116 - 0.0753 / 33)


@pytest.mark.parametrize(("reading", "failures", "mtbf_h"), [("operating", 50.63, 10.857), ("calendar", 65.70, 8.366)])
def test_june_by_hand(reading: str, failures: float, mtbf_h: float) -> None:
    """3.33 times December's rate, per hour of operation (76.34 % of June, 99.07 % of December) or of the calendar."""
    means = solve(reading)  # type: ignore[arg-type]
    exposure = (1 - 0.0341 - 0.1965 - 0.0060) / (1 - DECEMBER_STOPPED) if reading == "operating" else 1.0
    assert means.failures == pytest.approx(3.33 * means.later_failures * exposure)
    assert means.failures == pytest.approx(failures, abs=0.005)
    assert means.mtbf / HOUR == pytest.approx(mtbf_h, abs=5e-4)


def test_predicted_december(found: CalibrationStudy) -> None:
    """By hand: 302.5 s lost + 45 s + .825 x 5 min + .175 x 50 min + June's restart, per failure and its cycle."""
    for december in ("c4_dec2023", "c4_dec2023_calendar"):
        restart, mtbf = found.shipped[december]["restart"], found.shipped[december]["mtbf"]
        stopped = 45.0 + 0.825 * 300.0 + 0.175 * 3000.0 + restart
        loss = 605.0 / 2 - 605.0**2 / (12 * mtbf)
        assert found.expected[december].total == pytest.approx((loss + stopped) / (mtbf + stopped), rel=1e-6)
        assert 0.008 < found.expected[december].total < 0.016


def test_shifts_are_small_and_as_told(found: CalibrationStudy) -> None:
    shipped, others = found.shifts["as shipped"], found.shifts
    assert shipped == found.means["operating"]
    stalled = others["with the stall of saves"].failures / shipped.failures
    assert stalled == pytest.approx(600 / 605, rel=2e-4)
    bare = others["without December's exposure"].failures / shipped.failures
    assert bare == pytest.approx(1 - DECEMBER_STOPPED, rel=1e-4)
    circle = others["with December's predicted exposure"].failures / shipped.failures
    assert 0.999 < circle < 1.0


def test_without_the_circle_the_exposure_is_the_predicted_one(found: CalibrationStudy) -> None:
    """The fixed point: December's stopped share from its own rate is the one that its rate was solved with."""
    means = found.shifts["with December's predicted exposure"]
    stopped = 45.0 + 0.825 * 300.0 + 0.175 * 3000.0 + means.restart
    share = stopped / (means.later_mtbf + stopped)
    assert 1 - share == pytest.approx(means.later_failures * means.later_mtbf / record.MONTH_S, rel=1e-9)


def test_origins_hold_the_values_of_the_scenario() -> None:
    scenario = load_scenario("c4_dec2023")
    rows = {row.key: row for row in origins(scenario)}
    assert set(rows) == set(scenario.provenance)
    assert rows["detection.delay"].value == "45.0s"
    assert rows["detection.delay"].kind == "assumed"
    assert rows["detection.delay"].range == ("20s", "100s")
    assert rows["checkpoint.interval"].kind == "published"
    assert {row.kind for row in rows.values()} <= {"published", "calibrated", "assumed", "derived"}


def test_tables_on_disk(found: CalibrationStudy, tmp_path: Path) -> None:
    write_calibration(found, tmp_path)
    with (tmp_path / "calibration.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["name"] for row in rows] == [*found.means, *found.shifts]
    assert float(rows[0]["mtbf"]) == found.means["operating"].mtbf
    with (tmp_path / "provenance.csv").open() as file:
        inputs = list(csv.DictReader(file))
    assert len(inputs) == sum(len(rows) for rows in found.provenance.values())
    ranged = [row for row in inputs if row["kind"] == "assumed" and row["range_low"].endswith("min")]
    assert ranged
    assert all(row["range_high"] for row in ranged)


def test_document_is_plain(found: CalibrationStudy) -> None:
    document = found.as_document()
    assert document["means"]["operating"]["mtbf"] == found.means["operating"].mtbf
    assert not any(math.isnan(value) for value in document["expected"]["c4_4096"]["phases"].values())
    assert document["expected"]["c4_4096"]["failures"] == pytest.approx(40.0, rel=1e-6)
