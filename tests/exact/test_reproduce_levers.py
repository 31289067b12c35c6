"""Shapley shares: games of known values, and combinations that change nothing but the levers."""

import numpy as np
import pytest

from c4sim.configure import load_scenario
from c4sim.scenario import Scenario
from c4sim.studies.reproduce_levers import LEVERS, Pulled, combinations, shapley, subsets


def game(names: str, worth: dict[str, float]) -> dict[Pulled, np.ndarray]:
    return {group: np.array([worth.get("".join(sorted(group)), 0.0)]) for group in subsets(names)}


def test_glove_game() -> None:
    """One left glove, two right ones: a pair is worth 1. The left one earns 2/3, each right one 1/6."""
    found = shapley(game("LRS", {"LR": 1.0, "LS": 1.0, "LRS": 1.0}), list("LRS"))
    assert [float(found[name][0]) for name in "LRS"] == pytest.approx([2 / 3, 1 / 6, 1 / 6])


def test_majority_of_weights() -> None:
    """Weights 4, 3, 2, 1 and a quota of 6: of the 24 orders a turns 10, b and c 6 each, d 2."""
    weights = dict(zip("abcd", (4, 3, 2, 1), strict=True))
    worth = {g: np.array([float(sum(weights[name] for name in g) >= 6)]) for g in subsets("abcd")}
    found = shapley(worth, list("abcd"))
    assert [float(found[name][0]) for name in "abcd"] == pytest.approx([5 / 12, 1 / 4, 1 / 4, 1 / 12])


def test_shares_add_up_and_an_idle_lever_earns_nothing() -> None:
    rng = np.random.default_rng(7)
    some = {group: rng.random(5) for group in subsets("abc")}
    worth = {group: some[group - {"d"}] for group in subsets("abcd")}
    found = shapley(worth, list("abcd"))
    assert sum(found.values()) == pytest.approx(worth[frozenset("abcd")] - worth[frozenset()])
    assert found["d"] == pytest.approx(np.zeros(5))


@pytest.fixture(scope="module")
def months() -> tuple[Scenario, Scenario]:
    return load_scenario("c4_june2023"), load_scenario("c4_dec2023")


def test_no_lever_is_june_and_all_are_december(months: tuple[Scenario, Scenario]) -> None:
    found = combinations(*months)
    assert len(found) == 16
    assert len({scenario.digest() for scenario in found.values()}) == 16
    assert found[frozenset()].digest() == months[0].digest()
    assert found[frozenset(LEVERS)].digest() == months[1].digest()


def test_a_lever_changes_its_section_only(months: tuple[Scenario, Scenario]) -> None:
    june, december = (month.as_document() for month in months)
    for name, section in LEVERS.items():
        scenario = combinations(*months)[frozenset({name})]
        document = scenario.as_document()
        changed = {key for key in document if key not in ("name", "provenance") and document[key] != june[key]}
        assert changed == {section}
        assert document[section] == december[section]
        for key, origin in document["provenance"].items():
            source = december if key.startswith(f"{section}.") else june
            assert origin == source["provenance"][key], key
