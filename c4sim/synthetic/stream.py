"""Endless clean telemetry of one large job, a block at a time, for counting false alarms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from c4sim.synthetic.noise import TAIL
from c4sim.synthetic.report import LOAD_ERROR, TOKENS, WRONG_LOADS

Array = NDArray[Any]


@dataclass(frozen=True)
class CleanJob:
    """A healthy data-parallel job of ``roles`` stages, seconds of own work at each step.

    Block b is a function of (seed, b) alone, so that a study can go on where it stopped.

    Attributes:
        workers, roles: size of the job; roles divide the workers into stages.
        step_s: mean work of a step.
        uneven: loads drawn anew each step (CV 25 %; 5 % of the reported ones off by up to 20 %),
            pauses of the interpreter, a checkpoint by worker 0 every 180 steps.
        seed, block: random seed; steps of a block.
    """

    workers: int = 4096
    roles: int = 4
    step_s: float = 4.8
    uneven: bool = False
    seed: int = 0
    block: int = 1024

    @property
    def role(self) -> Array:
        """(N,) stage of each worker."""
        return np.arange(self.workers) * self.roles // self.workers

    def steps(self, index: int) -> tuple[Array, Array | None]:
        """Block ``index``: (block, N) own work in seconds and the reported load, float32.

        Noise is an AR(1) of standard deviation 1 % and correlation 0.5 within the block, whose
        innovations have the variance and tail of Student's t with 5 degrees of freedom.
        """
        rng = np.random.default_rng([self.seed, int(self.uneven), index])
        work = self._noise(rng)
        work *= self._level()
        load = self._load(rng) if self.uneven else None
        if load is not None:
            work *= 0.25 + 0.75 * load
            self._pause(rng, work, index)
            load = np.round(TOKENS * self._reported(rng, load))
        return work, load

    def _level(self) -> Array:
        fixed = np.random.default_rng([self.seed, 10**9])
        spread = np.exp(0.01 * fixed.standard_normal(self.workers))
        stage = np.where(self.role == self.roles - 1, 2.07, 1.0) if self.roles > 1 else 1.0
        return np.asarray(self.step_s * spread * stage, dtype=np.float32)

    def _noise(self, rng: np.random.Generator, sigma: float = 0.01, rho: float = 0.5) -> Array:
        shape = (self.block, self.workers)
        z = rng.standard_normal(shape, dtype=np.float32)
        # A t variate is a normal one over the root of chi-square / df: one divisor a cell.
        z /= np.sqrt(rng.standard_gamma(TAIL / 2, shape, dtype=np.float32) * (2 / TAIL))
        z *= np.float32(sigma / np.sqrt(TAIL / (TAIL - 2)))
        z[1:] *= np.float32(np.sqrt(1 - rho**2))
        for t in range(1, self.block):
            z[t] += np.float32(rho) * z[t - 1]
        return np.asarray(np.exp(z, out=z))

    def _load(self, rng: np.random.Generator) -> Array:
        sigma = np.sqrt(np.log(1 + 0.25**2))
        z = rng.standard_normal((self.block, self.workers), dtype=np.float32)
        return np.asarray(np.exp(np.float32(sigma) * z - np.float32(sigma**2 / 2)))

    def _reported(self, rng: np.random.Generator, load: Array) -> Array:
        wrong = rng.binomial(load.size, WRONG_LOADS)
        where = rng.integers(0, load.size, size=wrong)
        load.ravel()[where] *= 1 + rng.uniform(-LOAD_ERROR, LOAD_ERROR, size=wrong)
        return load

    def _pause(self, rng: np.random.Generator, work: Array, index: int) -> None:
        pauses = rng.binomial(work.size, 1e-3)
        where = rng.integers(0, work.size, size=pauses)
        work.ravel()[where] += self.step_s * rng.uniform(0.2, 1.0, size=pauses)
        numbers = index * self.block + np.arange(self.block)
        work[numbers % 180 == 179, 0] += 30.0
