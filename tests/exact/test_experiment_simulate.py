"""simulate(): the same table from any number of workers, intervals where they exist, and the run's own manifest."""

import json
from pathlib import Path

import experiment_fakes as fakes
import numpy as np
import pytest

from c4sim.experiment import Missed, Precision, ReplicationError, simulate
from c4sim.experiment.chunks import Chunk, Span, run_chunk
from c4sim.experiment.cutting import Cutter
from c4sim.experiment.tables import Totals, pseudo_values
from c4sim.scenario import Scenario, validate

SCENARIO = Scenario()


@pytest.fixture(scope="module")
def alone() -> np.ndarray:
    return simulate(SCENARIO, 30, seed=3, kernel=fakes.FAST).totals.rows


@pytest.mark.parametrize("workers", [2, 4])
def test_any_number_of_workers_gives_the_same_bits(workers: int, alone: np.ndarray) -> None:
    rows = simulate(SCENARIO, 30, seed=3, workers=workers, kernel=fakes.FAST).totals.rows
    assert rows.tobytes() == alone.tobytes()


def test_a_killed_worker_changes_nothing(alone: np.ndarray, tmp_path: Path) -> None:
    kernel = fakes.kernel_that_dies_once(tmp_path / "killed")
    rows = simulate(SCENARIO, 30, seed=3, workers=2, kernel=kernel).totals.rows
    assert (tmp_path / "killed").exists()
    assert rows.tobytes() == alone.tobytes()


def test_shuffled_spans_give_the_same_rows(alone: np.ndarray) -> None:
    order = np.random.default_rng(1).permutation(30)
    rows = np.empty_like(alone)
    for i in order:
        (result,) = run_chunk(Chunk((Span(0, SCENARIO, 0, i, i + 1),), 3, fakes.FAST))
        rows[i] = result.totals[0]
    assert rows.tobytes() == alone.tobytes()


def test_more_replications_keep_the_first_ones(alone: np.ndarray) -> None:
    assert simulate(SCENARIO, 10, seed=3, kernel=fakes.FAST).totals.rows.tobytes() == alone[:10].tobytes()


def test_neighbouring_seeds_share_no_replication(alone: np.ndarray) -> None:
    other = simulate(SCENARIO, 30, seed=4, kernel=fakes.FAST).totals.rows
    assert not set(alone[:, 1]) & set(other[:, 1])


def test_one_replication_has_no_interval() -> None:
    value = simulate(SCENARIO, 1, kernel=fakes.FAST).metrics["downtime_fraction"]
    assert value.mean is not None
    assert (value.low, value.high, value.unit) == (None, None, "1")


def test_constant_data_have_half_width_zero() -> None:
    quiet = validate({"faults": {"crash": {}}})
    result = simulate(quiet, 50, kernel=fakes.FAST)
    assert result.metrics["downtime_fraction"].half_width == 0.0
    assert result.metrics["mtbf_s"].as_document() == {"mean": None, "low": None, "high": None, "unit": "s"}


def test_the_document_is_strict_json() -> None:
    document = simulate(validate({"faults": {"crash": {}}}), 3, seed=1, kernel=fakes.FAST).as_document()
    text = json.dumps(document, allow_nan=False)
    assert list(json.loads(text)) == ["schema_version", "scenario", "digest", "seed", "replications", "metrics"]
    assert (document["schema_version"], document["seed"], document["replications"]) == (1, 1, 3)


def test_the_manifest_makes_the_result_again(alone: np.ndarray) -> None:
    manifest = json.loads(json.dumps(simulate(SCENARIO, 30, seed=3, kernel=fakes.FAST).manifest()))
    again = validate(manifest["scenario"]["document"])
    assert again.digest() == manifest["scenario"]["digest"]
    first, stop = manifest["replications"]
    rows = simulate(again, stop - first, manifest["seed"], kernel=fakes.FAST).totals.rows
    assert rows.tobytes() == alone.tobytes()


def test_the_ledger_is_replayed_when_it_was_not_kept() -> None:
    kept = simulate(SCENARIO, 3, kernel=fakes.FAST, keep_ledger=True)
    replayed = simulate(SCENARIO, 3, kernel=fakes.FAST)
    assert replayed.kept is None
    assert list(kept.ledger["replication"]) == [0, 1, 2]
    assert kept.ledger.equals(replayed.ledger)


def test_a_failing_replication_is_named() -> None:
    two_hours = validate({"checkpoint": {"interval": "2h"}})
    with pytest.raises(ReplicationError, match="replication 1: ValueError: the two hours do not work"):
        simulate(two_hours, 3, kernel=fakes.FAILING)


@pytest.mark.parametrize("count", [0, -1, 2.5, True, "auto"])
def test_counts_that_cannot_be_are_refused(count: object) -> None:
    with pytest.raises(ValueError, match="replications: must be a whole number of at least 1"):
        simulate(SCENARIO, count, kernel=fakes.FAST)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", [-1, 2**64, 1.0, True])
def test_seeds_that_cannot_be_are_refused(seed: object) -> None:
    with pytest.raises(ValueError, match="seed: must be a whole number"):
        simulate(SCENARIO, 1, seed, kernel=fakes.FAST)  # type: ignore[arg-type]


def test_auto_runs_until_the_half_width_is_reached() -> None:
    loose = simulate(SCENARIO, Precision(0.002), seed=3, kernel=fakes.FAST)
    half = loose.metrics["downtime_fraction"].half_width
    assert half is not None
    assert half <= 0.002
    assert simulate(SCENARIO, loose.n, seed=3, kernel=fakes.FAST).metrics == loose.metrics


def test_auto_stops_at_its_budget() -> None:
    result = simulate(SCENARIO, Precision(1e-9, budget=75), kernel=fakes.FAST)
    assert result.n == 75
    half = result.metrics["downtime_fraction"].half_width
    assert result.missed == Missed("downtime_fraction", 1e-9, half, 75)
    assert result.as_document()["target_reached"] is False


def test_a_target_that_is_reached_is_not_missed() -> None:
    loose = simulate(SCENARIO, Precision(0.002), seed=3, kernel=fakes.FAST)
    assert loose.missed is None
    assert loose.as_document()["target_reached"] is True
    last = simulate(SCENARIO, Precision(0.002, budget=loose.n), seed=3, kernel=fakes.FAST)
    assert (last.n, last.missed) == (loose.n, None)
    undefined = Precision(0.1, metric="mtbf_s", budget=60)
    missed = simulate(validate({"faults": {"crash": {}}}), undefined, kernel=fakes.FAST).missed
    assert missed == Missed("mtbf_s", 0.1, None, 60)


def test_chunks_grow_towards_a_second_and_hold_several_points() -> None:
    cutter = Cutter([Span(i, SCENARIO, 0, 0, 3) for i in range(40)], 0, fakes.FAST)
    sizes = []
    for chunk in cutter:
        sizes.append(chunk.replications)
        cutter.cost(run_chunk(chunk))
    assert sum(sizes) == 120
    assert len(sizes) <= 5
    assert max(sizes) > 40


def test_a_slow_scenario_is_cut_finely() -> None:
    cutter = Cutter([Span(0, SCENARIO, 0, 0, 1000)], 0, fakes.FAST)
    chunk = next(cutter)
    (result,) = run_chunk(chunk)
    result.cpu_s = 10.0 * chunk.replications
    cutter.cost([result])
    assert next(cutter).replications == 1


def test_spans_cover_every_replication_once() -> None:
    spans = [Span(0, SCENARIO, 0, 0, 7), Span(1, SCENARIO, 0, 2, 13), Span(2, SCENARIO, 0, 5, 6)]
    seen = []
    for chunk in Cutter(spans, 0, fakes.FAST):
        seen += [(span.number, i) for span in chunk.spans for i in range(span.start, span.stop)]
    assert seen == [(span.number, i) for span in spans for i in range(span.start, span.stop)]


def test_the_ratio_of_sums_by_hand() -> None:
    totals = Totals(fakes.COLUMNS, np.array([[1.0, 0.0, 6.0, 2.0], [1.0, 0.0, 3.0, 1.0], [1.0, 0.0, 3.0, 3.0]]))
    # r = 12/6 = 2; leaving one out: 6/4, 9/5, 9/3; pseudo-values 3 r - 2 r_i: mean 1.8, standard error sqrt(2.52 / 3)
    assert totals.values(fakes.DEFINITIONS["mtbf_s"]) == pytest.approx([3.0, 2.4, 0.0])
    value = totals.metric(fakes.DEFINITIONS["mtbf_s"])
    assert value.mean == 2.0
    assert value.high == pytest.approx(1.8 + 4.302652729911275 * (2.52 / 3) ** 0.5)
    assert totals.metric(fakes.DEFINITIONS["failures"]).mean == 2.0


def test_a_complement_turns_its_interval_round() -> None:
    metrics = simulate(SCENARIO, 30, seed=3, kernel=fakes.FAST).metrics
    down, up = metrics["downtime_fraction"], metrics["uptime_fraction"]
    assert (up.mean, up.low, up.high) == pytest.approx((1 - down.mean, 1 - down.high, 1 - down.low), rel=1e-12)


def test_a_denominator_in_one_replication_only_has_a_ratio_and_no_interval() -> None:
    top, bottom = np.array([3.0, 0.0]), np.array([2.0, 0.0])
    assert pseudo_values(top, bottom) is None
    totals = Totals(fakes.COLUMNS, np.array([[1, 0, 3.0, 2.0], [1, 0, 0.0, 0.0]]))
    value = totals.metric(fakes.DEFINITIONS["mtbf_s"])
    assert (value.mean, value.low) == (1.5, None)
