"""A small reproduction, kept: tables, levers and band as they were when somebody last looked at them.

After a wanted change: C4SIM_UPDATE_GOLDEN=1 pytest tests/golden, then read the difference in version control.
"""

import json
import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reproduce_tools import document

from c4sim.experiment.documents import flatten

KEPT = Path(__file__).parent / "reproduce_small.json"
PARTS = ("replications", "tables", "lost_work_fall", "optima", "levers", "others")
# Logarithms and exponentials differ in their last bits between processors.
TOLERANCE = 1e-9


def leaves(content: Any) -> dict[str, Any]:
    """Dotted path -> number or text; places in lists are steps too."""

    def keyed(value: Any) -> Any:
        if isinstance(value, list):
            value = {str(place): inner for place, inner in enumerate(value)}
        return {key: keyed(inner) for key, inner in value.items()} if isinstance(value, dict) else value

    return flatten(keyed(content))


def differences(kept: dict[str, Any], found: dict[str, Any]) -> Iterator[str]:
    for path in kept.keys() | found.keys():
        was, now = kept.get(path), found.get(path)
        both = isinstance(was, float) and isinstance(now, float)
        if was != now and not (both and math.isclose(was, now, rel_tol=TOLERANCE, abs_tol=TOLERANCE)):
            yield f"{path}: {was} -> {now}"


def test_a_small_reproduction_is_what_it_was() -> None:
    found = {name: document()[name] for name in PARTS} | {"band": document()["band"]["width"]}
    if os.environ.get("C4SIM_UPDATE_GOLDEN"):
        KEPT.write_text(json.dumps(found, indent=1) + "\n")
    changed = sorted(differences(leaves(json.loads(KEPT.read_text())), leaves(found)))
    assert not changed, "\n".join(changed[:20])


def test_the_comparison_sees_a_change_in_the_eighth_digit() -> None:
    kept = {"a": {"b": [1.0, 2.0]}}
    assert not list(differences(leaves(kept), leaves({"a": {"b": [1.0, 2.0 + 1e-10]}})))
    assert list(differences(leaves(kept), leaves({"a": {"b": [1.0, 2.0 + 1e-7]}}))) == ["a.b.1: 2.0 -> 2.0000001"]
    assert list(differences(leaves(kept), leaves({"a": {"b": [1.0]}})))
