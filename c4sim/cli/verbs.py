"""The verbs, in the order of the overview."""

VERBS = {
    "reproduce": "June and December 2023 beside the published table, with figures",
    "run": "simulate one scenario, or a sweep with -m",
    "compare": "what changes under alternatives, on common random numbers",
    "sensitivity": "which assumed input matters most",
    "plan": "how many spares, how often to save, which limit for a watchdog",
    "detect": "who is slow, who hangs, who is only a victim",
    "calibrate": "where the scenarios of the record come from",
    "validate": "published outcomes of other clusters beside their simulation",
    "check": "has the simulated downtime of recorded baselines changed? (for CI)",
}

_HEAD = """\
c4sim: how much of a large training job's time is lost, to what, and which lever wins it back

usage: c4sim VERB [WORDS...]        c4sim VERB --help        c4sim --version
"""

_TAIL = """
Scenario keys are set as key=value in Hydra's grammar: checkpoint.interval=10min detection=c4d
Exit codes: 0 fine, 1 failed or changed, 2 bad input, 3 undecided. Results go to stdout, messages to stderr."""


def overview() -> str:
    """The text of `c4sim --help`."""
    width = max(len(verb) for verb in VERBS)
    lines = "\n".join(f"  {verb:<{width}}  {what}" for verb, what in VERBS.items())
    return f"{_HEAD}\n{lines}\n{_TAIL}"
