"""One replication: a scenario and the address of its random numbers in, a ledger out."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Generator, Iterator, Sequence
from typing import Any

import simpy

from c4sim.ledger import Ledger, Outage
from c4sim.response import Detection, with_false_alarms
from c4sim.scenario import Scenario
from c4sim.simulation.maintenance import Window, carry_out
from c4sim.simulation.operation import Operation
from c4sim.simulation.recorder import Recorder
from c4sim.simulation.recovery import Recovery
from c4sim.simulation.world import Stop, World
from c4sim.streams import Streams


def run(scenario: Scenario, seed: int = 0, point: int = 0, replication: int = 0, marks: Sequence[float] = ()) -> Ledger:
    """Simulate one replication of the scenario.

    The job starts healthy at time 0 with its first checkpoint durable, and runs until its horizon, until its work is
    done, or until a named reason ends it. marks: further times, s, at which every interval of the ledger is cut (ends
    of months).
    """
    scenario = with_false_alarms(scenario)
    ledger = Ledger(causes=tuple(scenario.faults), start=scenario.warmup)
    cuts = sorted({scenario.warmup, *marks} - {0.0})
    env = simpy.Environment()
    streams = Streams(seed, point, replication)
    world = World(scenario, streams, ledger, Recorder(ledger, cuts))
    with _no_garbage_collection():
        env.run(until=env.process(job_process(env, world, scenario, streams)))
    ledger.end = world.now
    world.fleet.advance(world.now)
    ledger.outages = [Outage(o.unit, o.out_s, o.back_s) for o in world.fleet.outages]
    return ledger


@contextlib.contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """A run makes thousands of small objects and no cycles: looking for some would cost a tenth of its time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def job_process(
    env: simpy.Environment, world: World, scenario: Scenario, streams: Streams
) -> Generator[simpy.Event, Any, None]:
    """The SimPy process of the job: work, answer what stopped it, work again.

    Nothing else happens between two disturbances, so a stretch with its answer is one computed wake-up; the fleet is
    passive and lets happen what is due when the job asks it.
    """
    detection = Detection(scenario, streams)
    operation = Operation(world, scenario, streams, detection)
    recovery = Recovery(world, scenario, streams, operation, detection)
    while not world.ended:
        stopped = operation.run()
        if isinstance(stopped, Window):
            stopped = carry_out(stopped, world, operation, recovery)
        if isinstance(stopped, Stop):
            recovery.answer(stopped)
        yield env.timeout(max(world.now - env.now, 0.0))
