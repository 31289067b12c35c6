"""First-order expectations of the effective training time ratio (ETTR)."""

from __future__ import annotations

from c4sim.theory._checks import at_least, not_negative, positive


def kokolis_ettr(nodes: int, node_rate: float, restart: float, interval: float, write: float) -> float:
    """Expected ETTR to first order in the failure rate.

    ``(1 - N r (u0 + dt / 2)) / (1 + w / dt)`` with r per node, u0 the restart, dt the interval and
    w the write.  It overstates the loss when ``N r (u0 + dt / 2)`` is not small, and is negative
    beyond 1; the exact value is :func:`c4sim.theory.segments.efficiency`.

    Source: Kokolis et al., arXiv:2410.21680, section on ETTR.
    """
    at_least(1, nodes=nodes)
    positive(interval=interval)
    not_negative(node_rate=node_rate, restart=restart, write=write)
    return (1 - nodes * node_rate * (restart + interval / 2)) / (1 + write / interval)
