"""c4sim: a discrete-event simulator of the reliability of large synchronous training jobs.

from c4sim import load_scenario, simulate, compare
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from c4sim.configure import load_scenario
    from c4sim.experiment import compare, simulate

_HOMES = {"load_scenario": "c4sim.configure", "simulate": "c4sim.experiment", "compare": "c4sim.experiment"}

__all__ = ["compare", "load_scenario", "simulate"]


def __getattr__(name: str) -> Any:
    # Each name is imported when first asked for: `import c4sim` alone must stay cheap.
    if name not in _HOMES:
        raise AttributeError(f"module 'c4sim' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_HOMES[name]), name)
