"""`c4sim plan timeout`."""

from typing import TYPE_CHECKING

from c4sim.cli import readers
from c4sim.cli.words import Grammar, Words, read

if TYPE_CHECKING:
    from c4sim.studies.plan_timeout import TimeoutPlan

DEFAULT_REPLICATIONS = 100

HELP = """\
usage: c4sim plan timeout [scenario=NAME] [KEY=VALUE...] [OPTION=VALUE...]

The limit of a watchdog (detection.delay) that loses least: too long waits for every hang, too short kills jobs that
only paused. In closed form and by simulation on common random numbers. Needs `pauses` and a class with effect=hang.

  c4sim plan timeout faults.crash.effect=hang 'faults.crash.rate=1 per job-day' checkpoint.interval=20min \\
      restart.duration=5min 'pauses={rate: 10 per job-hour, law: lognormal, mean: 33s, cv: 1.31}'

options
  replications=N        simulated runs for each limit tried (100)
  seed=N                random streams are keyed on it (0)
  workers=N             processes (all cores)
  format=text|json      json: one document on stdout
  --config-dir DIR      your own YAML groups, looked at before c4sim's
"""


def _grammar() -> Grammar:
    from c4sim.cli.common import CONFIG_DIR, FORMAT, SEED, WORKERS

    options = {"replications": readers.whole(2, 100_000)}
    return Grammar(options={**FORMAT, **SEED, **WORKERS, **options}, texts=CONFIG_DIR)


def run(words: list[str]) -> int:
    """Run the verb."""
    from c4sim.cli.common import scenario_of
    from c4sim.executors import cpu_count
    from c4sim.studies.plan_timeout import plan_timeout

    said = read(words, _grammar())
    plan = plan_timeout(
        scenario_of(said),
        replications=said.options.get("replications", DEFAULT_REPLICATIONS),
        seed=said.options.get("seed", 0),
        workers=said.options.get("workers", cpu_count()),
    )
    _show(plan, said)
    return 0


def _show(plan: "TimeoutPlan", said: Words) -> None:
    from c4sim.cli.messages import say
    from c4sim.cli.output import number, print_json, print_table

    if said.options.get("format") == "json":
        print_json(plan.as_document())
        return
    low, high = plan.flat_region
    print(f"best limit: {plan.best:.0f} s in closed form, {plan.simulated_best:.0f} s of those simulated")
    print(f"within 1 % of the best: {low:.0f} s to {high:.0f} s")
    print(f"hangs a day of operation: {plan.hangs_per_day:.3g}; false alarms at the best limit: ", end="")
    print(f"{plan.false_alarms_per_day:.3g}")
    metric = "downtime_fraction"
    rows = [
        (
            f"{c.limit:.0f}",
            *(number(x, metric) for x in (c.closed_form, c.simulated.value, c.simulated.low, c.simulated.high)),
        )
        for c in plan.tried
    ]
    print_table(("limit, s", "closed form", "simulated", "95 % from", "to"), rows)
    for warning in plan.warnings:
        say(f"warning: {warning}")
