"""Dask as a backend: a scheduler's address, or a cluster of worker processes on this machine."""

import importlib
import re
from concurrent.futures import CancelledError, Executor
from typing import Any

from c4sim.executors.backends import ExecutorError, cpu_count

WAIT_FOR_WORKERS_S = 60
SCHEMES = ("tcp", "tls", "ucx", "ws", "wss")
_ADDRESS = re.compile(rf"(?:(?:{'|'.join(SCHEMES)})://)?[^\s/]+:(\d{{1,5}})", re.ASCII)


def check_address(address: str) -> str:
    """The address of a scheduler, if it can be one. Raises ValueError with what is allowed."""
    match = _ADDRESS.fullmatch(address)
    if match is None or not 0 < int(match.group(1)) < 2**16:
        raise ValueError(f"must be HOST:PORT or SCHEME://HOST:PORT with SCHEME one of {', '.join(SCHEMES)}")
    return address


class Dask:
    """Chunks run on the workers of a Dask scheduler, which starts a chunk again when its worker dies.

    address: of a running scheduler ("tcp://host:8786"); None starts `workers` processes here. The workers need this
    version of c4sim and need not see the sweep's folder: only the parent writes.
    """

    breaks = False

    def __init__(self, address: str | None = None, workers: int | None = None) -> None:
        try:
            distributed: Any = importlib.import_module("distributed")
        except ImportError:
            raise ExecutorError("executor=dask needs the package distributed: pip install 'c4sim[dask]'") from None
        self.lost: tuple[type[BaseException], ...] = (distributed.KilledWorker, CancelledError)
        self._cluster: Any = None
        if address is not None:
            # Dask's client hangs for a minute, and complains when it is collected, if it was given no address at all.
            try:
                check_address(address)
            except ValueError as error:
                raise ExecutorError(f"address: {error} (got {address!r})") from None
        else:
            self._cluster = distributed.LocalCluster(
                n_workers=cpu_count() if workers is None else workers,
                threads_per_worker=1,
                dashboard_address=None,
            )
        try:
            self.client: Any = distributed.Client(
                self._cluster or address, timeout=WAIT_FOR_WORKERS_S, set_as_default=False
            )
            self.client.wait_for_workers(1, timeout=WAIT_FOR_WORKERS_S)
        except (OSError, TimeoutError, ValueError) as error:
            self._close_cluster()
            raise ExecutorError(f"no Dask worker at {address or 'this machine'}: {error}") from None

    def width(self) -> int:
        threads: dict[str, int] = self.client.nthreads()
        return max(1, sum(threads.values()))

    def start(self) -> Executor:
        executor: Executor = self.client.get_executor(pure=False, retries=3)
        return executor

    def close(self) -> None:
        self.client.close()
        self._close_cluster()

    def _close_cluster(self) -> None:
        if self._cluster is not None:
            self._cluster.close()
