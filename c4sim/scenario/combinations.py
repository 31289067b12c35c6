"""Checks across fields: combinations that contradict each other or cannot run.

Each check yields (paths that it reads, the first one to blame; what is wrong; the value as understood).
"""

import difflib
import math
import re
from collections.abc import Callable, Iterator
from typing import Any

from c4sim.scenario.cluster import MOST_NODES
from c4sim.scenario.faults import FaultClass
from c4sim.scenario.lives import log_arrhenius, most_expected
from c4sim.scenario.model import Scenario
from c4sim.scenario.response import Layer
from c4sim.scenario.saves import check_saves
from c4sim.scenario.values import spread_problem

Found = tuple[tuple[str, ...], str, Any]
MOST_FAULTS = 1e8  # expected in one run: more is a slip of a unit, and would run for hours
BLIND_TO_SLOWNESS = frozenset(
    {"process_exit", "heartbeat", "collective_watchdog", "second_monitor", "elastic_agent", "scheduler"}
)
MOST_PARTS = 1e7
LARGEST_FACTOR = 1e6
FALSE_ALARM = "false_alarm"
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def nearest(name: str, known: list[str]) -> str:
    """'; did you mean X?' for the valid name nearest to `name`, or the empty text."""
    close = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean '{close[0]}'?" if close else ""


def _check_name(s: Scenario) -> Iterator[Found]:
    if not s.name.isprintable() or not s.name.strip():
        yield ("name",), "must be text that can be printed on one line", s.name


def _check_window(s: Scenario) -> Iterator[Found]:
    if (s.horizon is None) == (s.work is None):
        yield ("horizon", "work"), "give either horizon or work, not both and not neither", None
    if s.horizon is not None and not s.horizon > s.warmup:
        yield ("horizon", "warmup"), f"must be longer than warmup ({s.warmup:g} s)", s.horizon
    if s.work is not None and not s.work > 0.0:
        yield ("work",), "must be longer than 0", s.work
    if s.work is not None and s.warmup > 0.0:
        yield ("warmup", "work"), "a run of fixed work has no warmup: its metrics cover all of it", s.warmup


def _check_places(s: Scenario) -> Iterator[Found]:
    nodes, most, jobs = s.cluster.nodes, s.job.max_nodes, s.job.nodes
    if nodes is not None and jobs > nodes:
        yield ("job.nodes", "cluster.nodes"), f"the job needs more nodes than cluster.nodes = {nodes}", jobs
    if most is not None and most < jobs:
        yield ("job.max_nodes", "job.nodes"), f"must be at least job.nodes = {jobs}", most
    spares = total_spares(s)
    if spares is None:
        return
    for key, given in (("cluster.nodes", nodes), ("job.max_nodes", most)):
        if given is not None and jobs <= given < jobs + spares:
            paths = (key, "job.nodes", "spares.total", "spares.per_pool", "spares.pool_nodes")
            yield paths, f"must be at least job.nodes + spares = {jobs} + {spares} = {jobs + spares}", given


def total_spares(s: Scenario) -> int | None:
    """Spares of all pools together; None when they are unlimited."""
    if s.spares.total is not None:
        return None if s.spares.total == "unlimited" else s.spares.total
    if s.spares.per_pool is None or s.spares.per_pool == "unlimited":
        return None
    return math.ceil(s.job.nodes / s.spares.pool_nodes) * s.spares.per_pool


def _check_spares(s: Scenario) -> Iterator[Found]:
    if (s.spares.total is None) == (s.spares.per_pool is None):
        yield ("spares.total", "spares.per_pool"), "give either spares.total or spares.per_pool", s.spares.total
    if (total_spares(s) or 0) > MOST_NODES:
        key = "per_pool" if s.spares.total is None else "total"
        read = (f"spares.{key}", "spares.per_pool", "spares.pool_nodes", "job.nodes")
        yield read, f"at most {MOST_NODES} spares, or unlimited", total_spares(s)
    if s.spares.state == "hot" and total_spares(s) is None:
        paths = ("spares.state", "spares.total", "spares.per_pool")
        yield paths, "unlimited spares cannot be hot: use shelf, or a number of spares", "hot"


def _check_repair(s: Scenario) -> Iterator[Found]:
    if s.repair.stages is None:
        return
    for key, given, unset in (("duration", s.repair.duration.mean, 0.0), ("crews", s.repair.crews, "unlimited")):
        if given != unset:
            yield (f"repair.{key}", "repair.stages"), f"each of repair.stages has its own {key}", given


def _check_counts(s: Scenario) -> Iterator[Found]:
    """Lengths so short that a run would hold too many of them."""
    run = s.horizon or s.work or 0.0
    parts = {f"faults.{name}.clustering.window": f.clustering.window for name, f in s.faults.items() if f.clustering}
    if s.maintenance is not None:
        parts["maintenance.every"] = s.maintenance.every
    for path, length in parts.items():
        if run / length > MOST_PARTS:
            yield (path, "horizon", "work"), f"is {run / length:.2g} times in one run; at most {MOST_PARTS:g}", length


def _check_classes(s: Scenario) -> Iterator[Found]:
    for name, fault in s.faults.items():
        at = f"faults.{name}"
        if not _NAME.fullmatch(name):
            yield (at,), "a class name has letters, digits and _ only, and begins with a letter", name
        if name == FALSE_ALARM and s.pauses is not None:
            yield (at, "pauses"), "that name is kept for the false alarms of `pauses`", name
        wrong = [*_check_law(at, fault), *_check_factors(at, fault)]
        yield from wrong
        expected = 0.0 if wrong else most_expected(s, fault)
        if expected > MOST_FAULTS:
            paths = (at, "horizon", "work", "job.nodes", "job.gpus_per_node", "job.links_per_node", "cluster.lemons")
            yield paths, f"some {expected:.2g} faults in one run; at most {MOST_FAULTS:g}", None


def _check_law(at: str, fault: FaultClass) -> Iterator[Found]:
    shaped = (f"{at}.law", f"{at}.shape", f"{at}.cv")
    if fault.mtbf is not None and fault.rate is not None:
        yield (f"{at}.mtbf", f"{at}.rate"), "give either mtbf or rate, not both", None
    if fault.law == "exponential" and (fault.shape is not None or fault.cv is not None):
        yield shaped, "an exponential law takes no shape or cv", fault.law
    if fault.law in ("weibull", "gamma", "lognormal") and (fault.shape is None) == (fault.cv is None):
        yield shaped, f"a {fault.law} law needs shape or cv (one of them)", fault.law
    if fault.law == "lognormal" and fault.shape is not None:
        yield (f"{at}.shape",), "a lognormal law takes cv", fault.shape
    spread = spread_problem(fault.law, fault.shape, fault.cv)
    if spread is not None:
        yield (f"{at}.shape" if fault.shape is not None else f"{at}.cv", f"{at}.law"), spread, None
    if fault.values is not None and (fault.mtbf is not None or fault.rate is not None):
        yield (f"{at}.values", f"{at}.mtbf", f"{at}.rate"), "values are whole lives: give no mtbf and no rate", None
    if fault.compound is not None and fault.scope not in ("gpu", "node", "link"):
        paths = (f"{at}.compound", f"{at}.scope")
        yield paths, "compound events take several nodes of a class of scope gpu, node or link", fault.scope
    yield from _check_pairs(at, fault)


def _check_factors(at: str, fault: FaultClass) -> Iterator[Found]:
    """Multipliers that no hardware has: a slip of a unit, and beyond what arithmetic holds."""
    limits = f"at most {LARGEST_FACTOR:g} times more or less"
    if fault.temperature is not None:
        for index, celsius in enumerate(fault.temperature.celsius):
            power = log_arrhenius(fault.temperature, celsius)
            if abs(power) > math.log(LARGEST_FACTOR):
                paths = (f"{at}.temperature.celsius[{index}]", f"{at}.temperature")
                yield paths, f"multiplies the rate by e^{power:.0f}; {limits}", celsius
    if fault.reinforcement is not None and not 1.0 / LARGEST_FACTOR <= fault.reinforcement.factor <= LARGEST_FACTOR:
        yield (f"{at}.reinforcement.factor",), f"changes the rate; {limits}", fault.reinforcement.factor


def _check_pairs(at: str, fault: FaultClass) -> Iterator[Found]:
    """Keys that make sense together only."""
    pairs = (
        ("values", fault.values, "law", "empirical"),
        ("ages", fault.ages, "start", "given"),
        ("slow_factor", fault.slow_factor, "effect", "slow"),
        ("latency", fault.latency, "effect", "corruption"),
    )
    for key, value, other, wanted in pairs:
        if (value is not None) != (getattr(fault, other) == wanted):
            paths = (f"{at}.{key}", f"{at}.{other}")
            yield paths, f"{key} and {other}={wanted} go together", getattr(fault, other)


def _check_checkpoint(s: Scenario) -> Iterator[Found]:
    c, timeout = s.checkpoint, s.detection.collective_timeout
    if isinstance(c.interval, float) and not c.interval > 0.0:
        yield ("checkpoint.interval",), "must be longer than 0", c.interval
    stall = c.write if c.mode == "blocking" else c.stall
    if timeout is not None and stall is not None and stall >= timeout:
        paths = ("checkpoint.write", "detection.collective_timeout")
        yield (
            paths,
            f"a save that long runs into detection.collective_timeout = {timeout:g} s: every save would kill the job",
            stall,
        )
    if c.mode == "async" and c.tiers is None:
        for key in ("stall", "persist", "slowdown"):
            if getattr(c, key) is None:
                yield (
                    (f"checkpoint.{key}", "checkpoint.mode"),
                    "must be given for mode=async (0 is an answer, silence is not)",
                    None,
                )
    if c.mode == "blocking" and c.write is None and c.tiers is None:
        yield ("checkpoint.write", "checkpoint.mode"), "must be given for mode=blocking", None


def _check_references(s: Scenario) -> Iterator[Found]:
    known = list(s.faults)
    for name in s.isolation.by_cause or {}:
        if name not in s.faults:
            yield (f"isolation.by_cause.{name}", "faults"), "no such fault class" + nearest(name, known), name
    for index, fault in enumerate(s.fault_list or ()):
        at = f"fault_list[{index}]"
        if fault.kind not in s.faults:
            yield (f"{at}.kind", "faults"), "no such fault class" + nearest(fault.kind, known), fault.kind
        if fault.node >= s.job.nodes:
            yield (f"{at}.node", "job.nodes"), f"the job has nodes 0 to {s.job.nodes - 1}", fault.node


def _check_layers(s: Scenario) -> Iterator[Found]:
    layers = s.detection.layers
    if layers is None:
        return
    if not layers or layers[-1].coverage < 1.0 or layers[-1].symptoms is not None:
        yield (
            ("detection.layers",),
            "the last layer must cover everything (coverage 1, no symptoms), or a hang is never seen",
            None,
        )
        return
    slow = [name for name, fault in s.faults.items() if fault.effect == "slow"]
    if slow and layers[-1].kind in BLIND_TO_SLOWNESS:
        paths = ("detection.layers", "faults")
        yield (
            paths,
            f"the last layer ({layers[-1].kind}) cannot see a slow node, and faults.{slow[0]} has effect slow",
            None,
        )
    for index, layer in enumerate(layers):
        yield from _check_limits(s, index, layer)


def _check_limits(s: Scenario, index: int, layer: Layer) -> Iterator[Found]:
    """A watchdog for silence whose limit is shorter than what the healthy job does would kill it every time."""
    if layer.kind not in BLIND_TO_SLOWNESS - {"process_exit", "scheduler", "heartbeat"} or layer.coverage == 0.0:
        return
    delay = layer.delay.mean if layer.delay.law == "fixed" else None
    stall = s.checkpoint.write if s.checkpoint.mode == "blocking" else s.checkpoint.stall
    evaluation = None if s.evaluation is None else s.evaluation.duration
    takes = {"first_step": s.restart.first_step, "save": stall, "evaluation": evaluation}
    for phase, duration in takes.items():
        own = None if layer.limits is None else getattr(layer.limits, phase)
        limit = delay if own is None else own
        if duration and limit is not None and duration >= limit:
            at = f"detection.layers[{index}]"
            paths = (
                f"{at}.limits.{phase}" if own is not None else f"{at}.delay",
                "checkpoint",
                "restart",
                "evaluation",
            )
            yield paths, f"kills every {phase} of {duration:g} s; give limits.{phase} longer than that", limit


def _check_restart(s: Scenario) -> Iterator[Found]:
    meeting = s.restart.rendezvous
    if meeting is not None and meeting.failure >= 1.0 and s.restart.attempts is None:
        yield (
            ("restart.rendezvous.failure", "restart.attempts"),
            "a rendezvous that always fails needs restart.attempts",
            1.0,
        )
    if meeting is not None and (meeting.pod_start is None) != (meeting.limit is None):
        yield ("restart.rendezvous.pod_start", "restart.rendezvous.limit"), "pod_start and limit go together", None


def _check_pauses(s: Scenario) -> Iterator[Found]:
    pauses = s.pauses
    if pauses is None:
        return
    if (pauses.cv is None) != (pauses.law in ("fixed", "exponential")):
        yield (
            ("pauses.cv", "pauses.law"),
            f"a law '{pauses.law}' " + ("needs cv" if pauses.cv is None else "takes no cv"),
            pauses.cv,
        )
    if s.detection.layers is None and s.detection.delay.mean == 0.0:
        paths = ("pauses", "detection.delay", "detection.layers")
        yield paths, "need a limit to outlast: give detection.delay or detection.layers", None
    if pauses.rate.scope != "job":
        yield ("pauses.rate",), "pauses stop the whole job: write the rate per job, as in '10 per job-hour'", None


CROSS_CHECKS: tuple[Callable[[Scenario], Iterator[Found]], ...] = (
    _check_name,
    _check_window,
    _check_places,
    _check_spares,
    _check_repair,
    _check_counts,
    _check_classes,
    _check_checkpoint,
    check_saves,
    _check_references,
    _check_layers,
    _check_restart,
    _check_pauses,
)
