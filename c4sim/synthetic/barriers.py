"""How barriers turn one worker's delay into the others' waiting.

A step: input, then ``MICRO`` micro-batches forward and backward through the pipeline (all forward,
then all backward), then the gradient exchange of each data-parallel group, then the job-wide
barrier of the optimiser. A message completes at max(sender ready, receiver ready) + transfer time;
senders do not block. Tensor-parallel peers meet in every micro-batch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from c4sim.synthetic.layout import Layout

Array = NDArray[Any]
#: Micro-batches of one step when there is a pipeline.
MICRO = 4
#: Share of the forward pass in a micro-batch's work.
FORWARD = 1 / 3


@dataclass(frozen=True)
class Timing:
    """One job's steps on the clock, seconds since each step's start.

    Attributes:
        wait_s: (T, E) from the receiver being ready until its message is complete.
        arrival_s: (T, N) arrival at the gradient exchange.
        forward_s: (T, pp, dp) end of the last forward micro-batch.
        step_s: (T,) length of the step, the same for all by its last barrier.
    """

    wait_s: Array
    arrival_s: Array
    forward_s: Array
    step_s: Array


def propagate(layout: Layout, own_s: Array, input_s: Array, delay_s: Array, ring: bool) -> Timing:
    """Run the barriers over all steps at once.

    Args:
        layout: where the workers stand.
        own_s: (T, N) own work. input_s: (T, N) wait for input before it.
        delay_s: (T, E) transfer times. ring: a data-parallel exchange ends for all of its group
            at once (ring); else each message for itself (direct).
    """
    steps = own_s.shape[0]
    wait = np.zeros((steps, layout.src.size))
    shape = (steps, layout.pp, layout.dp, layout.tp)
    busy = _tensor_parallel(layout, own_s.reshape(shape), delay_s, wait)
    ready = input_s.reshape(shape).max(axis=3)
    forward = _pipeline(layout, busy, ready, delay_s, wait)
    arrival = np.repeat(ready[..., None], layout.tp, axis=3).reshape(own_s.shape)
    end = _data_parallel(layout, arrival, delay_s, wait, ring)
    return Timing(wait, arrival, forward, end)


def _tensor_parallel(layout: Layout, own: Array, delay: Array, wait: Array) -> Array:
    """(T, pp, dp) work of a stage: its slowest shard and the slowest link between shards."""
    slowest = own.max(axis=3)
    if layout.tp == 1:
        return np.asarray(slowest)
    part = layout.edges["tp"]
    link = delay[:, part].reshape(own.shape).max(axis=3)
    lateness = (slowest[..., None] - own).reshape(own.shape[0], -1)[:, layout.dst[part]]
    wait[:, part] = lateness + np.repeat(link.reshape(own.shape[0], -1), layout.tp, axis=1)
    return np.asarray(slowest + link)


def _pipeline(layout: Layout, busy: Array, ready: Array, delay: Array, wait: Array) -> Array:
    """Advance ``ready`` (T, pp, dp) over one step; returns it as it was after the forward pass."""
    if layout.pp == 1:
        forward = ready + FORWARD * busy
        ready += busy
        return np.asarray(forward)
    micro = busy / MICRO
    hops = (len(busy), layout.pp - 1, layout.dp, layout.tp)
    for name, share in (("forward", FORWARD), ("backward", 1 - FORWARD)):
        part = layout.edges[name]
        link = delay[:, part].reshape(hops) / MICRO
        waits = _sweep(ready, share * micro, link, backward=name == "backward")
        wait[:, part] = waits.reshape(len(busy), -1)
        if name == "forward":
            after_forward = ready.copy()
    return after_forward


def _sweep(ready: Array, work: Array, link: Array, backward: bool) -> Array:
    """One direction of the pipeline; returns the (T, hop, dp, tp) waits of its edges."""
    waits = np.zeros(link.shape)
    order = range(ready.shape[1])[:: -1 if backward else 1]
    for _ in range(MICRO):
        sent = None
        for stage in order:
            start = ready[:, stage]
            if sent is not None:
                hop = stage if backward else stage - 1
                complete = np.maximum(sent, start)[..., None] + link[:, hop]
                waits[:, hop] += complete - start[..., None]
                start = complete.max(axis=2)
            ready[:, stage] = sent = start + work[:, stage]
    return waits


def _data_parallel(layout: Layout, arrival: Array, delay: Array, wait: Array, ring: bool) -> Array:
    """(T,) end of the last gradient exchange; fills the waits of its edges."""
    part = layout.edges["dp"]
    if part.stop == part.start:
        return np.asarray(arrival.max(axis=1))
    src, dst = layout.src[part], layout.dst[part]
    own = delay[:, part]
    if ring:
        shape = (len(arrival), layout.pp, layout.dp, layout.tp)
        last = arrival.reshape(shape).max(axis=2)
        link = own.reshape(len(arrival), -1, *shape[1:]).max(axis=(1, 3))
        end = (last + link).reshape(len(arrival), -1)
        wait[:, part] = end[:, layout.dp_group[dst]] - arrival[:, dst]
        return np.asarray(end.max(axis=1))
    wait[:, part] = np.maximum(arrival[:, src] - arrival[:, dst], 0) + own
    return np.asarray((arrival[:, dst] + wait[:, part]).max(axis=1))
