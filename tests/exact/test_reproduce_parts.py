"""Parts of the reproduction: one batch for all questions, rows of tables, corners of the band, sweeps, files."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from reproduce_tools import SMALL, document, small

from c4sim.configure import load_scenario
from c4sim.experiment import simulate
from c4sim.experiment.documents import apply
from c4sim.experiment.kernel import simulator
from c4sim.experiment.result import Result
from c4sim.experiment.tables import Totals
from c4sim.scenario import Scenario, validate
from c4sim.studies import reproduce_record as record
from c4sim.studies.reproduce import Sizes, reproduce
from c4sim.studies.reproduce_band import corners, extremes
from c4sim.studies.reproduce_batch import Batch, values
from c4sim.studies.reproduce_expected import expected
from c4sim.studies.reproduce_files import write
from c4sim.studies.reproduce_table import lost_work_fall, month_rows, other_job_rows


def filled(name: str, columns: dict[str, list[float]]) -> Result:
    """A result of the scenario whose totals are zero but for some columns."""
    scenario, kernel = load_scenario(name), simulator()
    names = kernel.columns(scenario)
    rows = np.zeros((len(next(iter(columns.values()))), len(names)))
    for column, numbers in columns.items():
        rows[:, names.index(column)] = numbers
    return Result(scenario, 0, Totals(names, rows), kernel, 0.0)


def test_a_batch_runs_each_scenario_once_and_as_simulate_does() -> None:
    june = load_scenario("c4_june2023", "horizon=5d")
    other = load_scenario("c4_dec2023", "horizon=5d")
    batch = Batch()
    batch.add([june], 3)
    batch.add([june, other], 6)
    batch.add([june.model_copy(update={"name": "again"})], 2)
    results = batch.run(seed=5, workers=1)
    assert (len(results.by_digest), results.replications) == (2, 12)
    assert results.of(june).totals.rows.tobytes() == simulate(june, 6, seed=5).totals.rows.tobytes()
    assert results.of(other, 2).totals.rows.tobytes() == simulate(other, 2, seed=5).totals.rows.tobytes()
    assert values(results.of(june), "downtime_fraction").shape == (6,)
    assert results.cpu_s > 0.0


def test_workers_change_nothing() -> None:
    june = load_scenario("c4_june2023", "horizon=5d")
    batch = Batch()
    batch.add([june, load_scenario("c4_4096", "horizon=5d")], 8)
    alone, together = batch.run(0, 1), batch.run(0, 2)
    for digest, result in alone.by_digest.items():
        assert result.totals.rows.tobytes() == together.by_digest[digest].totals.rows.tobytes()


def test_a_batch_refuses_an_impossible_seed_and_reproduce_a_single_month() -> None:
    with pytest.raises(ValueError, match="seed"):
        Batch().run(-1, 1)
    with pytest.raises(ValueError, match="replications: must be at least 2"):
        reproduce(1)


def test_month_rows_by_hand() -> None:
    """Two months of 1,000 s: 100 and 300 s lost to isolation, all of it to CUDA faults."""
    lost = {"isolation_s": [100.0, 300.0], "isolation_s/cuda": [100.0, 300.0]}
    rows = month_rows(filled("c4_june2023", {"wall_s": [1000.0, 1000.0], **lost}), record.JUNE)
    by_metric = {row.metric: row for row in rows}
    total = by_metric["downtime_fraction"]
    assert (total.published, total.simulated, total.ratio) == (0.3119, 0.2, pytest.approx(0.2 / 0.3119))
    # Student's t of one degree of freedom: 12.706 x sd / sqrt 2, sd = .1 sqrt 2.
    assert (total.low, total.high) == (pytest.approx(0.2 - 1.2706, abs=1e-4), pytest.approx(0.2 + 1.2706, abs=1e-4))
    assert (total.month_low, total.month_high) == (pytest.approx(0.105), pytest.approx(0.295))
    assert total.sd == pytest.approx(0.1 * 2**0.5)
    assert by_metric["downtime_fraction/isolation/cuda"].simulated == 0.2
    assert by_metric["downtime_fraction/isolation/unknown"].simulated == 0.0
    assert by_metric["downtime_fraction/spare_wait"].ratio is None
    published = [row.published for row in rows if row.metric.startswith("downtime_fraction/isolation/")]
    assert sum(share for share in published if share is not None) == pytest.approx(0.1962)


def test_other_job_rows_by_hand() -> None:
    """Three months of 4, 0 and 6 failures, 1 and 3 of them by CUDA; a month without failures has no shares."""
    counts = {"failures": [4.0, 0.0, 6.0], "failures/cuda": [1.0, 0.0, 3.0], "confined": [4.0, 0.0, 4.0]}
    rows = {row.metric: row for row in other_job_rows(filled("c4_4096", {"wall_s": [9.0, 9.0, 9.0], **counts}))}
    assert rows["failures"].simulated == pytest.approx(10 / 3)
    assert rows["failures/cuda / failures"].simulated == 0.4
    assert rows["failures/cuda / failures"].month_high == pytest.approx(0.25 + 0.975 * 0.25)
    assert rows["confined_share"].simulated == pytest.approx(0.8)


def test_fall_of_the_lost_work() -> None:
    june = filled("c4_june2023", {"wall_s": [100.0] * 3, "lost_work_s": [30.0, 40.0, 50.0]})
    december = filled("c4_dec2023", {"wall_s": [100.0] * 2, "lost_work_s": [1.0, 1.5]})
    assert lost_work_fall(june, december).value == pytest.approx(70.0 / 2.5)


def test_corners_are_all_ends_and_the_extremes_those_of_the_closed_form() -> None:
    december = load_scenario("c4_dec2023")
    found = corners(december)
    assert len(found) == 2**7
    assert len({scenario.digest() for scenario in found.values()}) == 2**7
    low, high = (found[place] for place in extremes(found))
    assert (low.isolation.delay.mean, high.isolation.delay.mean) == (900.0, pytest.approx(10_080.0))
    assert (low.faults["cuda"].confined, high.faults["unknown"].confined) == (0.875, 0.78)
    assert (low.isolation.delay.cv, high.isolation.delay.cv) == (0.5, 2.0)
    assert (low.repair.duration.mean, high.repair.duration.mean) == (12 * 3600.0, 8 * 86_400.0)
    totals = [expected(scenario).total for scenario in found.values()]
    assert (expected(low).total, expected(high).total) == (min(totals), max(totals))


def test_effects_average_all_corners() -> None:
    """An input's effect is the mean of the corners at its high end less that of those at its low end."""
    found = small().band
    effects = {effect.name: effect for effect in found.effects}
    for name in ("detection.delay", "isolation.delay.mean"):
        effect = effects[name]
        sides = {
            end: np.mean([c.simulated.value for c in found.corners if c.ends[name] == end])
            for end in (effect.low, effect.high)
        }
        assert effect.difference.value == pytest.approx(sides[effect.high] - sides[effect.low])
    assert found.width == found.high.simulated.value - found.low.simulated.value


def test_sweeps_cover_what_they_say() -> None:
    sweeps = {sweep.key: sweep for sweep in small().sweeps}
    intervals = [point.x for point in sweeps["checkpoint.interval"].points]
    assert (min(intervals), max(intervals)) == (300.0, 21_600.0)
    assert {point.series for point in sweeps["checkpoint.interval"].points} == {
        "write 5 s",
        "write 30 s",
        "write 120 s",
    }
    spares = [point.x for point in sweeps["spares.per_pool"].points]
    assert (min(spares), max(spares)) == (0.0, 16.0)
    delays = [point.x for point in sweeps["detection.delay"].points]
    assert (min(delays), max(delays)) == (10.0, 3600.0)


def test_optima_are_the_lowest_points_of_the_curves() -> None:
    curves = next(sweep for sweep in small().sweeps if sweep.key == "checkpoint.interval").curves
    for optimum, curve in zip(small().optima, curves.values(), strict=True):
        lowest = min(curve, key=lambda point: point[1])
        assert optimum.lost <= lowest[1]
        assert optimum.lost == pytest.approx(lowest[1], abs=1e-4)
        assert optimum.exact_s == pytest.approx(lowest[0], rel=0.1)
        assert optimum.daly_s <= optimum.young_s


def test_timelines_are_the_same_month_whole() -> None:
    june, december = small().timelines
    assert june.replication == december.replication
    for timeline in (june, december):
        ends = [stretch.end_s for stretch in timeline.stretches]
        assert [stretch.start_s for stretch in timeline.stretches] == [0.0, *ends[:-1]]
        assert ends[-1] == record.MONTH_S
        lost = sum(s.end_s - s.start_s for s in timeline.stretches if s.phase != "productive")
        assert lost / record.MONTH_S == pytest.approx(timeline.downtime)


def test_sizes_are_fractions_of_june() -> None:
    assert Sizes.of(4000) == Sizes(june=4000, months=2000, levers=400, sweeps=160, corners=50)
    assert min(vars(Sizes.of(2)).values()) == 2


def test_files_hold_the_study(tmp_path: Path) -> None:
    write(small(), tmp_path)
    assert json.loads((tmp_path / "results.json").read_text()) == document()
    with (tmp_path / "published_and_simulated.csv").open() as file:
        rows = list(csv.DictReader(file))
    june = small().tables["c4_june2023"][0]
    assert (rows[0]["scenario"], float(rows[0]["simulated"])) == ("c4_june2023", june.simulated)
    assert len((tmp_path / "band_corners.csv").read_text().splitlines()) == 1 + 2**7


def test_the_manifest_makes_every_scenario_again(tmp_path: Path) -> None:
    write(small(), tmp_path)
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert manifest["replications"]["june"] == SMALL
    for entry in manifest["scenarios"].values():
        assert validate(entry["document"]).digest() == entry["digest"]
    for point in manifest["points"]:
        scenario: Scenario = validate(apply(manifest["scenarios"][point["base"]]["document"], point["change"]))
        assert scenario.digest() == point["digest"]
    digests = {entry["digest"] for entry in (*manifest["scenarios"].values(), *manifest["points"])}
    assert digests == set(small().results.by_digest)
