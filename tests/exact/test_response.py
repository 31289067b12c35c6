"""Detection chains, isolation and restart: delays computed by hand, draws that belong to their incident."""

from typing import Any

import numpy as np
import pytest

from c4sim.faults import FaultEvent
from c4sim.response import Detection, IncidentKey, Isolation, Restart, Sampler, silence_limit, with_false_alarms
from c4sim.scenario import Scenario, ScenarioError, validate
from c4sim.streams import Purpose, Streams
from tests.engine_tools import play

STREAMS = Streams(5, 0, 0)


def event(effect: str = "hang", slots: tuple[int, ...] = (3,), **changes: Any) -> FaultEvent:
    return FaultEvent(0, "a", 0, 0, slots, None, confined=True, permanent=True, effect=effect)._replace(**changes)


def scenario(**sections: Any) -> Scenario:
    faults = {"a": {"effect": "hang", "symptom": "NCCL error"}}
    return validate({"job": {"nodes": 16}, "faults": faults} | sections)


def chain(*layers: dict[str, Any], **sections: Any) -> Detection:
    return Detection(scenario(detection={"layers": list(layers)}, **sections), STREAMS)


def test_a_second_monitor_starts_when_the_watchdog_has_fired() -> None:
    """Watchdog after 1,800 s, which ends nothing; heartbeat monitor 486 s later: 2,286 s."""
    detection = chain(
        {"kind": "collective_watchdog", "delay": "1800s", "coverage": 0.0},
        {"kind": "second_monitor", "delay": "486s", "since": "previous"},
    )
    assert detection.delay(event(), IncidentKey(0, 0)) == 2286.0


def test_a_crash_needs_no_layer() -> None:
    assert chain({"kind": "people", "delay": "12h"}).delay(event("crash"), IncidentKey(0, 0)) == 0.0


def test_the_earliest_layer_that_sees_the_fault_counts() -> None:
    detection = chain({"kind": "people", "delay": "12h"}, {"kind": "c4d", "delay": "30s"})
    assert detection.delay(event(), IncidentKey(0, 0)) == 30.0


def test_a_layer_sees_its_symptoms_only() -> None:
    layers = [{"kind": "c4d", "delay": "30s", "symptoms": ["other"]}, {"kind": "people", "delay": "1h"}]
    assert chain(*layers).delay(event(), IncidentKey(0, 0)) == 3600.0
    layers[0]["symptoms"] = ["NCCL error"]
    assert chain(*layers).delay(event(), IncidentKey(0, 0)) == 30.0


def test_heartbeats_and_watchdogs_do_not_see_a_slow_node() -> None:
    layers = [{"kind": "heartbeat", "delay": "1s"}, {"kind": "collective_watchdog", "delay": "60s"}]
    layers.append({"kind": "people", "delay": "2h"})
    slow = {"a": {"effect": "slow", "slow_factor": 0.5, "symptom": "NCCL error"}}
    assert chain(*layers, faults=slow).delay(event("slow"), IncidentKey(0, 0)) == 7200.0
    assert chain(*layers).delay(event("hang"), IncidentKey(0, 0)) == 1.0


def test_phases_have_limits_of_their_own() -> None:
    """First step 400 s, save 200 s, threshold 120 s: a hang in a step is seen 120 s later, in a save 300 s."""
    limits = {"first_step": "600s", "save": "300s"}
    layer = {"kind": "collective_watchdog", "delay": "120s", "limits": limits}
    sections = {"restart": {"first_step": "400s"}, "checkpoint": {"interval": "500s", "write": "200s"}}
    detection = chain(layer, **sections)
    assert [detection.delay(event(), IncidentKey(0, 0), phase) for phase in (None, "save", "first_step")] == [
        120.0,
        300.0,
        600.0,
    ]


@pytest.mark.parametrize(("time", "delay"), [(350.0, 600.0), (450.0, 120.0), (600.0, 300.0), (1750.0, 120.0)])
def test_the_engine_tells_the_watchdog_what_the_job_was_doing(time: float, delay: float) -> None:
    """First step until 400, save from 500 to 700, work again: one alarm each, at the hang plus that phase's limit."""
    layer = {
        "kind": "collective_watchdog",
        "delay": "120s",
        "limits": {"first_step": "600s", "save": "300s"},
    }
    ledger = play(
        (time, 1, "hang"),
        detection={"layers": [layer]},
        checkpoint={"interval": "500s", "write": "200s"},
        restart={"duration": "50s", "first_step": "400s"},
    )
    assert [i.detected for i in ledger.incidents] == [time + delay]


def test_a_watchdog_that_kills_every_save_or_first_step_is_refused() -> None:
    layer = {"kind": "collective_watchdog", "delay": "120s"}
    sections = {"checkpoint": {"interval": "500s", "write": "200s"}, "restart": {"first_step": "400s"}}
    with pytest.raises(ScenarioError) as caught:
        chain(layer, **sections)
    messages = [str(problem) for problem in caught.value.problems]
    assert len(messages) == 2
    assert "kills every first_step of 400 s; give limits.first_step" in messages[0]
    assert "kills every save of 200 s; give limits.save" in messages[1]


def test_a_chain_that_can_miss_a_fault_for_ever_is_refused() -> None:
    with pytest.raises(ScenarioError, match="the last layer must cover everything"):
        chain({"kind": "c4d", "delay": "30s", "coverage": 0.9})
    faults = {"a": {"effect": "slow", "slow_factor": 0.5}}
    with pytest.raises(ScenarioError, match="cannot see a slow node"):
        chain({"kind": "heartbeat", "delay": "30s"}, faults=faults)


def test_c4d_names_confined_faults_and_people_find_the_others() -> None:
    spec = {"delay": "50min", "automatic": {"delay": "5min"}}
    isolation = Isolation(scenario(isolation=spec), STREAMS)
    named = isolation.judge(event(), IncidentKey(0, 0))
    assert (named.delay, named.blamed, named.fault_stays) == (300.0, (3,), False)
    people = isolation.judge(event(confined=False), IncidentKey(0, 0))
    assert (people.delay, people.blamed) == (3000.0, ())


def test_halving_needs_log2_of_the_nodes_tests() -> None:
    isolation = Isolation(scenario(isolation={"halving": {"test": "10min"}}), STREAMS)
    assert isolation.judge(event(), IncidentKey(0, 0)).delay == 4 * 600.0


def test_people_take_their_time_by_cause() -> None:
    spec = {"delay": "1h", "by_cause": {"a": "2h"}}
    assert Isolation(scenario(isolation=spec), STREAMS).judge(event(), IncidentKey(0, 0)).delay == 7200.0


def test_wrong_blame_never_takes_the_culprit() -> None:
    isolation = Isolation(scenario(isolation={"wrong_blame": 1.0}), STREAMS)
    blamed = {isolation.judge(event(slots=(3, 4)), IncidentKey(0, n)).blamed for n in range(300)}
    assert blamed == {(slot,) for slot in range(16) if slot not in (3, 4)}


def test_a_restart_grows_with_the_nodes() -> None:
    restart = Restart(scenario(restart={"duration": "60s", "per_node": "2s"}), STREAMS)
    assert restart.attempt(IncidentKey(0, 0), 0) == (92.0, True)


def test_the_slowest_pod_decides_the_rendezvous() -> None:
    """Pods that all start after 100 s meet a limit of 90 s never, one of 110 s always."""
    for limit, succeeds, duration in (("90s", False, 150.0), ("110s", True, 160.0)):
        meeting = {"pod_start": "100s", "limit": limit}
        restart = Restart(scenario(restart={"duration": "60s", "rendezvous": meeting}), STREAMS)
        assert restart.attempt(IncidentKey(0, 0), 0) == (duration, succeeds)


def test_draws_belong_to_their_incident() -> None:
    """The same draw whatever was drawn before; another one for another try, part, stream or purpose."""
    one, other = Sampler(STREAMS, Purpose.ISOLATION), Sampler(STREAMS, Purpose.ISOLATION)
    forward = [one.at(IncidentKey(2, n)) for n in range(200)]
    backward = [other.at(IncidentKey(2, n)) for n in reversed(range(200))]
    assert forward == backward[::-1]
    distinct = {
        one.at(IncidentKey(2, 0)),
        one.at(IncidentKey(2, 0, 1)),
        one.at(IncidentKey(2, 0), part=1),
        one.at(IncidentKey(3, 0)),
        Sampler(STREAMS, Purpose.RESTART).at(IncidentKey(2, 0)),
    }
    assert len(distinct) == 5


def test_false_alarms_are_pauses_beyond_the_shortest_limit() -> None:
    """Exponential pauses of mean 30 s against 60 s: one in e^2; the chain's own limit counts when there is one."""
    pauses = {"rate": "10 per job-hour", "law": "exponential", "mean": "30s"}
    whole = with_false_alarms(scenario(pauses=pauses, detection={"delay": "60s"}))
    rate = whole.faults["false_alarm"].rate
    assert rate is not None
    assert rate.per_second == pytest.approx(10 / 3600 * np.exp(-2.0))
    layers = [{"kind": "collective_watchdog", "delay": "90s"}, {"kind": "people", "delay": "1h"}]
    assert silence_limit(scenario(detection={"layers": layers})) == 90.0
    assert silence_limit(scenario(detection={"layers": layers[1:]})) is None
