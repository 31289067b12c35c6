"""Every scenario: consistent telemetry, a truth that matches what was measured, determinism."""

import numpy as np
import pytest

from c4sim.synthetic import ACCUSING_KINDS, SCENARIOS, CleanJob, generate, noise
from c4sim.synthetic.conditions import CONDITIONS

SEED = 11


def same(first, second):
    return first.keys() == second.keys() and all(
        np.array_equal(first[name], second[name], equal_nan=first[name].dtype.kind == "f") for name in first
    )


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_telemetry_is_consistent_with_itself_and_with_its_truth(scenario):
    telemetry, truth = generate(scenario, SEED)
    assert (truth.faults != ()) == ("+" in scenario or "clock" in scenario)
    for fault in truth.faults:
        assert fault.kind in ACCUSING_KINDS
        assert fault.bad_steps[0] == fault.first_step
        assert fault.bad_steps[-1] < telemetry.n_steps
        assert set(fault.workers) <= set(range(telemetry.n_workers))
        assert not set(fault.victims) & set(fault.workers)
    if telemetry.wait_s is not None:
        short = telemetry.wait_s < telemetry.delay_s - 1e-9
        assert not short.any()
    if telemetry.step_time_s is not None:
        own = telemetry.compute_s
        late = own > telemetry.step_time_s[:, None] + 1e-9
        assert not late.any()


@pytest.mark.parametrize("scenario", SCENARIOS[::15])
def test_the_same_seed_is_the_same_job(scenario):
    telemetry, truth = generate(scenario, SEED)
    again, truth_again = generate(scenario, SEED)
    assert same(telemetry.present(), again.present())
    assert truth == truth_again


def test_another_seed_is_another_job():
    first, second = (generate("clean", seed)[0] for seed in (1, 2))
    assert not np.array_equal(first.step_time_s, second.step_time_s)


def test_unknown_scenario_names_the_nearest():
    with pytest.raises(ValueError, match=r"scenario: unknown .*'clean\+slow_sender'"):
        generate("clean+slow_sendre", 0)


def test_too_few_steps_are_refused():
    with pytest.raises(ValueError, match="steps: must be at least 64"):
        generate("clean", 0, steps=63)


def ratio_to_history(values, fault):
    """Median ratio of the rows from the fault on to those before, for each column."""
    return np.median(values[fault.first_step :], axis=0) / np.median(values[: fault.first_step], axis=0)


@pytest.mark.parametrize("seed", range(20))
def test_a_slow_worker_is_slow_by_the_recorded_factor(seed):
    telemetry, truth = generate("clean+slow_compute", seed)
    fault = truth.faults[0]
    if fault.first_step == 0:
        assert fault.bad_steps == tuple(range(telemetry.n_steps))
        return
    ratio = ratio_to_history(telemetry.compute_s, fault)
    worker = fault.entity[0]
    assert ratio[worker] == pytest.approx(fault.effect, rel=0.02)
    assert np.delete(ratio, worker) == pytest.approx(1, abs=0.03)


@pytest.mark.parametrize("kind", ["slow_sender", "slow_receiver", "slow_path"])
@pytest.mark.parametrize("seed", range(8))
def test_slow_links_are_those_of_the_recorded_entity(kind, seed):
    telemetry, truth = generate(f"clean+{kind}", seed)
    fault = truth.faults[0]
    src, dst = telemetry.edge_src, telemetry.edge_dst
    if kind == "slow_path":
        mine = (src == fault.entity[0]) & (dst == fault.entity[1])
        assert mine.sum() == 1
    else:
        mine = (src if kind == "slow_sender" else dst) == fault.entity[0]
    if fault.first_step == 0:
        return
    ratio = ratio_to_history(telemetry.delay_s, fault)
    slow = ratio > 0.5 * (1 + fault.effect)
    assert not slow[~mine].any()
    assert slow[mine].sum() > 0.5 * mine.sum()
    assert kind == "slow_path" or slow[mine].sum() >= 3


def test_victims_wait_and_culprits_do_not():
    telemetry, truth = generate("clean+slow_compute", 2)
    fault = truth.faults[0]
    waiting = telemetry.step_time_s[:, None] - telemetry.compute_s
    median = np.median(waiting[list(fault.bad_steps)], axis=0)
    assert fault.effect > 1.2
    assert fault.victims
    assert median[fault.entity[0]] < median[list(fault.victims)].min()


def test_every_condition_has_a_scenario_without_fault_and_with_each_kind():
    kinds = set()
    for condition in CONDITIONS:
        assert condition in SCENARIOS
        assert sum(name.startswith(f"{condition}+") for name in SCENARIOS) >= 10
    for scenario in [name for name in SCENARIOS if name.startswith("clean+")] + ["clock_skew"]:
        kinds |= {fault.kind for fault in generate(scenario, 0)[1].faults}
    assert kinds == set(ACCUSING_KINDS)


def test_hot_experts_reach_the_measured_imbalance():
    loads = [generate("hot_experts", seed)[0].load for seed in range(30)]
    peaks = [np.median(load.max(axis=1) / load.mean(axis=1)) for load in loads if load is not None]
    assert 1.5 < np.median(peaks) < 3.0
    assert max(peaks) < 4.0


def test_sequence_lengths_vary_by_a_quarter():
    """4 standard errors of a CV from n = 192 x dp draws: 4 x .25 x sqrt((1 + 2 x .25^2) / 2n)."""
    telemetry = next(
        job
        for seed in range(20)
        if (job := generate("sequence_lengths", seed)[0]).load is not None and job.n_workers == 64
    )
    load = telemetry.load
    columns = np.unique(load, axis=1)
    cv = columns.std() / columns.mean()
    assert cv == pytest.approx(0.25, abs=4 * 0.25 * np.sqrt(1.125 / (2 * columns.size)) + 0.005)


def test_noise_has_the_stated_deviation_and_correlation():
    rng = np.random.default_rng(5)
    log = np.log(noise.autocorrelated(rng, 400, 500, 0.02, 0.6))
    # sqrt((1 + rho^2) / (1 - rho^2)) widens the error of a variance; t(5) has kurtosis 9.
    error = 0.02 * np.sqrt(8 * (1 + 0.36) / (1 - 0.36) / log.size) / 2
    assert log.std() == pytest.approx(0.02, abs=4 * error)
    correlation = (log[1:] * log[:-1]).mean() / log.var()
    assert correlation == pytest.approx(0.6, abs=4 / np.sqrt(log.size))


def test_clean_job_blocks_are_reproducible_and_differ():
    job = CleanJob(workers=64, roles=2, block=32, uneven=True, seed=3)
    work, load = job.steps(5)
    again, _ = job.steps(5)
    other, _ = job.steps(6)
    assert work.shape == load.shape == (32, 64)
    assert np.array_equal(work, again)
    assert not np.array_equal(work, other)
    assert np.median(work[:, 32:]) / np.median(work[:, :32]) == pytest.approx(2.07, rel=0.05)


def test_clean_job_checkpoint_is_written_by_worker_zero_every_180_steps():
    job = CleanJob(workers=16, roles=1, block=200, uneven=True)
    rows = np.flatnonzero(job.steps(0)[0][:, 0] > 30)
    assert rows.tolist() == [179]
