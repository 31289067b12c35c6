"""Where the workers of a job stand and who sends to whom."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
#: Distances of the peers that a worker sends to inside its data-parallel group.
DP_STRIDES = (1, 2, 3)


@dataclass(frozen=True)
class Layout:
    """dp x pp x tp workers, numbered with tp fastest, then dp, then pp; hosts are consecutive.

    Attributes:
        dp, pp, tp: data-, pipeline- and tensor-parallel degree.
        per_host: workers on one host.
    """

    dp: int
    pp: int
    tp: int
    per_host: int

    @property
    def n(self) -> int:
        """Number of workers."""
        return self.dp * self.pp * self.tp

    @cached_property
    def grid(self) -> Ints:
        """(pp, dp, tp) worker numbers."""
        return np.arange(self.n).reshape(self.pp, self.dp, self.tp)

    @cached_property
    def host(self) -> Ints:
        """(N,) host of each worker."""
        return np.arange(self.n) // self.per_host

    @cached_property
    def stage(self) -> Ints:
        """(N,) pipeline stage of each worker."""
        return np.arange(self.n) // (self.dp * self.tp)

    @cached_property
    def replica(self) -> Ints:
        """(N,) data-parallel index of each worker."""
        return np.arange(self.n) // self.tp % self.dp

    @cached_property
    def shard(self) -> Ints:
        """(N,) tensor-parallel index of each worker."""
        return np.arange(self.n) % self.tp

    @cached_property
    def dp_group(self) -> Ints:
        """(N,) number of the data-parallel group (stage, shard) of each worker."""
        return self.stage * self.tp + self.shard

    @cached_property
    def edges(self) -> dict[str, slice]:
        """Kind of link (dp, forward, backward, tp) -> its part of the edge list."""
        cuts = np.cumsum([0] + [len(src) for src, _ in self._parts.values()])
        return {
            name: slice(int(low), int(high)) for name, low, high in zip(self._parts, cuts[:-1], cuts[1:], strict=True)
        }

    @cached_property
    def src(self) -> Ints:
        """(E,) sender of each edge."""
        return np.concatenate([src for src, _ in self._parts.values()])

    @cached_property
    def dst(self) -> Ints:
        """(E,) receiver of each edge."""
        return np.concatenate([dst for _, dst in self._parts.values()])

    @cached_property
    def crosses(self) -> NDArray[np.bool_]:
        """(E,) whether the edge leaves its host."""
        return np.asarray(self.host[self.src] != self.host[self.dst])

    @cached_property
    def _parts(self) -> dict[str, tuple[Ints, Ints]]:
        grid = self.grid
        strides = [stride for stride in DP_STRIDES if stride < self.dp]
        dp = [(grid, np.roll(grid, -stride, axis=1)) for stride in strides]
        return {
            "dp": _pairs(dp),
            "forward": _pairs([(grid[:-1], grid[1:])]),
            "backward": _pairs([(grid[1:], grid[:-1])]),
            "tp": _pairs([(grid, np.roll(grid, -1, axis=2))] if self.tp > 1 else []),
        }


def _pairs(blocks: list[tuple[Any, Any]]) -> tuple[Ints, Ints]:
    if not blocks:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    src, dst = zip(*blocks, strict=True)
    return np.concatenate([b.ravel() for b in src]), np.concatenate([b.ravel() for b in dst])
