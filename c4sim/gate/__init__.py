"""The gate: baselines of scenarios, and whether the simulator still gives what they say."""

from collections.abc import Sequence
from pathlib import Path

from c4sim.experiment import Progress
from c4sim.experiment.kernel import Kernel
from c4sim.gate.baseline import Baseline, BaselineError, Gate, read, write
from c4sim.gate.checking import Checked, Verdict, check_one, current_scenario, load_all
from c4sim.gate.report import Report, junit
from c4sim.gate.update import create, update_one

__all__ = [
    "Baseline",
    "BaselineError",
    "Checked",
    "Gate",
    "Report",
    "Verdict",
    "check",
    "create",
    "junit",
    "read",
    "write",
]


def check(
    paths: Sequence[Path],
    *,
    workers: int = 1,
    seed: int | None = None,
    replications: int | None = None,
    update: bool = False,
    config_dir: Path | None = None,
    progress: Progress | None = None,
    kernel: Kernel | None = None,
) -> Report:
    """Run the scenarios of the baselines with fresh seeds and compare; with `update` make the baselines again instead.

    seed, replications: replace those that each baseline asks for. Raises BaselineError about every file that cannot be
    used, before anything runs.
    """
    baselines = load_all(paths)
    pairs = list(zip(paths, baselines, strict=True))
    scenarios = [current_scenario(path, baseline, config_dir) for path, baseline in pairs]
    checked, messages = [], []
    for (path, baseline), scenario in zip(pairs, scenarios, strict=True):
        if update:
            messages += update_one(
                path, baseline, scenario, workers=workers, seed=seed, progress=progress, kernel=kernel
            )
        else:
            checked.append(
                check_one(
                    path,
                    baseline,
                    scenario,
                    workers=workers,
                    seed=seed,
                    replications=replications,
                    progress=progress,
                    kernel=kernel,
                )
            )
    return Report(tuple(checked), tuple(messages))
