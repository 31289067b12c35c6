"""`c4sim plan spares`."""

from typing import TYPE_CHECKING

from c4sim.cli import readers
from c4sim.cli.words import Grammar, Words, read

if TYPE_CHECKING:
    from c4sim.studies.plan_spares import SparesPlan

DEFAULT_PROBABILITY = 0.99
DEFAULT_REPLICATIONS = 16

HELP = """\
usage: c4sim plan spares [scenario=NAME] [KEY=VALUE...] [OPTION=VALUE...]

The fewest spares, in one shared pool, with which the job has all its nodes in a given share of the time: in closed form
(Poisson or birth-death law of the nodes down; Erlang's loss formula on the operating clock) and by simulation of the
scenario as it stands, after a warm-up.

  c4sim plan spares 'faults.crash.rate=6.5 per 1000 node-days' job.nodes=512 repair.duration=2d probability=0.95

options
  probability=P         share of time in which the job must have its nodes (0.99)
  replications=N        simulated runs for each number of spares tried (16)
  seed=N                random streams are keyed on it (0)
  workers=N             processes (all cores)
  format=text|json      json: one document on stdout
  --config-dir DIR      your own YAML groups, looked at before c4sim's
"""


def _grammar() -> Grammar:
    from c4sim.cli.common import CONFIG_DIR, FORMAT, SEED, WORKERS

    options = {"probability": readers.probability, "replications": readers.whole(2, 100_000)}
    return Grammar(options={**FORMAT, **SEED, **WORKERS, **options}, texts=CONFIG_DIR)


def run(words: list[str]) -> int:
    """Run the verb."""
    from c4sim.cli.common import scenario_of
    from c4sim.executors import cpu_count
    from c4sim.studies.plan_spares import plan_spares

    said = read(words, _grammar())
    plan = plan_spares(
        scenario_of(said),
        said.options.get("probability", DEFAULT_PROBABILITY),
        replications=said.options.get("replications", DEFAULT_REPLICATIONS),
        seed=said.options.get("seed", 0),
        workers=said.options.get("workers", cpu_count()),
    )
    _show(plan, said)
    return 0


def _show(plan: "SparesPlan", said: Words) -> None:
    from c4sim.cli.messages import say
    from c4sim.cli.output import number, print_json, print_table

    if said.options.get("format") == "json":
        print_json(plan.as_document())
        return
    print(f"spares for {100 * plan.probability:g} % of the time: {_or_none(plan.closed_form)} in closed form, ", end="")
    print(f"{_or_none(plan.simulated)} simulated (clock: {plan.clock})")
    crews = "unlimited crews" if plan.crews is None else f"{plan.crews} crews"
    print(f"offered load of the repair shop: {plan.offered_load:.3f} erlang, {crews}")
    metric = "probability_job_has_nodes"
    rows = [
        (str(c.spares), number(c.closed_form, metric), *(number(x, metric) for x in (v.mean, v.low, v.high)))
        for c in plan.candidates
        for v in [c.simulated]
    ]
    if rows:
        print_table(("spares", "closed form", "simulated", "95 % from", "to"), rows)
    for warning in plan.warnings:
        say(f"warning: {warning}")


def _or_none(spares: int | None) -> str:
    return "none" if spares is None else str(spares)
