"""`sweep`: points times replications into one folder, to be stopped and continued at will."""

import re
from pathlib import Path
from typing import Any, Literal

from c4sim.executors import Backend, Dask, cpu_count
from c4sim.experiment.files import InUseError, lock
from c4sim.experiment.kernel import Kernel, simulator
from c4sim.experiment.plan import Plan, SweepError, read_plan
from c4sim.experiment.running import Progress, backend_for
from c4sim.experiment.shards import Shard
from c4sim.experiment.store import Store, read_manifest
from c4sim.experiment.sweep_run import Outcome, SweepRun, failure_text

WHOLE = Shard()
DEFAULT_FOLDER = Path("sweeps")
NAME_LENGTH = 60


def default_folder(plan: Plan) -> Path:
    """The same command finds its folder again; another one never meets it."""
    # A scenario's name is free text, and must not lead out of the folder.
    name = re.sub(r"[^A-Za-z0-9_-]+", "_", plan.base.name)[:NAME_LENGTH]
    return DEFAULT_FOLDER / f"{name}-{plan.digest()[:8]}"


def make_backend(executor: str, workers: int | None, address: str | None) -> Backend:
    """The backend of `executor=`: local or dask."""
    if executor == "dask":
        return Dask(address, workers)
    if address is not None:
        raise SweepError("address: goes with executor=dask")
    return backend_for(cpu_count() if workers is None else workers)


def sweep(
    plan: Plan,
    folder: Path | None = None,
    *,
    executor: Literal["local", "dask"] = "local",
    workers: int | None = None,
    address: str | None = None,
    shard: Shard = WHOLE,
    on_error: Literal["continue", "stop"] = "continue",
    keep_ledger: bool = False,
    progress: Progress | None = None,
    kernel: Kernel | None = None,
) -> Outcome:
    """Run what is missing of a plan in its folder (default: named after the plan) and write the tables.

    The tables are the same to the bit whatever the number of workers, the executor, the shards, and however often the
    sweep was killed and continued. on_error: a failing point leaves the others alone, or stops the sweep.

    Raises SweepError (another sweep in the folder, folder in use, on_error=stop), StorageError (disk full or
    read-only), ExecutorError (no workers).
    """
    folder = default_folder(plan) if folder is None else folder
    kernel = kernel or simulator()
    if on_error == "stop":
        for point in plan.points:
            if point.error is not None:
                raise SweepError(failure_text(point, point.error))
    store = Store(folder, plan, kernel, keep_ledger=keep_ledger)
    try:
        with lock(folder / f".lock-{shard.label}"):
            run = SweepRun(store, shard, stop_at_error=on_error == "stop", progress=progress)
            return run.go(lambda: make_backend(executor, workers, address))
    except InUseError:
        raise SweepError(f"{folder}: another process is running this sweep here") from None


def rerun(manifest: Path, folder: Path, **options: Any) -> Outcome:
    """Run the sweep that a manifest describes in another folder; takes the options of `sweep`."""
    return sweep(read_plan(read_manifest(manifest)), folder, **options)
