"""Random numbers by address: (seed, point, replication, purpose, entity, index) -> one uniform, whatever was drawn
before.

A counter-based generator (Philox4x64-10, Salmon et al. 2011) makes every stream a pure function of its address: the
key holds (seed, point), the four counter words hold (block, entity, purpose, replication). Nothing depends on the
order of draws, on block sizes or on another stream, which is what common random numbers and identical tables for any
number of workers rest on. Setting the counter costs about 2 us, a SeedSequence child with its generator 15 us.
"""

from collections.abc import Callable
from enum import IntEnum
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_PER_BLOCK = 4  # doubles that one Philox4x64 counter value yields
_SMALLEST = 2.0**-54  # a uniform of exactly 0 would make a lognormal delay 0 and a logarithm infinite


class Purpose(IntEnum):
    """What a stream is for. From the first release on members are only appended: their numbers are part of every
    published result.

    Numbers that are always needed together lie side by side in one stream, so that one block is drawn for all of them.
    """

    EVENT = 1  # four numbers an event: gap, place, confined, permanent
    COMPOUND = 5
    LIFE = 6
    AGE = 7
    LEMON = 8
    CLUSTERING = 9
    DETECTION = 10
    ISOLATION = 12
    NAMING = 13
    BLAME = 14
    RESTART = 15
    RENDEZVOUS = 16
    REPAIR = 17
    REPAIR_OUTCOME = 18
    PROVISIONING = 19
    PAUSE = 20
    SAVE = 21
    CORRUPT = 22
    LATENCY = 23
    HOT_SPARE = 24
    MAINTENANCE = 25
    AUTOMATIC = 26
    PAUSE_LENGTH = 27
    BLAMED_PLACE = 28
    POD_START = 29
    STRIKES_AGAIN = 30
    LAYERS = 31  # of a detection chain, four numbers a layer: delay, phase, coverage, none


@lru_cache(maxsize=256)
def _key(seed: int, point: int) -> tuple[int, int]:
    first, second = np.random.SeedSequence(seed, spawn_key=(point,)).generate_state(2, np.uint64)
    return int(first), int(second)


class Streams:
    """All random numbers of one replication."""

    def __init__(self, seed: int, point: int, replication: int) -> None:
        for name, value in (("seed", seed), ("point", point), ("replication", replication)):
            if value < 0:
                raise ValueError(f"{name}: must be a whole number >= 0 (got {value})")
        bits = np.random.Philox(key=np.array(_key(seed, point), np.uint64), counter=[0, 0, 0, replication])
        self._state = bits.state
        self._state["buffer_pos"] = _PER_BLOCK  # the buffer is empty: the next draw computes a block
        self._counter = self._state["state"]["counter"]
        self._bits = bits
        self._random = np.random.Generator(bits).random

    def uniforms(self, purpose: int, entity: int, start: int, count: int) -> Floats:
        """Numbers `start` to `start + count - 1` of the stream (purpose, entity), each in (0, 1).

        Returns shape (count,).
        """
        block, skip = divmod(start, _PER_BLOCK)
        counter = self._counter
        counter[0] = block
        counter[1] = entity
        counter[2] = purpose
        self._bits.state = self._state
        values: Floats = self._random(skip + count)
        if skip:
            values = values[skip:]
        return np.maximum(values, _SMALLEST, out=values)

    def uniform(self, purpose: int, entity: int, index: int) -> float:
        """Number `index` of the stream (purpose, entity)."""
        return float(self.uniforms(purpose, entity, index, 1)[0])


class BlockReader:
    """One stream read number by number: drawn and transformed in blocks that double from `first` to `largest`."""

    def __init__(
        self,
        streams: Streams,
        purpose: int,
        entity: int,
        transform: Callable[[Floats], Floats] | None = None,
        *,
        first: int = 32,
        largest: int = 1024,
    ) -> None:
        self._streams = streams
        self._address = (int(purpose), entity)
        self._transform = transform
        self._size = first
        self._largest = largest
        self._start = 0
        self._values: list[float] = []

    def get(self, index: int) -> float:
        """Number `index` of the stream, transformed."""
        offset = index - self._start
        if not 0 <= offset < len(self._values):
            self._draw(index)
            offset = index - self._start
        return self._values[offset]

    def _draw(self, index: int) -> None:
        if self._values:
            self._size = min(2 * self._size, self._largest)
        self._start = index - index % _PER_BLOCK
        values = self._streams.uniforms(*self._address, self._start, self._size)
        if self._transform is not None:
            values = self._transform(values)
        self._values = values.tolist()
