"""Small scenarios and short ledgers for tests of the engine."""

from typing import Any

from c4sim.ledger import Ledger, Phase
from c4sim.scenario import Scenario, validate
from c4sim.simulation import run

SCRIPTED: dict[str, Any] = {
    "horizon": "10000s",
    "job": {"nodes": 4},
    "checkpoint": {"interval": "600s", "write": "60s"},
    "spares": {"per_pool": None, "total": 1},
    "repair": {"duration": "1000s"},
    "detection": {"delay": "100s"},
    "isolation": {"delay": "200s"},
    "restart": {"duration": "50s"},
    "faults": {"crash": {}, "hang": {"effect": "hang"}, "user": {"scope": "job", "confined": 0.0}},
}


def scripted(*faults: tuple[float, int, str], **sections: Any) -> Scenario:
    """A job of 4 nodes with one spare that suffers exactly these faults: (time in s, node, class)."""
    lines = [{"time": f"{time!r}s", "node": node, "kind": kind} for time, node, kind in faults]
    return validate({**SCRIPTED, "fault_list": lines, **sections})


def log(ledger: Ledger) -> list[tuple[float, float, str]]:
    """(start, end, phase) of every interval."""
    return [(row.start, row.end, Phase(row.phase).label) for row in ledger.intervals]


def play(*faults: tuple[float, int, str], **sections: Any) -> Ledger:
    """Run `scripted(...)` once."""
    return run(scripted(*faults, **sections))


def held(ledger: Ledger) -> float:
    """Seconds that all intervals together hold: of a running one productive, stall and slowdown, else its length."""
    return sum(
        row.productive + row.stall + row.slowdown if row.phase == Phase.PRODUCTIVE else row.end - row.start
        for row in ledger.intervals
    )
