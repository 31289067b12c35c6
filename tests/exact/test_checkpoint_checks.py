"""What a scenario may not say of checkpoints: each problem is found, with its path, and good scenarios have none."""

from typing import Any

import pytest

from c4sim.scenario import Scenario
from c4sim.scenario.saves import check_saves

SECONDS = {"stall": "1s", "persist": "60s", "slowdown": 0.1}


def found(document: dict[str, Any]) -> list[str]:
    return [paths[0] for paths, _, _ in check_saves(Scenario.model_validate(document))]


def tiers(*given: dict[str, Any], mode: str = "async") -> dict[str, Any]:
    return {"checkpoint": {"mode": mode, "tiers": [{"name": f"t{i}", **tier} for i, tier in enumerate(given)]}}


@pytest.mark.parametrize(
    ("document", "paths"),
    [
        ({}, []),
        (tiers(SECONDS), []),
        (tiers({"stall": "1s", "persist": "0s"}), []),
        (tiers({"bytes_per_gpu": "4 GB", "bandwidth": "2 TB/s"}, mode="blocking"), []),
        (tiers({"stall": "1s", "slowdown": 0.1, "bytes_per_gpu": "4 GB", "node_bandwidth": "2 GB/s"}), []),
        (tiers(), ["checkpoint.tiers"]),
        (tiers({}), [f"checkpoint.tiers[0].{key}" for key in ("stall", "persist", "slowdown")]),
        (tiers({}, mode="blocking"), ["checkpoint.tiers[0].stall"]),
        (tiers(SECONDS, mode="blocking"), ["checkpoint.tiers[0].persist", "checkpoint.tiers[0].slowdown"]),
        (tiers({**SECONDS, "bytes_per_gpu": "4 GB"}), ["checkpoint.tiers[0].bytes_per_gpu"]),
        (tiers({**SECONDS, "bandwidth": "2 TB/s"}), ["checkpoint.tiers[0].bytes_per_gpu"]),
        (tiers(SECONDS, {**SECONDS, "name": "t0"}), ["checkpoint.tiers[1].name"]),
        (tiers({**SECONDS, "every": 512}, {**SECONDS, "every": 256}), []),
        (tiers({**SECONDS, "every": 23}, {**SECONDS, "every": 29}), ["checkpoint.tiers"]),
        (
            {**tiers({**SECONDS, "stall": "11min"}), "detection": {"collective_timeout": "10min"}},
            ["checkpoint.tiers[0].stall"],
        ),
        ({"evaluation": {"every": "0s", "duration": "5s"}}, ["evaluation.every"]),
        ({"checkpoint": {"interval": "young", "write": "60s"}}, []),
        ({"checkpoint": {"interval": "young", "write": "0s"}}, ["checkpoint.interval"]),
        ({"checkpoint": {"interval": "exact", "write": "60s"}, "faults": {"crash": {}}}, ["checkpoint.interval"]),
        ({"checkpoint": {"interval": "daly", "mode": "async", "stall": "0s", "persist": "1min", "slowdown": 0.1}}, []),
    ],
)
def test_problems(document: dict[str, Any], paths: list[str]) -> None:
    assert found(document) == paths
