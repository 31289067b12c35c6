"""Whatever the scenario: the books balance, time never goes back, and every run ends with a named reason."""

import math
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from c4sim import metrics
from c4sim.ledger import Ledger, Phase
from c4sim.scenario import Scenario, ScenarioError, validate
from c4sim.simulation import run
from tests.engine_tools import held

REASONS = {"horizon", "work done", "no progress", "gave up restarting", "no node can return"}


def seconds(low: float, high: float) -> st.SearchStrategy[str]:
    return st.floats(low, high).map(lambda x: f"{x!r}s") | st.just("0s" if low == 0.0 else f"{low!r}s")


def delays(high: float) -> st.SearchStrategy[Any]:
    laws = st.fixed_dictionaries(
        {
            "law": st.sampled_from(["lognormal", "gamma", "weibull"]),
            "mean": seconds(1.0, high),
            "cv": st.floats(0.2, 2.0),
        }
    )
    return seconds(0.0, high) | laws


faults = st.fixed_dictionaries(
    {
        "mtbf": st.floats(2000.0, 90000.0).map(lambda x: f"{x!r}s per job"),
        "clock": st.sampled_from(["operating", "restart", "calendar"]),
        "scope": st.sampled_from(["gpu", "node", "link", "switch", "rack", "power", "job"]),
        "effect": st.sampled_from(["crash", "hang", "slow", "corruption"]),
        "confined": st.sampled_from([0.0, 0.5, 1.0]),
        "permanent": st.sampled_from([0.0, 1.0]),
    }
).map(
    lambda f: {
        **f,
        **({"slow_factor": 0.5} if f["effect"] == "slow" else {}),
        **({"latency": "5000s"} if f["effect"] == "corruption" else {}),
    }
)

checkpoints = st.one_of(
    st.fixed_dictionaries({"interval": seconds(100.0, 9000.0), "write": seconds(0.0, 90.0)}),
    st.fixed_dictionaries(
        {
            "interval": seconds(100.0, 9000.0),
            "mode": st.just("async"),
            "write": st.none(),
            "stall": seconds(0.0, 20.0),
            "persist": seconds(0.0, 90.0),
            "slowdown": st.sampled_from([0.0, 0.1]),
        }
    ),
)

documents = st.fixed_dictionaries(
    {
        "horizon": seconds(1000.0, 200000.0),
        "warmup": st.sampled_from(["0s", "500s"]),
        "job": st.fixed_dictionaries({"nodes": st.integers(1, 40)}),
        "checkpoint": checkpoints,
        "spares": st.fixed_dictionaries(
            {
                "per_pool": st.sampled_from([0, 1, 3, "unlimited"]),
                "pool_nodes": st.sampled_from([4, 128]),
                "state": st.sampled_from(["shelf", "hot"]),
                "borrowing": st.booleans(),
                "provisioning": delays(500.0),
            }
        ),
        "repair": st.fixed_dictionaries({"duration": delays(50000.0), "crews": st.sampled_from([1, 2, "unlimited"])}),
        "detection": st.fixed_dictionaries({"delay": delays(2000.0)}),
        "isolation": st.fixed_dictionaries(
            {"delay": delays(5000.0), "wrong_blame": st.sampled_from([0.0, 0.3]), "strikes_again": delays(100.0)}
        ),
        "restart": st.fixed_dictionaries({"duration": delays(500.0)}),
        "maintenance": st.none() | st.just({"every": "30000s", "duration": "600s"}),
        "faults": st.dictionaries(st.sampled_from(["a", "b", "c"]), faults, max_size=3),
    }
)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(documents, st.integers(0, 5))
def test_books_balance(document: dict[str, Any], replication: int) -> None:
    """Intervals are contiguous from 0 to the end, what they hold sums to wall time to 1e-9 of it, metrics too."""
    try:
        scenario = validate(document)
    except ScenarioError:
        return
    ledger = run(scenario, 7, 0, replication)
    assert ledger.end_reason in REASONS
    assert ledger.end <= float(scenario.horizon or math.inf)
    _contiguous(ledger)
    assert math.isclose(held(ledger), ledger.end, rel_tol=1e-9)
    if ledger.end > scenario.warmup:
        _totals_balance(ledger, scenario)


def _contiguous(ledger: Ledger) -> None:
    edge = 0.0
    for row in ledger.intervals:
        assert row.start == edge
        assert row.end > row.start
        edge = row.end
        if row.phase == Phase.PRODUCTIVE:
            assert min(row.productive, row.stall, row.slowdown) >= -1e-9 * row.end
    assert edge == ledger.end


def _totals_balance(ledger: Ledger, scenario: Scenario) -> None:
    columns = metrics.columns(scenario)
    totals = dict(zip(columns, metrics.totals(ledger, scenario), strict=True))
    phases = sum(totals[f"{phase.label}_s"] for phase in Phase)
    assert math.isclose(phases, totals["wall_s"], rel_tol=1e-9)
    assert np.isfinite(list(totals.values())).all()
    for phase in metrics.DOWNTIME_PHASES:
        by_cause = sum(totals[f"{phase.label}_s/{cause}"] for cause in metrics.causes(scenario))
        assert by_cause <= totals[f"{phase.label}_s"] * (1 + 1e-9) + 1e-6
