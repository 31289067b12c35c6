"""What healthy jobs do that looks like a fault, one function each.

Each takes a ``Draft`` and changes it in place. ``CONDITIONS`` holds them by name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from c4sim.synthetic import noise
from c4sim.synthetic.draft import FIRST, LEAD, Draft

Array = NDArray[Any]
Condition = Callable[[Draft], None]
#: Chance that load is reported where it varies; without it such a job is scored apart.
LOAD_GIVEN = 0.75


def clean(draft: Draft) -> None:
    """Nothing; in some jobs a slow first step on all (compilation, caches)."""
    if noise.chance(draft.rng, 0.2):
        draft.slow[0] *= noise.log_uniform(draft.rng, 5, 1000)


def hot_experts(draft: Draft) -> None:
    """Expert parallelism: load by Zipf's law over the ranks, hot experts drift, bytes follow."""
    rng, layout = draft.rng, draft.layout
    ranks = layout.pp * layout.dp
    share = np.arange(1, ranks + 1) ** -rng.uniform(0.25, 0.5)
    share = np.minimum(share / share.mean(), 2.9)
    order = rng.permutation(ranks)
    load = np.empty((draft.steps, ranks))
    for t in range(draft.steps):
        if noise.chance(rng, 0.2):
            swap = rng.choice(ranks, 2, replace=False)
            order[swap] = order[swap[::-1]]
        load[t] = share[order]
    load *= noise.autocorrelated(rng, draft.steps, ranks, 0.1, 0.5)
    draft.load = np.repeat(load, layout.tp, axis=1)
    exchange = layout.edges["dp"]
    draft.bytes[:, exchange] *= 0.5 + 0.5 * draft.load[:, layout.dst[exchange]]
    _load_varies(draft)


def rebalance(draft: Draft) -> None:
    """From one step on the replicas get other shares of the batch."""
    rng, layout = draft.rng, draft.layout
    at = int(rng.integers(draft.steps // 5, draft.steps * 4 // 5))
    share = np.exp(0.15 * rng.standard_normal(layout.dp))
    draft.load[at:] *= (share / share.mean())[layout.replica]
    _load_varies(draft)


def checkpoint(draft: Draft) -> None:
    """Every few dozen steps one worker, or one in each stage, writes a checkpoint."""
    rng, layout = draft.rng, draft.layout
    writers = [0] if noise.chance(rng, 0.5) else layout.grid[:, 0, 0]
    saves = slice(int(rng.integers(0, 20)), None, int(rng.integers(20, 60)))
    draft.extra_s[saves, writers] += draft.step_s * rng.uniform(1, 3)
    _set_phase(draft, saves, "save")


def garbage_collection(draft: Draft) -> None:
    """Unsynchronised pauses of the interpreter, a different worker nearly every step."""
    hit = draft.rng.random(draft.extra_s.shape) < draft.rng.uniform(0.002, 0.01)
    draft.extra_s[hit] += draft.step_s * draft.rng.uniform(0.2, 1.0, size=int(hit.sum()))


def data_stall(draft: Draft) -> None:
    """Shared storage stalls for a few steps: all wait for input."""
    rng = draft.rng
    for at in rng.integers(0, draft.steps - 8, size=3):
        rows = slice(int(at), int(at + rng.integers(3, 9)))
        stall = draft.step_s * rng.uniform(0.3, 1.0)
        draft.input_s[rows] += stall * rng.uniform(0.8, 1.2, size=draft.input_s[rows].shape)
    draft.gives.add("input_s")


def evaluation(draft: Draft) -> None:
    """Now and then a few forward passes without gradients."""
    rng, layout = draft.rng, draft.layout
    rows = np.zeros(draft.steps, dtype=bool)
    period, length = int(rng.integers(40, 70)), int(rng.integers(2, 6))
    for at in range(int(rng.integers(5, 40)), draft.steps, period):
        rows[at : at + length] = True
    draft.slow[rows] *= 0.35
    draft.trains &= ~rows
    for name in ("dp", "backward"):
        draft.bytes[rows, layout.edges[name]] = 0
    _set_phase(draft, rows, "eval")


def last_stage(draft: Draft) -> None:
    """The last pipeline stage has 2.07 times the work (loss and vocabulary)."""
    draft.stage[-1] *= 2.07
    if noise.chance(draft.rng, 0.4):
        draft.gives.discard("role")


def sequence_lengths(draft: Draft) -> None:
    """Each replica draws its tokens anew each step, coefficient of variation 25 %."""
    sigma = np.sqrt(np.log(1 + 0.25**2))
    tokens = np.exp(sigma * draft.rng.standard_normal((draft.steps, draft.layout.dp)))
    draft.load *= (tokens / np.exp(sigma**2 / 2))[:, draft.layout.replica]
    _load_varies(draft)


def job_wide(draft: Draft) -> None:
    """Everybody slows down at once."""
    at = int(draft.rng.integers(draft.steps // 4, draft.steps * 2 // 3))
    draft.slow[at:] *= draft.rng.uniform(1.3, 2.0)
    draft.expected.add("job_wide")


def rotating(draft: Draft) -> None:
    """Another worker is slow in every step."""
    who = draft.rng.integers(draft.layout.n, size=draft.steps)
    draft.slow[np.arange(draft.steps), who] *= draft.rng.uniform(1.3, 2.0, size=draft.steps)
    draft.expected.add("rotating")


def missing(draft: Draft) -> None:
    """Telemetry is lost: 1 to 10 % of the cells, in half of the jobs a worker altogether."""
    rng, layout = draft.rng, draft.layout
    share = rng.uniform(0.01, 0.10)
    draft.dark_worker |= rng.random(draft.dark_worker.shape) < share
    draft.dark_edge |= rng.random(draft.dark_edge.shape) < share
    if noise.chance(rng, 0.5):
        lost = int(rng.integers(layout.n))
        darken(draft, np.array([lost]), slice(None))
        draft.expected.add("no_data")


def clock_skew(draft: Draft) -> None:
    """One host's clock is off by seconds (the fault itself is recorded with the faults)."""
    draft.gives.add("arrival_s")


def membership(draft: Draft) -> None:
    """The number of workers changes: a replica joins in the first rows, or leaves in mid-trace."""
    rng, layout = draft.rng, draft.layout
    who = layout.grid[:, int(rng.integers(layout.dp)), :].ravel()
    if noise.chance(rng, 0.5):
        darken(draft, who, slice(0, int(rng.integers(LEAD // 3, FIRST))))
    else:
        darken(draft, who, slice(int(rng.integers(draft.steps // 4, draft.steps * 3 // 4)), None))


def small_roles(draft: Draft) -> None:
    """Stages of one or two workers, of very different work: no majority to compare with."""
    draft.stage *= draft.rng.uniform(0.7, 1.4, size=draft.layout.pp)
    draft.gives.add("role")
    if draft.onset == 0:
        draft.onset = int(draft.rng.integers(48, draft.steps - 95))


def darken(draft: Draft, who: Array, rows: slice) -> None:
    """Lose all telemetry of some workers, and of the edges at either end of them."""
    draft.dark_worker[rows, who] = True
    layout = draft.layout
    draft.dark_edge[rows, np.isin(layout.src, who) | np.isin(layout.dst, who)] = True


def _load_varies(draft: Draft) -> None:
    draft.gives.discard("load")
    if noise.chance(draft.rng, LOAD_GIVEN):
        draft.gives.add("load")
    else:
        draft.apart = "varying load withheld"
        draft.expected.add("unattributable")


def _set_phase(draft: Draft, rows: Any, name: str) -> None:
    draft.phase = np.full(draft.steps, "train", dtype="U5")
    draft.phase[rows] = name


CONDITIONS: dict[str, Condition] = {
    function.__name__: function
    for function in (
        clean,
        hot_experts,
        rebalance,
        checkpoint,
        garbage_collection,
        data_stall,
        evaluation,
        last_stage,
        sequence_lengths,
        job_wide,
        rotating,
        missing,
        clock_skew,
        membership,
        small_roles,
    )
}
