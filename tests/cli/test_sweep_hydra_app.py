"""The plain Hydra app of experiments/ works with Hydra's own multirun."""

import os
import subprocess
import sys
from pathlib import Path

APP = Path(__file__).parents[2] / "experiments" / "hydra_app.py"


def test_stock_multirun_runs_it(tmp_path: Path) -> None:
    words = ["-m", "interval=10min,3h", "replications=2", "hydra.sweep.dir=out"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    done = subprocess.run(
        [sys.executable, str(APP), *words], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith("c4_june2023")]
    losses = [float(line.split()[-1]) for line in lines]
    assert len(losses) == 2
    assert losses[0] < losses[1]
