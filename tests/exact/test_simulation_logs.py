"""Logs computed by hand, transition by transition. All times in s."""

import pytest

from c4sim import load_scenario, metrics
from c4sim.ledger import Outage, Phase
from c4sim.scenario import validate
from c4sim.simulation import run
from tests.engine_tools import SCRIPTED, log, play, scripted


def test_a_crash_is_noticed_at_once_and_costs_isolation_and_restart() -> None:
    ledger = play((1500.0, 2, "crash"))
    assert log(ledger) == [
        (0.0, 1320.0, "productive"),  # two cycles of 600 + 60
        (1320.0, 1500.0, "lost_work"),
        (1500.0, 1700.0, "isolation"),
        (1700.0, 1750.0, "restart"),
        (1750.0, 10000.0, "productive"),
    ]
    assert ledger.intervals[0][5:] == (1200.0, 120.0, 0.0, 2)
    assert ledger.intervals[-1][5:] == (7530.0, 720.0, 0.0, 12)  # 8250 = 12 x 660 + 330
    assert ledger.outages == [Outage(2, 1700.0, 2700.0)]
    assert ledger.end_reason == "horizon"


def test_a_hang_waits_for_detection() -> None:
    ledger = play((700.0, 0, "hang"))
    assert log(ledger)[:4] == [
        (0.0, 660.0, "productive"),
        (660.0, 700.0, "lost_work"),
        (700.0, 800.0, "detection"),
        (800.0, 1000.0, "isolation"),
    ]
    incident = ledger.incidents[0]
    assert (incident.time, incident.detected, incident.isolated, incident.resumed) == (700.0, 800.0, 1000.0, 1050.0)


def test_a_fault_at_the_instant_of_a_commit_comes_after_it() -> None:
    ledger = play((1320.0, 1, "crash"))
    assert log(ledger)[:2] == [(0.0, 1320.0, "productive"), (1320.0, 1520.0, "isolation")]
    assert ledger.intervals[0].saves == 2


def test_a_fault_just_before_a_commit_loses_the_interval_and_the_stall() -> None:
    ledger = play((1319.0, 1, "crash"))
    assert log(ledger)[:2] == [(0.0, 660.0, "productive"), (660.0, 1319.0, "lost_work")]


@pytest.mark.parametrize(("time", "rows"), [(10000.0, 1), (9999.0, 3)])
def test_the_horizon_is_half_open(time: float, rows: int) -> None:
    """A fault at the horizon itself does not happen; one just before it does, and its answer is cut off."""
    ledger = play((time, 0, "crash"))
    assert len(ledger.intervals) == rows
    assert ledger.end == 10000.0
    assert ledger.intervals[-1].end == 10000.0


def test_no_node_leaves_when_the_fault_is_not_confined() -> None:
    ledger = play((700.0, 0, "user"))
    assert ledger.outages == []
    assert [phase for _, _, phase in log(ledger)] == ["productive", "lost_work", "isolation", "restart", "productive"]
    assert ledger.incidents[0].node == -1


def test_the_job_waits_while_no_spare_is_left() -> None:
    """The second node out at 2,700 finds the shelf empty until the first is back at 1,700 + 1,500."""
    ledger = play((1500.0, 2, "crash"), (2500.0, 3, "crash"), repair={"duration": "1500s"})
    assert (2700.0, 3200.0, "spare_wait") in log(ledger)
    assert (3200.0, 3250.0, "restart") in log(ledger)


def test_a_node_that_breaks_while_the_job_stands_leaves_with_the_culprit() -> None:
    ledger = play((700.0, 1, "hang"), (750.0, 3, "crash"), spares={"per_pool": None, "total": 2})
    assert ledger.outages == [Outage(1, 1000.0, 2000.0), Outage(3, 1000.0, 2000.0)]
    assert len(ledger.incidents) == 1
    assert ledger.stopped_faults == 1


def test_a_fault_during_the_restart_begins_a_new_answer() -> None:
    ledger = play((700.0, 0, "crash"), (920.0, 1, "hang"), spares={"per_pool": None, "total": 2})
    assert log(ledger)[2:7] == [
        (700.0, 900.0, "isolation"),
        (900.0, 920.0, "restart"),
        (920.0, 1020.0, "detection"),
        (1020.0, 1220.0, "isolation"),
        (1220.0, 1270.0, "restart"),
    ]
    assert ledger.incidents[0].resumed is None
    assert ledger.incidents[1].operating is False


def test_a_fault_at_the_end_of_the_restart_strikes_the_running_job() -> None:
    ledger = play((700.0, 0, "crash"), (950.0, 1, "crash"), spares={"per_pool": None, "total": 2})
    assert ledger.incidents[0].resumed == 950.0
    assert ledger.incidents[1].operating is True
    assert not any(phase == "lost_work" and start >= 900.0 for start, _, phase in log(ledger))


def test_spares_are_made_ready_in_parallel() -> None:
    spares = {"per_pool": None, "total": 2, "provisioning": "300s"}
    ledger = play((700.0, 1, "hang"), (750.0, 3, "crash"), spares=spares)
    assert (1000.0, 1300.0, "spare_wait") in log(ledger)


def test_an_innocent_node_goes_to_the_shop_and_the_fault_strikes_again() -> None:
    """Everybody blames wrongly: the fault comes back 500 s after each restart, with another healthy node gone."""
    isolation = {"delay": "200s", "wrong_blame": 1.0, "strikes_again": "500s"}
    ledger = play(
        (700.0, 1, "crash"), horizon="3000s", isolation=isolation, spares={"per_pool": "unlimited", "total": None}
    )
    assert [incident.time for incident in ledger.incidents] == [700.0, 1450.0, 2200.0, 2950.0]
    assert [incident.attempt for incident in ledger.incidents] == [0, 1, 2, 3]
    assert all(outage.unit != 1 for outage in ledger.outages)


def test_restart_in_place_cures_a_transient_fault_only() -> None:
    faults = {"blip": {"permanent": 0.0}, "broken": {"permanent": 1.0}}
    isolation = {"delay": "200s", "restart_in_place": {"attempts": 1}, "strikes_again": "30s"}
    ledger = play((700.0, 1, "blip"), (5000.0, 2, "broken"), faults=faults, isolation=isolation)
    assert [(i.time, i.cause, i.attempt) for i in ledger.incidents] == [(700.0, 0, 0), (5000.0, 1, 0), (5080.0, 1, 1)]
    assert ledger.outages == [Outage(2, 5280.0, 6280.0)]


def test_a_slow_node_slows_the_job_until_it_is_noticed() -> None:
    """Rate .5 from 300 to 400: 50 s of work in 100 s; then the job stops and loses what was not saved."""
    faults = {"slow": {"effect": "slow", "slow_factor": 0.5}}
    ledger = play((300.0, 1, "slow"), faults=faults)
    assert log(ledger)[:3] == [(0.0, 400.0, "lost_work"), (400.0, 600.0, "isolation"), (600.0, 650.0, "restart")]
    ledger = play((300.0, 1, "slow"), faults=faults, detection={"delay": "1000s"})
    # 300 s + 300 s of work at half rate (600 s) make the first interval; it is saved from 900 to 960.
    assert log(ledger)[:3] == [
        (0.0, 300.0, "productive"),
        (300.0, 960.0, "productive"),
        (960.0, 1300.0, "lost_work"),
    ]
    assert ledger.intervals[1][5:] == (300.0, 60.0, 300.0, 1)
    assert ledger.intervals[1].cause == 0
    assert (ledger.incidents[0].time, ledger.incidents[0].stopped) == (300.0, 1300.0)


def test_silent_corruption_throws_away_every_checkpoint_written_since() -> None:
    """It begins at 700 (one save durable at 660), is noticed 2,000 s later: everything after 660 is worthless."""
    faults = {"corrupt": {"effect": "corruption", "latency": "2000s"}}
    ledger = play((700.0, 1, "corrupt"), faults=faults)
    assert log(ledger)[:4] == [
        (0.0, 660.0, "productive"),
        (660.0, 2700.0, "lost_work"),
        (2700.0, 2900.0, "isolation"),
        (2900.0, 2950.0, "restart"),
    ]


def test_corruption_reaches_back_into_an_earlier_stretch() -> None:
    """A crash at 1,500 in between: the stretch before it loses what it had kept after 660."""
    faults = {"corrupt": {"effect": "corruption", "latency": "2000s"}, "crash": {"scope": "job"}}
    ledger = play((700.0, 1, "corrupt"), (1500.0, 2, "crash"), faults=faults)
    assert log(ledger)[:6] == [
        (0.0, 660.0, "productive"),
        (660.0, 1320.0, "lost_work"),  # kept at the crash, thrown away by the corruption
        (1320.0, 1500.0, "lost_work"),
        (1500.0, 1700.0, "isolation"),
        (1700.0, 1750.0, "restart"),
        (1750.0, 2700.0, "lost_work"),
    ]
    assert [row.cause for row in ledger.intervals[1:3]] == [0, 1]


def test_maintenance_with_notice_saves_first_and_is_no_failure() -> None:
    plan = {"every": "4000s", "duration": "500s"}
    ledger = play(maintenance=plan, horizon="5000s")
    assert log(ledger) == [
        (0.0, 4000.0, "productive"),
        (4000.0, 4060.0, "checkpoint_stall"),
        (4060.0, 4560.0, "maintenance"),
        (4560.0, 4610.0, "maintenance"),  # the restart after it
        (4610.0, 5000.0, "productive"),
    ]
    assert (ledger.incidents, ledger.planned_stops) == ([], 1)
    ledger = play(maintenance={**plan, "notice": False}, horizon="5000s")
    assert log(ledger)[:2] == [(0.0, 3960.0, "productive"), (3960.0, 4000.0, "maintenance")]


def test_fixed_work_ends_when_it_is_done() -> None:
    """3,000 s of work: 4 intervals with their saves, then 600 s more; a crash at 700 costs 40 + 200 + 50 s."""
    ledger = play((700.0, 1, "crash"), horizon=None, work="3000s")
    assert ledger.end_reason == "work done"
    assert ledger.end == 950.0 + 3 * 660.0 + 600.0


def test_intervals_are_cut_at_the_end_of_the_warm_up_and_at_marks() -> None:
    scenario = validate({**SCRIPTED, "warmup": "1000s"})
    rows = run(scenario, marks=[5000.0]).intervals
    assert [(row.start, row.end) for row in rows] == [(0.0, 1000.0), (1000.0, 5000.0), (5000.0, 10000.0)]
    assert [row.productive for row in rows] == [940.0, 3640.0, 4520.0]
    assert sum(row.saves for row in rows) == 15


def test_a_run_ends_with_a_named_reason_when_no_node_can_return() -> None:
    repair = {"duration": "1000s", "retirement": {"faults": 1, "window": "30d"}}
    ledger = play((700.0, 1, "crash"), (3000.0, 2, "crash"), repair=repair)
    assert ledger.end_reason == "no node can return"
    assert ledger.end == 3200.0


def test_the_fault_that_ends_the_run_at_its_own_instant_counts() -> None:
    sections = {"repair": {"crews": 0}, "spares": {"per_pool": 0}, "isolation": {"delay": "0s"}}
    scenario = scripted((700.0, 1, "crash"), **sections)
    ledger = run(scenario)
    assert (ledger.end_reason, ledger.end) == ("no node can return", 700.0)
    totals = dict(zip(metrics.columns(scenario), metrics.totals(ledger, scenario), strict=True))
    assert (totals["failures"], totals["lost_work_s"]) == (1.0, 40.0)


def test_restart_in_place_does_not_cure_a_permanent_fault_outside_a_node() -> None:
    isolation = {"delay": "200s", "restart_in_place": {"attempts": 1}, "strikes_again": "30s"}
    ledger = play((700.0, 1, "user"), isolation=isolation)
    assert [(i.time, i.attempt, i.isolated) for i in ledger.incidents] == [(700.0, 0, 700.0), (780.0, 1, 980.0)]


def test_a_restart_gives_up_after_its_attempts() -> None:
    restart = {"duration": "50s", "rendezvous": {"failure": 1.0}, "attempts": 3}
    ledger = play((700.0, 1, "crash"), restart=restart)
    assert ledger.end_reason == "gave up restarting"
    assert ledger.end == 900.0 + 3 * 50.0


def test_fixed_work_that_no_interval_survives_ends_without_progress() -> None:
    """Ten times the MTBF between saves: one attempt in 22,000 gets through, so 10,000 in vain end the run."""
    faults = {"crash": {"mtbf": "100s per job"}}
    sections = {"checkpoint": {"interval": "1000s"}, "spares": {"per_pool": "unlimited"}, "faults": faults}
    scenario = validate({"horizon": None, "work": "1d", "job": {"nodes": 4}, **sections})
    ledger = run(scenario)
    assert ledger.end_reason == "no progress"
    assert len(ledger.incident_rows) >= 10_000


def test_a_wait_for_nodes_that_break_faster_than_they_are_mended_ends_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four nodes that break every 100 s of calendar time and one crew that needs an hour for each."""
    monkeypatch.setattr("c4sim.simulation.recovery._MOST_WAITS", 500)
    faults = {"crash": {"mtbf": "100s per node", "scope": "node", "clock": "calendar"}}
    sections = {"spares": {"per_pool": 0}, "repair": {"duration": "1h", "crews": 1}, "faults": faults}
    scenario = validate({"horizon": None, "work": "1d", "job": {"nodes": 4}, **sections})
    assert run(scenario).end_reason == "no progress"


@pytest.mark.parametrize("stall", [0.0, 1.0])
def test_fixed_work_holds_exactly_its_work_and_its_saves(stall: float) -> None:
    """2,160,000 s of work in intervals of 600 s, whatever faults do: with free saves the last ends with the work."""
    sections = {"checkpoint": {"interval": "600s", "write": f"{stall}s"}, "restart": {"duration": "333.3s"}}
    faults = {"crash": {"mtbf": "2d per job"}}
    scenario = validate({"horizon": None, "work": "2160000s", "job": {"nodes": 4}, "faults": faults, **sections})
    for replication in range(40):
        rows = run(scenario, 1, 0, replication).intervals
        assert sum(row.saves for row in rows) == (3599 if stall else 3600)
        assert sum(row.productive for row in rows) == pytest.approx(2_160_000.0, rel=1e-12)


def test_a_fault_that_comes_back_without_time_passing_ends_the_run() -> None:
    repair = {"stages": [{"duration": "0s", "success": 0.0, "silent_failure": 1.0}]}
    nothing = {"spares": {"per_pool": 0}, "isolation": {"delay": "0s"}, "restart": {"duration": "0s"}}
    ledger = play((700.0, 1, "crash"), repair=repair, **nothing)
    assert (ledger.end_reason, ledger.end) == ("no progress", 700.0)


def test_a_node_handed_back_broken_fails_again() -> None:
    """The only stage mends nothing, unnoticed: the node comes back and the fault strikes with its next seat."""
    repair = {"stages": [{"duration": "1000s", "success": 0.0, "silent_failure": 1.0}]}
    ledger = play((700.0, 1, "crash"), (3000.0, 2, "crash"), repair=repair)
    times = [(incident.time, incident.attempt) for incident in ledger.incidents[:3]]
    assert times == [(700.0, 0), (3000.0, 0), (3250.0, 1)]


ASYNCHRONOUS = (
    "checkpoint.mode=async",
    "checkpoint.write=null",
    "checkpoint.tiers=[{name: memory, stall: 1s, persist: 10s, slowdown: 0.02, load: 10s, lost_with: node},"
    "{name: store, every: 6, stall: 1s, persist: 5min, slowdown: 0.02, load: 2min}]",
)


@pytest.mark.parametrize("tiers", [(), ASYNCHRONOUS])
def test_every_kept_save_is_counted_and_what_it_holds_is_whole_intervals(tiers: tuple[str, ...]) -> None:
    """A stretch that a fault ends keeps k intervals of work and counts k saves, wherever it starts in the month."""
    interval, stall = (600.0, 1.0) if tiers else (7200.0, 5.0)
    scenario = load_scenario("c4_june2023", f"checkpoint.interval={interval}s", *tiers)
    rows = [row for k in range(10) for row in run(scenario, 0, 0, k).intervals[:-1] if row.phase == Phase.PRODUCTIVE]
    assert len(rows) > 300
    assert [row.productive for row in rows] == pytest.approx([row.saves * interval for row in rows], rel=1e-12)
    assert [row.stall for row in rows] == pytest.approx([row.saves * stall for row in rows], rel=1e-12)
