"""Each fast kernel against a slow one that is obviously right; symmetries of the verdicts."""

import dataclasses

import numpy as np
import pytest

from c4sim.detector import Host, Telemetry, detect
from c4sim.detector.flapping import _best_run
from c4sim.detector.grouping import Groups
from c4sim.detector.robust import median, median_along, median_mad, quantile_along
from c4sim.detector.series import _split_roots
from c4sim.synthetic import generate


def data(seed, shape, missing, dtype=np.float64):
    rng = np.random.default_rng(seed)
    x = rng.lognormal(0, 0.5, shape).astype(dtype)
    x[rng.random(shape) < missing] = np.nan
    return x


@pytest.mark.filterwarnings("ignore:All-NaN slice")
@pytest.mark.parametrize("missing", [0.0, 0.1, 0.9])
@pytest.mark.parametrize("shape", [(1, 1), (2, 7), (9, 5), (64, 33), (17, 5000)])
def test_median_and_mad_are_exact_in_either_layout(shape, missing):
    x = data(1, shape, missing, np.float32)
    exact = np.nanmedian(x, axis=0)
    spread = np.nanmedian(np.abs(x - exact), axis=0)
    for given, axis in ((x, 0), (np.ascontiguousarray(x.T), 1)):
        before = given.copy()
        got = median_mad(given, axis)
        np.testing.assert_array_equal(got[0], exact)
        np.testing.assert_allclose(got[1], spread, rtol=1e-6)
        np.testing.assert_array_equal(median_along(given, axis), exact)
        np.testing.assert_array_equal(given, before)
    assert np.array_equal(median(x), float(np.nanmedian(x)), equal_nan=True)


def test_quantile_is_an_order_statistic():
    x = data(2, (50, 40), 0.2)
    for column, got in enumerate(quantile_along(x, 0.3)):
        known = np.sort(x[np.isfinite(x[:, column]), column])
        assert got == known[int(0.3 * (len(known) - 1))]


@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_medians_of_groups(ordered, missing):
    rng = np.random.default_rng(3)
    keys = rng.integers(0, 40, 500)
    keys = np.sort(keys) if ordered else keys
    keys[keys == 13] = 14
    keys = np.sort(keys) if ordered else keys
    x = data(4, (6, 500), missing)
    groups = Groups.of(keys, 41)
    got, total = groups.median(x), groups.total(np.nan_to_num(x))
    for key in range(41):
        for row in range(6):
            members = x[row, keys == key]
            known = members[np.isfinite(members)]
            expected = np.median(known) if len(known) else np.nan
            assert np.array_equal(got[row, key], expected, equal_nan=True)
            assert total[row, key] == pytest.approx(np.nansum(members))
    assert groups.sizes().tolist() == np.bincount(keys, minlength=41).tolist()
    np.testing.assert_array_equal(groups.median(x[0]), got[0])


def test_groups_that_only_look_contiguous():
    x = np.array([1.0, 10.0, 3.0, 30.0])
    assert Groups.of(np.array([0, 1, 0, 1]), 2).median(x).tolist() == [2.0, 20.0]


def test_split_statistic_is_the_likelihood_ratio():
    y = data(5, (40, 8), 0.15)
    variance = np.linspace(0.1, 2, 8)
    roots = _split_roots(y, variance)
    for k in range(8):
        for index in range(len(roots)):
            split = index + 8
            before, after = (part[np.isfinite(part)] for part in (y[:split, k], y[split:, k]))
            whole = np.concatenate([before, after])
            if min(len(before), len(after)) < 8:
                assert roots[index, k] == 0
                continue
            rss = [np.sum((part - part.mean()) ** 2) for part in (whole, before, after)]
            ratio = (rss[0] - rss[1] - rss[2]) / (2 * variance[k])
            assert roots[index, k] ** 2 / 2 == pytest.approx(ratio, rel=1e-9, abs=1e-12)
            assert np.sign(roots[index, k]) == np.sign(after.mean() - before.mean())


def test_best_run_is_the_largest_sum_over_consecutive_rows():
    gain = np.random.default_rng(6).standard_normal((30, 5))
    for k, got in enumerate(_best_run(gain)):
        runs = [gain[i:j, k].sum() for i in range(30) for j in range(i + 1, 31)]
        assert got == pytest.approx(max(0.0, *runs))


SCENARIOS = ["clean+slow_compute", "hot_experts+slow_sender", "missing+two_faults", "clock_skew", "clean+comm_hang"]


def keys(verdicts):
    return {(v.kind, str(v.entity), v.first_step) for v in verdicts}


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_verdicts_follow_the_workers_when_they_are_reordered(scenario):
    telemetry, _ = generate(scenario, 3)
    n = telemetry.n_workers
    order = np.random.default_rng(7).permutation(n)
    place = np.argsort(order)
    changed = {"worker": telemetry.labels[order]}
    for name, array in telemetry.present().items():
        if name in ("edge_src", "edge_dst", "member_worker"):
            changed[name] = place[array]
        elif array.ndim == 1 and name in ("role", "host", "group"):
            changed[name] = array[order]
        elif array.ndim == 2 and array.shape[1] == n and name not in ("delay_s", "wait_s", "bytes"):
            member = name.startswith("op_") and telemetry.member_worker is not None
            changed[name] = array if member else array[:, order]
    assert keys(detect(dataclasses.replace(telemetry, **changed))) == keys(detect(telemetry))


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_verdicts_do_not_depend_on_units_of_load_and_bytes_or_on_unused_labels(scenario):
    telemetry, _ = generate(scenario, 4)
    scaled = {name: array * 1000 for name, array in telemetry.present().items() if name in ("load", "bytes")}
    labels = np.array([f"w{index}" for index in range(telemetry.n_workers)])
    named = detect(dataclasses.replace(telemetry, **scaled, worker=labels))
    plain = detect(telemetry)
    assert [v.kind for v in named] == [v.kind for v in plain]
    for ours, theirs in zip(named, plain, strict=True):
        if isinstance(ours.entity, str):
            assert ours.entity == f"w{theirs.entity}"
        elif isinstance(ours.entity, tuple):
            assert ours.entity == tuple(f"w{end}" for end in theirs.entity)
        else:
            assert ours.entity == theirs.entity


@pytest.mark.parametrize("seed", range(4))
def test_every_verdict_is_well_formed(seed):
    for scenario in SCENARIOS:
        telemetry, _ = generate(scenario, seed)
        labels = set(telemetry.labels.tolist())
        for verdict in detect(telemetry):
            document = verdict.to_json()
            assert 0 <= verdict.first_step < telemetry.n_steps
            assert np.isfinite(verdict.score)
            assert verdict.score >= 1
            assert document["effect"] is None or np.isfinite(document["effect"])
            assert set(verdict.victims) <= labels
            if isinstance(verdict.entity, Host):
                assert verdict.entity.label in set(telemetry.host.tolist())
            elif verdict.accuses:
                ends = verdict.entity if isinstance(verdict.entity, tuple) else (verdict.entity,)
                assert set(ends) <= labels
                assert not set(ends) & set(verdict.victims)


@pytest.mark.parametrize(
    ("scenario", "seed"), [("job_wide+thermal_ramp", 14), ("job_wide", 11), ("job_wide+slow_path", 50)]
)
def test_a_slowdown_of_all_with_wrong_loads_accuses_the_culprit_only(scenario, seed):
    telemetry, truth = generate(scenario, seed)
    guilty = {(f.kind, f.entity if f.entity_type == "edge" else f.entity[0]) for f in truth.faults}
    assert {(v.kind, v.entity) for v in detect(telemetry) if v.accuses} == guilty


def test_small_windows_never_crash_nor_accuse_clean_jobs():
    rng = np.random.default_rng(8)
    for rows in range(1, 20):
        for workers in (2, 3, 4, 9):
            own = np.exp(0.01 * rng.standard_normal((rows, workers)))
            assert not [v for v in detect(Telemetry(compute_s=own)) if v.accuses], (rows, workers)
