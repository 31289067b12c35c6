"""Closed forms of the C4 scenarios: June gives back its shares; December as the record's own arithmetic has it."""

import math

import pytest

from c4sim.configure import load_scenario
from c4sim.experiment.variation import vary
from c4sim.studies.reproduce_expected import expected


@pytest.mark.parametrize("name", ["c4_june2023", "c4_june2023_calendar"])
def test_june_gives_back_its_shares(name: str) -> None:
    """Exactly so without the stall of saves, which the calibration leaves out."""
    found = expected(vary(load_scenario(name), {"checkpoint.write": "0s"}))
    assert found.phases == pytest.approx(
        {"lost_work": 0.0753, "detection": 0.0341, "isolation": 0.1965, "restart": 0.006}, rel=1e-6
    )
    assert found.total == pytest.approx(0.3119, rel=1e-6)
    assert found.stall == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(("people", "total"), [("58min", 0.0116), ("2.8h", 0.020), ("15min", 0.008)])
def test_december_by_who_isolates(people: str, total: float) -> None:
    """20 failures x (5 min + 45 s + isolation + 5.1 min): 1.16 % with 58 min for what C4D does not name."""
    december = vary(load_scenario("c4_dec2023"), {"isolation.delay.mean": people, "checkpoint.write": "0s"})
    assert expected(december).total == pytest.approx(total, abs=5e-4)


def test_isolation_by_cause_and_the_share_that_is_named() -> None:
    """Two causes at rates 1 : 3; people take 1 h and 2 h, C4D 6 min for what it names of the confined."""
    scenario = vary(
        load_scenario("c4_dec2023"),
        {f"faults.{cause}.mtbf": None for cause in ("ccl_timeout", "ack_timeout", "unknown")}
        | {"faults.ecc_nvlink.mtbf": "40h per job", "faults.cuda.mtbf": f"{40 / 3!r}h per job"}
        | {"faults.ecc_nvlink.confined": 0.5, "faults.cuda.confined": 1.0}
        | {"isolation.automatic.names_node": 0.8, "isolation.automatic.delay": "6min", "isolation.delay": "2h"}
        | {"isolation.by_cause": {"ecc_nvlink": "1h"}},
    )
    found = expected(scenario)
    assert found.mtbf_s == pytest.approx(10 * 3600.0)
    mean = 0.25 * (0.4 * 360 + 0.6 * 3600) + 0.75 * (0.8 * 360 + 0.2 * 7200)
    stopped = mean + 45.0 + (scenario.restart.duration.mean or 0.0)
    assert found.phases["isolation"] == pytest.approx(mean / (36_000 + stopped))


def test_spread_of_a_mixture_counts_what_lies_between_its_parts() -> None:
    """December's isolation: .825 at 300 s (fixed), .175 at 3,000 s (lognormal, cv 1): E[X^2] by hand; its deficit."""
    december = load_scenario("c4_dec2023")
    found = expected(december)
    mean, square = 0.825 * 300.0 + 0.175 * 3000.0, 0.825 * 300.0**2 + 0.175 * 2 * 3000.0**2
    down = 45.0 + mean + (december.restart.duration.mean or 0.0)
    p = down / (found.mtbf_s + down)
    by_hand = found.mtbf_s * p**2 * (1 + (square - mean**2) / down**2) / (2 * 30 * 86_400)
    assert found.deficit == pytest.approx(by_hand)


def test_deficit_and_spread_of_a_month() -> None:
    """M p^2 (1 + cv^2) / (2 T) with p = .2366 and cv 1 of isolation: .07 points. One month's total spreads by 3.87."""
    found = expected(load_scenario("c4_june2023"))
    isolation, down = 10_060.20324, 10_060.20324 + 1_745.81646 + 307.181778
    p = down / (39_083.762 + down)
    by_hand = 39_083.762 * p**2 * (1 + (isolation / down) ** 2) / (2 * 30 * 86_400)
    assert found.deficit == pytest.approx(by_hand, rel=1e-6)
    fixed = expected(vary(load_scenario("c4_june2023"), {"isolation.delay": f"{isolation}s"}))
    assert 100 * fixed.sd == pytest.approx(3.3, abs=0.1)
    assert 100 * found.sd == pytest.approx(3.8, abs=0.1)
    assert fixed.deficit < found.deficit
    assert math.isclose(fixed.total, found.total)
