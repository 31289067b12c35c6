"""`c4sim plan checkpoint`."""

from typing import TYPE_CHECKING

from c4sim.cli import readers
from c4sim.cli.words import Grammar, Words, read

if TYPE_CHECKING:
    from c4sim.studies.plan_checkpoint import CheckpointPlan

DEFAULT_REPLICATIONS = 16

HELP = """\
usage: c4sim plan checkpoint [scenario=NAME] [KEY=VALUE...] [OPTION=VALUE...]

The work between saves that keeps most of the job's time: exact optimum, Young and Daly for the cost of a save and the
job's MTBF, beside simulation of the scenario as it stands, all intervals on the same faults. The interval is work
between saves; from the start of one save to the next it is longer by the save.

  c4sim plan checkpoint 'faults.crash.mtbf=1h per job' checkpoint.write=600s
  c4sim plan checkpoint 'faults.crash.mtbf=3h per job' checkpoint.mode=async checkpoint.stall=2s \\
      checkpoint.persist=4min checkpoint.slowdown=0.05

options
  replications=N        simulated runs for each interval tried (16)
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
    from c4sim.studies.plan_checkpoint import plan_checkpoint

    said = read(words, _grammar())
    plan = plan_checkpoint(
        scenario_of(said),
        replications=said.options.get("replications", DEFAULT_REPLICATIONS),
        seed=said.options.get("seed", 0),
        workers=said.options.get("workers", cpu_count()),
    )
    _show(plan, said)
    return 0


def _show(plan: "CheckpointPlan", said: Words) -> None:
    from c4sim.cli.messages import say
    from c4sim.cli.output import number, print_json, print_table

    if said.options.get("format") == "json":
        print_json(plan.as_document())
        return
    model = plan.model
    low, high = plan.flat_region
    print(f"work between saves: exact {model.exact:.0f} s, Daly {model.daly:.0f} s, Young {model.young:.0f} s")
    print(
        f"simulated best: {plan.simulated_best:.0f} s (top of a curve through the simulated efficiencies, whose ",
        end="",
    )
    print(f"differences next to it are noise); within 1 % of the best: {low:.0f} s to {high:.0f} s")
    print(f"a save costs {model.cost:.1f} s, the job fails every {model.mtbf:.0f} s of operation", end="")
    print(f" and then stands still for {plan.down_s:.0f} s")
    for need in model.needs if len(model.needs) > 1 else ():
        used = "no fault needs it" if need.mtbf is None else f"needed every {need.mtbf:.0f} s"
        alone = "" if need.exact is None else f", alone best every {need.exact:.0f} s"
        print(f"tier {need.name}: saves every {need.every * plan.simulated_best:.0f} s of work, {used}{alone}")
    rows = [
        (
            f"{t.interval:.0f}",
            "" if t.closed_form is None else number(t.closed_form, "ettr"),
            *(number(x, "ettr") for x in (t.simulated.mean, t.simulated.low, t.simulated.high)),
        )
        for t in plan.tried
    ]
    print_table(("interval, s", "closed form", "efficiency", "95 % from", "to"), rows)
    for warning in plan.warnings:
        say(f"warning: {warning}")
