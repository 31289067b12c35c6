"""The shipped scenarios: complete, equal to the closed forms behind them, honest about where values come from."""

import math
from typing import Any

import pytest
import yaml

from c4sim.configure import load_scenario, scenario_names
from c4sim.configure.files import shipped_folder
from c4sim.scenario import Scenario
from c4sim.scenario.faults import FaultClass
from c4sim.scenario.values import Model
from c4sim.theory.calibration import LaterMonth, MonthShares, calibrate
from c4sim.units import parse_duration

HOUR = 3600.0
MONTH = 30 * 24 * HOUR
# Published shares of June 2023's wall time and the changes to December (arXiv:2406.04594).
JUNE = MonthShares(lost_work=0.0753, detection=0.0341, isolation=0.1965, restart=0.0060)
DECEMBER = LaterMonth(lost_work_factor=33, rate_factor=3.33, interval=600, write=0, stopped=0.0116 - 0.0753 / 33)
ISOLATION_POINTS = {"ecc_nvlink": 8.34, "cuda": 4.19, "ccl_timeout": 3.0, "ack_timeout": 1.8, "unknown": 2.29}
C4 = [name for name in scenario_names() if name.startswith("c4_")]


def document(path: str) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load((shipped_folder() / path).read_text())
    return content


def keys_of(model: type[Model]) -> set[str]:
    return set(model.model_fields)


def test_names() -> None:
    names = set(scenario_names())
    assert {"single_class", "c4_june2023", "c4_dec2023", "c4_4096"} <= names
    assert {"c4_june2023_calendar", "c4_dec2023_calendar"} <= names


def test_primary_file_names_every_key() -> None:
    primary = document("c4sim.yaml")
    primary.pop("defaults")
    assert set(primary) == keys_of(Scenario)
    for name, value in Scenario().model_dump().items():
        section = getattr(Scenario(), name)
        if isinstance(section, Model):
            assert set(primary[name]) == keys_of(type(section)), name
        else:
            assert name in primary, value


def test_fault_classes_name_every_key() -> None:
    for path in ("scenario/single_class.yaml", "scenario/c4_june2023.yaml"):
        for fault in document(path)["faults"].values():
            assert set(fault) == keys_of(FaultClass)


@pytest.mark.parametrize("group", ["detection", "isolation"])
def test_group_options_name_every_key(group: str) -> None:
    section = type(getattr(Scenario(), group))
    for path in (shipped_folder() / group).glob("*.yaml"):
        assert set(document(f"{group}/{path.name}")[group]) == keys_of(section), path


def test_single_class_is_the_default_scenario() -> None:
    assert load_scenario("single_class").digest() == Scenario().digest()
    assert load_scenario("single_class").name == "single_class"


@pytest.mark.parametrize("name", scenario_names())
def test_document_validates_to_the_same_scenario(name: str) -> None:
    scenario = load_scenario(name)
    assert Scenario.model_validate(scenario.as_document()) == scenario
    assert scenario.name == name


@pytest.mark.parametrize(
    ("reading", "june", "december"),
    [
        ("operating", "c4_june2023", "c4_dec2023"),
        ("calendar", "c4_june2023_calendar", "c4_dec2023_calendar"),
    ],
)
def test_values_are_the_closed_form(reading: Any, june: str, december: str) -> None:
    expected = calibrate(JUNE, DECEMBER, MONTH, reading)
    first, later = load_scenario(june), load_scenario(december)
    close = {"rel_tol": 1e-7, "abs_tol": 0.0}
    assert math.isclose(first.detection.delay.mean or 0.0, expected.detection, **close)
    assert math.isclose(first.isolation.delay.mean or 0.0, expected.isolation, **close)
    assert math.isclose(first.restart.duration.mean or 0.0, expected.restart, **close)
    assert math.isclose(float(first.checkpoint.interval), expected.cycle, **close)
    assert later.restart.duration == first.restart.duration
    for scenario, mtbf in ((first, expected.mtbf), (later, expected.later_mtbf)):
        for cause, points in ISOLATION_POINTS.items():
            given = scenario.faults[cause].mtbf
            assert given is not None
            assert given.scope == "job"
            assert math.isclose(given.seconds, mtbf * sum(ISOLATION_POINTS.values()) / points, **close)


def test_record_in_hours() -> None:
    """The figures of the record's arithmetic: 50.6 or 65.7 failures, MTBF 10.86, 8.37 and 36.15 h."""
    operating, calendar = (calibrate(JUNE, DECEMBER, MONTH, reading) for reading in ("operating", "calendar"))
    assert (round(operating.failures, 1), round(calendar.failures, 1)) == (50.6, 65.7)
    assert (round(operating.mtbf / HOUR, 2), round(calendar.mtbf / HOUR, 2)) == (10.86, 8.37)
    assert round(operating.later_mtbf / HOUR, 2) == 36.15


def test_4096_gpus_die_forty_times_a_month() -> None:
    scenario = load_scenario("c4_4096")
    rates = [1.0 / fault.mtbf.seconds for fault in scenario.faults.values() if fault.mtbf is not None]
    stopped = sum(
        delay.mean or 0.0 for delay in (scenario.detection.delay, scenario.isolation.delay, scenario.restart.duration)
    )
    # Deaths per operating second, times the share of the month in which the job operates.
    deaths = MONTH / (1.0 / sum(rates) + stopped)
    assert math.isclose(deaths, 40.0, rel_tol=1e-6)
    shares = [rate / sum(rates) for rate in rates]
    assert shares == pytest.approx([0.275, 0.125, 0.2, 0.275, 0.125], rel=1e-6)
    assert scenario.job.nodes * scenario.job.gpus_per_node == 4096


@pytest.mark.parametrize("name", scenario_names())
def test_provenance_names_existing_keys(name: str) -> None:
    scenario = load_scenario(name)
    plain = scenario.as_document()
    for key in scenario.provenance:
        node: Any = plain
        for step in key.split("."):
            assert isinstance(node, dict)
            assert step in node, key
            node = node[step]


@pytest.mark.parametrize("name", C4)
def test_every_input_of_the_record_says_where_it_comes_from(name: str) -> None:
    """Whatever differs from the plain default scenario has a provenance, at its key or inside it."""
    scenario = load_scenario(name)
    plain, default = scenario.as_document(), Scenario().as_document()
    fault_default = FaultClass().model_dump(mode="json")
    for section, content in plain.items():
        if section in ("name", "provenance"):
            continue
        entries = content.items() if isinstance(content, dict) else [("", content)]
        for key, value in entries:
            if section == "faults":
                changed = [f"faults.{key}.{k}" for k, v in value.items() if v != fault_default[k]]
            else:
                before = default[section][key] if key else default[section]
                changed = [f"{section}.{key}".rstrip(".")] if value != before else []
            for path in changed:
                assert any(known == path or known.startswith(path + ".") for known in scenario.provenance), path


def value_at(document: dict[str, Any], key: str) -> Any:
    node: Any = document
    for step in key.split("."):
        node = node[step]
    return node


def as_number(text: Any) -> float:
    if not isinstance(text, str):
        return float(text)
    return parse_duration(text.partition(" per ")[0])


@pytest.mark.parametrize("name", C4)
def test_ranges_hold_their_value_and_points_are_geometric_means(name: str) -> None:
    """The point of an assumed input is fixed by its range beforehand, to the two digits it is given with."""
    scenario = load_scenario(name)
    plain = scenario.as_document()
    for key, origin in scenario.provenance.items():
        if origin.range is None:
            continue
        low, high = (as_number(end) for end in origin.range)
        value = as_number(value_at(plain, key))
        assert low * (1 - 1e-9) <= value <= high * (1 + 1e-9), key
        if origin.kind == "assumed":
            assert value == pytest.approx(math.sqrt(low * high), rel=0.01), key


def test_swapping_a_group_leaves_nothing_of_the_old_one() -> None:
    swapped, december = load_scenario("c4_june2023", "isolation=c4d", "detection=c4d"), load_scenario("c4_dec2023")
    assert (swapped.isolation, swapped.detection) == (december.isolation, december.detection)
    for key, origin in swapped.provenance.items():
        if key.startswith(("isolation.", "detection.")):
            assert origin == december.provenance[key]
            assert origin.kind == "assumed"


@pytest.mark.parametrize("name", scenario_names())
def test_no_shipped_value_claims_to_be_the_users(name: str) -> None:
    assert all(origin.kind != "user" for origin in load_scenario(name).provenance.values())
