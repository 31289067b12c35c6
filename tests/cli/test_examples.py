"""The example of each mechanism runs from the command line, and its mechanism acts: without it a number is another."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from c4sim.cli import main
from c4sim.configure import scenario_names

EXAMPLES = Path(__file__).parents[2] / "examples"
Metrics = dict[str, dict[str, Any]]


class Case(NamedTuple):
    """`metric` is at least `factor` times (below 1: at most) what it is when the overrides `without` take the mechanism
    away.
    """

    metric: str
    factor: float
    without: tuple[str, ...]
    replications: int = 3


def case(metric: str, factor: float, *without: str, replications: int = 3) -> Case:
    return Case(metric, factor, without, replications)


FOREVER = 1e6  # against 0
CRASH = "faults.crash."
ACTS = {
    "clock_calendar": case("stopped_faults", FOREVER, f"{CRASH}clock=operating"),
    "clock_restart": case("downtime_fraction/restart", 1.1, f"{CRASH}clock=operating"),
    "law_weibull": case("failures", 2.0, f"{CRASH}law=exponential"),
    "law_empirical": case("failures", 3.0, f"{CRASH}law=exponential", f"{CRASH}mtbf=104d per node"),
    "ages_stationary": case("failures", 0.5, f"{CRASH}start=new"),
    "ages_given": case("failures", FOREVER, f"{CRASH}start=new", f"{CRASH}ages=null"),
    "ages_carried": case("failures/wear", 3.0, "faults.wear.renewal=as_new"),
    "scope_rack": case("mean_nodes_down", 10.0, f"{CRASH}scope=node"),
    "scope_job": case("mean_nodes_down", 0.0, f"{CRASH}scope=node", f"{CRASH}confined=1.0"),
    "compound": case("failures", 0.7, f"{CRASH}compound=null"),
    "lemons": case("failures", 1.6, "cluster.lemons=null"),
    "temperature": case("failures", 1.7, f"{CRASH}temperature=null"),
    "reinforcement": case("failures", 0.75, f"{CRASH}reinforcement=null"),
    "effect_hang": case("downtime_fraction/detection", FOREVER, f"{CRASH}effect=crash"),
    "effect_slow": case("slowdown_fraction", FOREVER, f"{CRASH}effect=crash", f"{CRASH}slow_factor=null"),
    "effect_corruption": case("mean_lost_work_s", 15.0, f"{CRASH}effect=crash", f"{CRASH}latency=null"),
    "transient": case("downtime_fraction/isolation", 0.5, "isolation.restart_in_place=null"),
    "unconfined": case("mean_nodes_down", 0.8, f"{CRASH}confined=1.0"),
    "fault_list": case("failures", FOREVER, "fault_list=null"),
    "pools_borrowing": case("downtime_fraction/spare_wait", 0.5, "spares.borrowing=false"),
    "spares_shared": case("downtime_fraction/spare_wait", FOREVER, "spares.total=64"),
    "spares_hot": case("mean_nodes_down", 1.4, "spares.state=shelf"),
    "provisioning": case("downtime_fraction/spare_wait", 10.0, "spares.provisioning=0s"),
    "repair_crews": case("mean_nodes_down", 1.5, "repair.crews=unlimited"),
    "repair_stages": case("failures", 1.05, "repair.stages.0.success=0.7", "repair.stages.0.silent_failure=0.0"),
    "retirement": case("failures", 0.8, "repair.retirement=null"),
    "checkpoint_interval": case("ettr", 1.01, "checkpoint.interval=3h"),
    "checkpoint_async": case("slowdown_fraction", FOREVER, "checkpoint.slowdown=0"),
    "checkpoint_overrun": case("checkpoint_stall_fraction", 0.0, "checkpoint.overrun=block"),
    "checkpoint_tiers": case("mean_lost_work_s", 0.5, "checkpoint.tiers.1.lost_with=node"),
    "tiered_16384": case(
        "mean_lost_work_s", 0.5, "checkpoint.tiers.0.lost_with=job", "checkpoint.tiers.1.lost_with=job"
    ),
    "checkpoint_sizes": case("checkpoint_stall_fraction", 5.0, "checkpoint.tiers.0.bandwidth=1 TB/s"),
    "checkpoint_retention": case("mean_lost_work_s", 5.0, "checkpoint.retention=null"),
    "save_failure": case("mean_lost_work_s", 1.2, "checkpoint.save_failure=0.0"),
    "checkpoint_corrupt": case("downtime_fraction/restart", FOREVER, "checkpoint.corrupt=0.0"),
    "evaluation": case("slowdown_fraction", FOREVER, "evaluation=null"),
    "fixed_work": case("makespan_s", 1.05, f"{CRASH}mtbf=null"),
    "detection_chain": case("mean_detection_s", 0.2, "detection.layers.0.coverage=0.0"),
    "phase_limits": case("mean_detection_s", 2.0, "checkpoint.write=0s"),
    "false_alarms": case("failures/false_alarm", FOREVER, "detection.delay=20min"),
    "isolation_c4d": case("downtime_fraction/isolation", 0.6, "isolation.automatic=null"),
    "isolation_halving": case("downtime_fraction/isolation", 0.5, "isolation.halving=null"),
    "wrong_blame": case("failures", 1.2, "isolation.wrong_blame=0.0"),
    "restart_rendezvous": case("downtime_fraction/restart", 2.0, "restart.rendezvous=null"),
    "restart_gives_up": case("finished", 0.0, "restart.attempts=null"),
    "maintenance": case("maintenance_fraction", FOREVER, "maintenance=null"),
    "end_no_node": case("finished", 0.0, "spares.total=unlimited"),
    "warmup": case("mean_nodes_down", 1.15, "warmup=0s"),
}


@pytest.fixture(name="metrics")
def _metrics(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A function that runs `c4sim run` on an example, from elsewhere, and reads its JSON."""
    monkeypatch.chdir(tmp_path)

    def run(name: str, *overrides: str, replications: int = 3) -> Metrics:
        words = ["run", "--config-dir", str(EXAMPLES), f"scenario={name}", "seed=1", f"replications={replications}"]
        assert main([*words, *overrides, "format=json"]) == 0
        found: dict[str, Any] = json.loads(capsys.readouterr().out)
        assert found["scenario"] == name
        metrics: Metrics = found["metrics"]
        return metrics

    return run


@pytest.mark.parametrize("name", ACTS)
def test_the_mechanism_acts(name: str, metrics: Callable[..., Metrics]) -> None:
    metric, factor, without, replications = ACTS[name]
    acting = metrics(name, replications=replications)[metric]["mean"]
    absent = metrics(name, *without, replications=replications).get(metric, {"mean": 0.0})["mean"]
    if factor == FOREVER:
        assert acting > 0.0
        assert absent == 0.0
    elif factor < 1.0:
        assert acting <= factor * absent
        assert absent > 0.0
    else:
        assert acting >= factor * absent > 0.0


def test_bursts_spread_the_months(metrics: Callable[..., Metrics]) -> None:
    """Ten times the variance is 3.2 times the width of the interval; the mean stays within 4 standard errors."""
    overrides: tuple[tuple[str, ...], ...] = ((), (f"{CRASH}clustering=null",))
    bursts, poisson = (metrics("clustering", *words, replications=60)["failures"] for words in overrides)
    width = bursts["high"] - bursts["low"]
    assert width > 2.0 * (poisson["high"] - poisson["low"])
    assert abs(bursts["mean"] - poisson["mean"]) < width


def test_every_example_is_here_and_says_in_two_lines_what_it_shows() -> None:
    names = sorted(path.stem for path in (EXAMPLES / "scenario").glob("*.yaml"))
    assert names == sorted([*ACTS, "clustering"])
    assert set(names) <= set(scenario_names(EXAMPLES))
    for name in names:
        lines = (EXAMPLES / "scenario" / f"{name}.yaml").read_text(encoding="utf-8").splitlines()
        assert lines[0] == "# @package _global_"
        assert [line.startswith("# ") for line in lines[1:4]] == [True, True, False]
        assert f"name: {name}" in lines
