"""Slow parts: what they do to the job, and the record of what was done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from c4sim.synthetic import noise
from c4sim.synthetic.draft import LEAD, Draft
from c4sim.synthetic.truth import EntityType, Fault

Array = NDArray[Any]
Target = Literal["work", "transfer", "input", "clock"]
#: Ranges of the injected factors (log-uniform): own work, and transfer times.
SLOW_WORK, SLOW_LINK = (1.2, 3.0), (1.2, 4.0)
#: A thermal ramp ends at this factor.
RAMP_END = 1.3
#: A flapping link's factor in a bad step.
FLAP = 4.0


@dataclass(frozen=True)
class Injection:
    """A fault and how it acts: ``values`` (T,) on the ``columns`` of the target.

    Work and transfer times are multiplied, input waits and clocks are added to.
    """

    fault: Fault
    target: Target
    columns: Array
    values: Array


class Site:
    """Places that are still free for a fault: each fault takes its workers away."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        dark = draft.dark_worker
        self._seen = (dark.mean(axis=0) < 0.15) & (dark[:LEAD].mean(axis=0) < 0.25)
        self._free = self._seen.copy()

    def take_edges(self, edges: Any) -> None:
        """Mark the workers at both ends as used: another slow link there would blur both."""
        layout = self.draft.layout
        self.take(np.concatenate([layout.src[edges], layout.dst[edges]]))

    def take(self, workers: Any) -> tuple[int, ...]:
        """Mark workers as used."""
        taken = tuple(int(worker) for worker in np.atleast_1d(workers))
        self._free[list(taken)] = False
        return taken

    def worker(self, allowed: Array | None = None) -> int:
        """A free worker, of those ``allowed`` (N,) if given."""
        free = self._free if allowed is None else self._free & allowed
        return noise.pick(self.draft.rng, np.flatnonzero(free))

    def edge(self) -> int:
        """An edge between hosts with two free ends."""
        layout = self.draft.layout
        free = self._free[layout.src] & self._free[layout.dst] & layout.crosses
        free[layout.edges["tp"]] = False
        return noise.pick(self.draft.rng, np.flatnonzero(free))

    def hosts(self, count: int) -> Array:
        """(count,) neighbouring hosts of free workers; if there are none, beside another fault."""
        good = self._hosts_of(self._free, count) or self._hosts_of(self._seen, count)
        return noise.pick(self.draft.rng, good) + np.arange(count)

    def stuck(self, name: str) -> int:
        """An edge of the named kind whose ends both report."""
        layout = self.draft.layout
        part = layout.edges[name]
        seen = self._seen[layout.src[part]] & self._seen[layout.dst[part]]
        return noise.pick(self.draft.rng, np.flatnonzero(seen) + part.start)

    def _hosts_of(self, workers: Array, count: int) -> list[int]:
        bad = np.bincount(self.draft.layout.host, weights=~workers)
        return [h for h in range(len(bad) - count + 1) if not bad[h : h + count].any()]


def slow_compute(site: Site) -> list[Injection]:
    """A worker's own work takes a constant factor longer."""
    factor = noise.log_uniform(site.draft.rng, *SLOW_WORK)
    who = site.take(site.worker())
    return [_constant(site, "slow_compute", "worker", who, who, "work", factor)]


def thermal_ramp(site: Site) -> list[Injection]:
    """A worker slows down from 1 to 1.3 over 64 to 96 steps and stays there."""
    draft = site.draft
    who = site.take(site.worker())
    length = int(draft.rng.integers(64, 97))
    ramp = np.clip((np.arange(draft.steps) - draft.onset + 1) / length, 0, 1)
    values = 1 + (RAMP_END - 1) * ramp
    fault = _fault(draft, "slow_compute", "worker", who, who, RAMP_END, values > 1, "ramp")
    return [Injection(fault, "work", np.array(who), values)]


def slow_sender(site: Site) -> list[Injection]:
    """A network card sends slowly: all edges that leave the worker's host."""
    return _slow_card(site, "slow_sender", site.draft.layout.src)


def slow_receiver(site: Site) -> list[Injection]:
    """A network card receives slowly: all edges that come from other hosts."""
    return _slow_card(site, "slow_receiver", site.draft.layout.dst)


def slow_path(site: Site) -> list[Injection]:
    """One connection between two hosts takes a constant factor longer."""
    layout, edge = site.draft.layout, site.edge()
    ends = site.take((layout.src[edge], layout.dst[edge]))
    factor = noise.log_uniform(site.draft.rng, *SLOW_LINK)
    return [_constant(site, "slow_path", "edge", ends, ends, "transfer", factor, [edge])]


def flapping(site: Site) -> list[Injection]:
    """One connection is four times slower in runs of a few steps, duty 10 to 50 %."""
    draft, edge = site.draft, site.edge()
    ends = site.take((draft.layout.src[edge], draft.layout.dst[edge]))
    bad = _runs(draft.rng, draft.steps, draft.rng.uniform(0.1, 0.5))
    bad[: draft.onset] = False
    if draft.phase is not None:
        bad &= draft.bytes[:, edge] > 0
    if bad.sum() < 10:
        draft.apart = "flapping link with fewer than 10 bad steps"
    fault = _fault(draft, "slow_path", "edge", ends, ends, FLAP, bad, "flapping")
    return [Injection(fault, "transfer", np.array([edge]), np.where(bad, FLAP, 1.0))]


def input_stall(site: Site) -> list[Injection]:
    """A worker waits for its input in every step."""
    draft = site.draft
    draft.gives.add("input_s")
    who = site.take(site.worker())
    seconds = draft.step_s * noise.log_uniform(draft.rng, 0.1, 1.0)
    return [_constant(site, "input_stall", "worker", who, who, "input", seconds)]


def two_faults(site: Site) -> list[Injection]:
    """Two different slow parts at once."""
    single = (slow_compute, slow_sender, slow_receiver, slow_path, input_stall)
    first, second = site.draft.rng.choice(len(single), 2, replace=False)
    return single[first](site) + single[second](site)


def one_rack(site: Site) -> list[Injection]:
    """The two hosts of one rack slow down together (cooling, power).

    Slow from the first step, and no roles given: that is also how a pipeline stage with more work
    looks, so such a job stands apart.
    """
    layout = site.draft.layout
    factor = noise.log_uniform(site.draft.rng, 1.2, 1.8)
    if site.draft.onset == 0 and "role" not in site.draft.gives:
        site.draft.apart = "rack slow from the first step, roles withheld"
    found = []
    for host in site.hosts(2):
        who = site.take(np.flatnonzero(layout.host == host))
        entity = (int(host),)
        found.append(_constant(site, "slow_compute", "host", entity, who, "work", factor))
    return found


def offset_clock(site: Site) -> list[Injection]:
    """One host's clock is off by 5 to 60 seconds, either way."""
    draft = site.draft
    host = int(site.hosts(1)[0])
    who = tuple(np.flatnonzero(draft.layout.host == host).tolist())
    sign = 1 if noise.chance(draft.rng, 0.5) else -1
    seconds = sign * noise.log_uniform(draft.rng, 5, 60)
    single = len(who) == 1
    entity = who if single else (host,)
    kind: EntityType = "worker" if single else "host"
    return [_constant(site, "clock_offset", kind, entity, who, "clock", seconds)]


def apply(injections: list[Injection], base: dict[Target, Array]) -> dict[Target, Array]:
    """The job's (T, N) and (T, E) arrays by target, with the faults in them."""
    changed = {name: array.copy() for name, array in base.items()}
    for injection in injections:
        array, values = changed[injection.target], injection.values[:, None]
        if injection.target in ("work", "transfer"):
            array[:, injection.columns] *= values
        else:
            array[:, injection.columns] += values
    return changed


def _slow_card(site: Site, kind: str, end: Array) -> list[Injection]:
    """Slow every edge between hosts at one end of a worker that has at least three, and most."""
    layout = site.draft.layout
    crossing = np.bincount(end, weights=layout.crosses, minlength=layout.n)
    allowed = (crossing >= 3) & (crossing > 0.6 * np.bincount(end, minlength=layout.n))
    who = site.take(site.worker(allowed))
    edges = np.flatnonzero((end == who[0]) & layout.crosses)
    site.take_edges(edges)
    factor = noise.log_uniform(site.draft.rng, *SLOW_LINK)
    return [_constant(site, kind, "worker", who, who, "transfer", factor, edges)]


def _constant(
    site: Site,
    kind: str,
    entity_type: EntityType,
    entity: tuple[int, ...],
    workers: tuple[int, ...],
    target: Target,
    effect: float,
    columns: Any = None,
) -> Injection:
    draft = site.draft
    bad = np.arange(draft.steps) >= draft.onset
    neutral = 1.0 if target in ("work", "transfer") else 0.0
    fault = _fault(draft, kind, entity_type, entity, workers, effect, bad, "constant")
    columns = np.array(workers if columns is None else columns)
    return Injection(fault, target, columns, np.where(bad, effect, neutral))


def _fault(
    draft: Draft,
    kind: str,
    entity_type: EntityType,
    entity: tuple[int, ...],
    workers: tuple[int, ...],
    effect: float,
    bad: Array,
    shape: str,
) -> Fault:
    rows = tuple(np.flatnonzero(bad).tolist())
    first = rows[0] if rows else draft.onset
    return Fault(kind, entity_type, entity, workers, effect, first, rows, shape=shape)


def _runs(rng: np.random.Generator, steps: int, duty: float) -> Array:
    """(steps,) on and off in geometric runs, on for 1 to 4 steps by the mean."""
    leave_on = 1 / rng.uniform(1, 4)
    leave_off = min(1.0, leave_on * duty / (1 - duty))
    on = noise.chance(rng, duty)
    flips = rng.random(steps)
    state = np.zeros(steps, dtype=bool)
    for t in range(steps):
        on = flips[t] >= leave_on if on else flips[t] < leave_off
        state[t] = on
    return state


FAULTS: dict[str, Callable[[Site], list[Injection]]] = {
    function.__name__: function
    for function in (
        slow_compute,
        thermal_ramp,
        slow_sender,
        slow_receiver,
        slow_path,
        flapping,
        input_stall,
        two_faults,
        one_rack,
    )
}
