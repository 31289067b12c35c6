"""Means of the response's delays against closed forms, within 4 standard errors of many incidents."""

import math
from typing import Any

import numpy as np
import pytest

from c4sim.faults import FaultEvent
from c4sim.response import Detection, IncidentKey, Restart
from c4sim.scenario import validate
from c4sim.streams import Streams
from c4sim.theory.detection import expected_detection, heartbeat_delay
from c4sim.theory.intervals import young_interval
from c4sim.theory.segments import efficiency
from tests.theory.test_simulation_oracles import agrees

HANG = FaultEvent(0, "a", 0, 0, (0,), None, confined=True, permanent=True, effect="hang")
INCIDENTS = 40_000


def delays(*layers: dict[str, Any]) -> np.ndarray[Any, np.dtype[np.float64]]:
    scenario = validate({"faults": {"a": {"effect": "hang"}}, "detection": {"layers": list(layers)}})
    detection = Detection(scenario, Streams(11, 0, 0))
    return np.array([detection.delay(HANG, IncidentKey(0, n)) for n in range(INCIDENTS)])


def close(values: np.ndarray[Any, np.dtype[np.float64]], exact: float) -> None:
    error = values.std(ddof=1) / math.sqrt(values.size)
    assert abs(values.mean() - exact) <= 4.0 * error


def test_what_the_watchdog_misses_reaches_a_human() -> None:
    """95 % after 1,800 s, 5 % after 12 h: mean 3,870 s."""
    exact = expected_detection([(0.95, 1800.0), (1.0, 43200.0)])
    assert exact == pytest.approx(3870.0)
    close(
        delays({"kind": "elastic_agent", "delay": "1800s", "coverage": 0.95}, {"kind": "people", "delay": "12h"}), exact
    )


def test_a_heartbeat_is_missed_half_a_period_early_on_average() -> None:
    exact = heartbeat_delay(0.1, 1.0)
    assert exact == pytest.approx(0.95)
    seen = delays({"kind": "heartbeat", "delay": "1s", "period": "100ms"})
    close(seen, exact)
    assert 0.9 <= seen.min() <= seen.max() <= 1.0


def test_an_hourly_look_comes_half_an_hour_late_on_average() -> None:
    close(delays({"kind": "hourly_watchdog", "delay": "10min", "period": "1h"}), 600.0 + 1800.0)


def test_the_slowest_of_many_pods() -> None:
    """Exponential pod starts: the mean of the slowest of N is mean x (1 + 1/2 + ... + 1/N)."""
    spec = {"duration": "0s", "rendezvous": {"pod_start": {"law": "exponential", "mean": "20s"}, "limit": "1d"}}
    restart = Restart(validate({"job": {"nodes": 64}, "restart": spec}), Streams(12, 0, 0))
    times = np.array([restart.attempt(IncidentKey(0, n), 0).duration for n in range(INCIDENTS)])
    close(times, 20.0 * sum(1.0 / k for k in range(1, 65)))


def test_a_rendezvous_fails_as_often_as_its_limit_says() -> None:
    """P(success) = F(limit)^N."""
    spec = {"duration": "0s", "rendezvous": {"pod_start": {"law": "exponential", "mean": "20s"}, "limit": "100s"}}
    restart = Restart(validate({"job": {"nodes": 64}, "restart": spec}), Streams(13, 0, 0))
    tries = np.array([float(restart.attempt(IncidentKey(0, n), 0).succeeds) for n in range(INCIDENTS)])
    close(tries, (1.0 - math.exp(-5.0)) ** 64)


@pytest.mark.parametrize(
    ("delay", "rounded"), [("15s", 0.8727), ("600s", 0.8291), ("1800s", 0.7520), ("2286s", 0.7247)]
)
def test_what_slow_detection_costs(delay: str, rounded: float) -> None:
    """M = 3 h, C = 60 s, R = 300 s, Young's interval."""
    tau = young_interval(60.0, 10_800.0)
    exact = efficiency(tau, 60.0, 10_800.0, float(delay[:-1]), 300.0)
    assert round(exact, 4) == rounded
    scenario = validate(
        {
            "horizon": "150d",
            "checkpoint": {"interval": "young", "write": "60s"},
            "detection": {"delay": delay},
            "restart": {"duration": "300s"},
            "faults": {"hang": {"mtbf": "3h per job", "effect": "hang"}},
        }
    )
    agrees(scenario, "ettr", exact, 24, bias=tau / (150 * 86400.0))
