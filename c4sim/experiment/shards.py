"""Parts of a sweep for array jobs: who runs what, without anybody handing out work."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

# Blocks of one shard are spread over the whole sweep, as cost differs from point to point.
BLOCKS = 32
_STATUS = re.compile(r"status-([1-9]\d*)-of-([1-9]\d*)\.csv", re.ASCII)


@dataclass(frozen=True)
class Shard:
    """The `index`-th (from 1) of `count` parts."""

    index: int = 1
    count: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.index <= self.count:
            raise ValueError(f"shard: must be i/n with 1 <= i <= n (got {self.index}/{self.count})")

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read "3/8"."""
        index, slash, count = text.partition("/")
        if not (slash and index.isdecimal() and count.isdecimal()):
            raise ValueError(f"shard: must be i/n, such as 3/8 (got {text!r})")
        return cls(int(index), int(count))

    @property
    def label(self) -> str:
        """For file names."""
        return f"{self.index}-of-{self.count}"

    def owned(self, number: int, replications: int, points: int) -> NDArray[np.bool_]:
        """Which of a point's replications are this shard's, when each of `points` has that many.

        Point and replication in a row are cut into blocks, and the shards take them in turn.
        """
        block = max(1, replications * points // (BLOCKS * self.count))
        places = number * replications + np.arange(replications)
        mine: NDArray[np.bool_] = (places // block) % self.count == self.index - 1
        return mine

    def owns_point(self, number: int) -> bool:
        """Whether the whole point is this shard's, when counts of replications are not known beforehand."""
        return number % self.count == self.index - 1

    def status_file(self) -> str:
        """Name of the shard's own status table."""
        return f"status-{self.label}.csv"

    def strangers(self, folder: Path) -> list["Shard"]:
        """Shards with another `count` that have run in an unfinished sweep's folder; none if this is the whole."""
        if self.count == 1:
            return []
        found = (_STATUS.fullmatch(path.name) for path in sorted(folder.glob("status-*.csv")))
        shards = (Shard(int(match[1]), int(match[2])) for match in found if match is not None)
        return [shard for shard in shards if shard.count != self.count]
