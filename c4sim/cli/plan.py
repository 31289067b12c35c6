"""`c4sim plan`: what to provide so that little time is lost."""

import importlib
from types import ModuleType

PLANS = {
    "spares": "spare nodes needed at a given probability",
    "checkpoint": "the work between saves that keeps most of the time",
    "timeout": "the watchdog's limit that loses least",
}
_LINES = "\n".join(f"  c4sim plan {plan:<11} {what}" for plan, what in PLANS.items())

HELP = f"""\
usage: c4sim plan PLAN [scenario=NAME] [KEY=VALUE...] [OPTION=VALUE...]        c4sim plan PLAN --help

Closed forms beside the simulation of the scenario as it stands.

{_LINES}
"""


def help_text(words: list[str]) -> str:
    """The help of the plan that the words name, or of all if they name none. Raises UsageError for another name."""
    named = [word for word in words if not word.startswith("-") and "=" not in word]
    return str(_module(_known(named[0])).HELP) if named else HELP


def run(words: list[str]) -> int:
    """Run the verb."""
    code: int = _module(_known(words[0] if words else "")).run(words[1:])
    return code


def _known(plan: str) -> str:
    if plan not in PLANS:
        from c4sim.cli.words import UsageError
        from c4sim.scenario import Problem
        from c4sim.scenario.checks import nearest

        raise UsageError([Problem("plan", f"must be one of {', '.join(PLANS)}{nearest(plan, list(PLANS))}", plan)])
    return plan


def _module(plan: str) -> ModuleType:
    return importlib.import_module(f"c4sim.cli.plan_{plan}")
