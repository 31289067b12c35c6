"""Where chunks of work run: in this process, in worker processes of this machine, or on a Dask cluster."""

from c4sim.executors.backends import Backend, ExecutorError, Inline, Local, cpu_count
from c4sim.executors.dask import Dask, check_address
from c4sim.executors.dispatch import LOST_ALONE, Lost, dispatch

__all__ = [
    "LOST_ALONE",
    "Backend",
    "Dask",
    "ExecutorError",
    "Inline",
    "Local",
    "Lost",
    "check_address",
    "cpu_count",
    "dispatch",
]
