"""A healthy job before its faults: what each worker has to do, and what will be reported of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from c4sim.synthetic import noise
from c4sim.synthetic.layout import Layout

Array = NDArray[Any]
#: Steps before a fault that does not stand from the start, and after it until the end.
LEAD, REST = 32, 96
#: A job runs at least so many rows before it stops.
FIRST = 24
#: Share of the work that does not depend on the load.
FIXED_SHARE = (0.1, 0.4)


@dataclass
class Draft:
    """A job that conditions and faults still change; (T, N) or (T, E) unless said.

    Attributes:
        layout, rng, step_s: where workers stand; random numbers; nominal work of a step (s).
        onset: first row of a fault; 0 in a part of the jobs.
        load: true load relative to the mean. bytes: bytes of each edge.
        stage: (pp,) work of a stage relative to the mean.
        slow: factor on the work. extra_s: pauses added to it. input_s: wait for input.
        congestion: factor on transfer times.
        phase: (T,) or None. clock_s: (N,) offset of the clock.
        dark_worker, dark_edge: what the telemetry loses.
        trains: (T,) whether the row has a backward pass and a gradient exchange.
        gives: fields that are reported although a job may lack them.
        expected, apart: see ``Truth``.
    """

    layout: Layout
    rng: np.random.Generator
    step_s: float
    onset: int
    load: Array
    bytes: Array
    stage: Array
    slow: Array
    extra_s: Array
    input_s: Array
    congestion: Array
    clock_s: Array
    dark_worker: Array
    dark_edge: Array
    trains: Array
    phase: Array | None = None
    gives: set[str] = field(default_factory=set)
    expected: set[str] = field(default_factory=set)
    apart: str = ""

    @property
    def steps(self) -> int:
        """Number of rows."""
        return len(self.load)


def start(layout: Layout, steps: int, rng: np.random.Generator) -> Draft:
    """A clean job: equal load, nearly equal stages, all telemetry that most jobs have."""
    n, e = layout.n, layout.src.size
    step_s = noise.log_uniform(rng, 0.5, 20.0)
    early = noise.chance(rng, 0.25) or steps < LEAD + REST
    optional = {"role": 0.85, "load": 0.5, "arrival_s": 0.6, "op": 0.5, "phase": 0.7}
    return Draft(
        layout=layout,
        rng=rng,
        step_s=step_s,
        onset=0 if early else int(rng.integers(LEAD, steps - REST + 1)),
        load=np.ones((steps, n)),
        bytes=np.broadcast_to(_message_bytes(layout, rng), (steps, e)).copy(),
        stage=noise.spread(rng, layout.pp, 0.03),
        slow=np.ones((steps, n)),
        extra_s=np.zeros((steps, n)),
        input_s=0.002 * step_s * noise.autocorrelated(rng, steps, n, 0.3, 0.3),
        congestion=np.ones((steps, e)),
        clock_s=np.repeat(0.002 * rng.standard_normal(-(-n // layout.per_host)), layout.per_host)[:n],
        dark_worker=np.zeros((steps, n), dtype=bool),
        dark_edge=np.zeros((steps, e), dtype=bool),
        trains=np.ones(steps, dtype=bool),
        gives={name for name, share in optional.items() if noise.chance(rng, share)},
    )


def _message_bytes(layout: Layout, rng: np.random.Generator) -> Array:
    """(E,) bytes of a step: one size for each kind of link."""
    sizes = np.zeros(layout.src.size)
    for part in layout.edges.values():
        sizes[part] = noise.log_uniform(rng, 64e6, 1e9)
    return sizes


def work_time(draft: Draft) -> Array:
    """(T, N) own work in seconds: affine in load, times what each GPU adds.

    compute = stage (a + (1 - a) load) x spread x host noise x worker noise x slow + pauses.
    """
    rng, layout, steps = draft.rng, draft.layout, draft.steps
    fixed = rng.uniform(*FIXED_SHARE)
    ideal = draft.step_s * draft.stage[layout.stage] * (fixed + (1 - fixed) * draft.load)
    hosts = int(layout.host[-1]) + 1
    host = noise.autocorrelated(rng, steps, hosts, 0.003, 0.8)[:, layout.host]
    own = noise.autocorrelated(rng, steps, layout.n, rng.uniform(0.005, 0.015), rng.uniform(0, 0.7))
    own *= noise.spikes(rng, own.shape, 2e-4, 0.1)
    everyone = noise.autocorrelated(rng, steps, 1, 0.005, 0.5)
    fixed_spread = noise.spread(rng, layout.n, rng.uniform(0.004, 0.015))
    return np.asarray(
        ideal * fixed_spread * host * own * everyone * draft.slow
        + draft.extra_s * (1 + 0.05 * rng.standard_normal(own.shape))
    )


def transfer_time(draft: Draft) -> Array:
    """(T, E) transfer time in seconds, affine in bytes with one line for each class of link.

    Links inside a host and between hosts are the two classes. Nothing is sent where bytes are 0.
    """
    rng, layout = draft.rng, draft.layout
    bandwidth = np.where(layout.crosses, rng.uniform(10e9, 45e9), rng.uniform(100e9, 300e9))
    latency = np.where(layout.crosses, rng.uniform(2e-3, 8e-3), rng.uniform(2e-4, 8e-4))
    own = noise.autocorrelated(rng, draft.steps, layout.src.size, rng.uniform(0.02, 0.06), rng.uniform(0, 0.5))
    own *= noise.spikes(rng, own.shape, 1e-3, 0.5)
    own *= noise.spread(rng, layout.src.size, rng.uniform(0.01, 0.03))
    ideal = (latency + draft.bytes / bandwidth) * (draft.bytes > 0)
    return np.asarray(ideal * own * draft.congestion)
