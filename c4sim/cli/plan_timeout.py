"""`c4sim plan timeout`."""

from typing import TYPE_CHECKING

from c4sim.cli import readers
from c4sim.cli.words import Grammar, Words, read

if TYPE_CHECKING:
    from c4sim.studies.plan_timeout import TimeoutPlan

DEFAULT_REPLICATIONS = 100

HELP = """\
usage: c4sim plan timeout [scenario=NAME] [KEY=VALUE...] [OPTION=VALUE...]

The best limit of a watchdog (detection.delay): too long waits for every hang, too short kills jobs that only paused.
Needs a fault class with effect=hang and the pauses of a healthy job.

  c4sim plan timeout faults.crash.effect=hang 'faults.crash.mtbf=24h per job' checkpoint.interval=20min \\
      restart.duration=5min detection.delay=10min \\
      'pauses={rate: 10 per job-hour, law: lognormal, mean: 33s, cv: 1.31}'

options
  limits=A,B,C          limits to simulate (a quarter to four times the best)
  replications=N        simulated runs for each limit (100)
  seed=N                random streams are keyed on it (0)
  workers=N             processes (all cores)
  format=text|json      json: one document on stdout
  --config-dir DIR      your own YAML groups, looked at before c4sim's
"""


def _grammar() -> Grammar:
    from c4sim.cli.common import CONFIG_DIR, FORMAT, SEED, WORKERS

    options = {"limits": readers.durations, "replications": readers.whole(2, 1_000_000)}
    return Grammar(options={**FORMAT, **SEED, **WORKERS, **options}, texts=CONFIG_DIR)


def run(words: list[str]) -> int:
    """Run the verb."""
    from c4sim.cli.common import scenario_of
    from c4sim.executors import cpu_count
    from c4sim.studies.plan_timeout import plan_timeout

    said = read(words, _grammar())
    plan = plan_timeout(
        scenario_of(said),
        said.options.get("limits"),
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
    print(f"best limit {plan.best:.4g} s in closed form, {plan.simulated_best:.4g} s of the limits simulated")
    print(f"limits from {low:.4g} s to {high:.4g} s cost at most 1 % more than the best")
    print(f"{plan.hangs_per_day:.3g} hangs and, at the best limit, {plan.false_alarms_per_day:.3g} false alarms a day")
    rows = [
        (f"{cost.limit:.4g} s", *(number(value, "cost_fraction") for value in values))
        for cost in plan.tried
        for values in [(cost.closed_form, cost.simulated.value, cost.simulated.low, cost.simulated.high)]
    ]
    print_table(("limit", "cost, closed form", "simulated", "95 % from", "to"), rows)
    print("cost: detection, and restart and lost work of false alarms, per operating time")
    for warning in plan.warnings:
        say(f"warning: {warning}")
