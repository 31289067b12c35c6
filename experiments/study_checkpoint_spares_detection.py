"""Which of checkpoint interval, spares and detection wins June's time back, and how do they interact?

python experiments/study_checkpoint_spares_detection.py [--replications 1000] [--workers 2] [--folder sweeps/...]

A sweep of 10 x 10 x 10 points of the job of June 2023, a thousand months each on common random numbers: a million
months, about 13 minutes on two cores, to be stopped and continued at will. Heat maps (PNG and SVG), the table they show
and the manifest go to results/checkpoint_spares_detection/; the cost of the run is printed as JSON.
"""

import argparse
import json
import resource
import shutil
import time
from pathlib import Path

import matplotlib as mpl
import pandas as pd

from c4sim.configure import load_points
from c4sim.experiment import Plan, progress, sweep

mpl.use("agg")
from matplotlib import pyplot as plt

INTERVALS = ("5min", "10min", "20min", "30min", "45min", "1h", "1h 30min", "2h", "3h", "6h")
SPARES = (0, 1, 2, 3, 4, 5, 6, 8, 12, 16)
DELAYS = ("10s", "30s", "1min", "2min", "5min", "10min", "15min", "20min", "30min", "1h")
KEYS = {"checkpoint.interval": INTERVALS, "spares.per_pool": SPARES, "detection.delay": DELAYS}
LABELS = {
    "checkpoint.interval": "work between checkpoints",
    "spares.per_pool": "spares per pool of 100 nodes",
    "detection.delay": "time until a hang is noticed",
}
PANELS = (
    ("checkpoint.interval", "detection.delay", "spares.per_pool", (0, 2, 8)),
    ("checkpoint.interval", "spares.per_pool", "detection.delay", ("10s", "5min", "30min")),
)
FOLDER = Path(__file__).parent.parent / "results" / "checkpoint_spares_detection"


def words() -> list[str]:
    """The sweep's overrides."""
    return ["scenario=c4_june2023", *(f"{key}={','.join(map(str, values))}" for key, values in KEYS.items())]


def _ink(percent: float) -> str:
    """Legible on the colour of its cell."""
    return "black" if percent > 60.0 else "white"


def draw(table: pd.DataFrame, folder: Path) -> None:
    """Two rows of heat maps of the downtime fraction, the third key fixed in each."""
    percent = 100 * table["downtime_fraction"]
    figure, rows = plt.subplots(2, 3, figsize=(13, 9), layout="constrained", sharex=True)
    for (across, up, fixed, values), axes in zip(PANELS, rows, strict=True):
        for value, axis in zip(values, axes, strict=True):
            part = table[table[fixed].astype(str) == str(value)]
            grid = [[_cell(part, percent, across, a, up, u) for a in KEYS[across]] for u in KEYS[up]]
            image = axis.imshow(grid, origin="lower", aspect="auto", cmap="cividis", vmin=0, vmax=100)
            for y, row in enumerate(grid):
                for x, value_there in enumerate(row):
                    axis.text(x, y, f"{value_there:.1f}", ha="center", va="center", size=6, color=_ink(value_there))
            axis.set_xticks(range(len(KEYS[across])), KEYS[across], rotation=60)
            axis.set_yticks(range(len(KEYS[up])), [str(u) for u in KEYS[up]])
            axis.set(xlabel=LABELS[across], ylabel=LABELS[up], title=f"{LABELS[fixed]}: {value}")
    figure.colorbar(image, ax=rows, label="downtime, % of wall time")
    for suffix in ("png", "svg"):
        figure.savefig(folder / f"heat_maps.{suffix}", dpi=130)
    plt.close(figure)


def _cell(part: pd.DataFrame, percent: pd.Series, across: str, a: object, up: str, u: object) -> float:
    rows = part[(part[across].astype(str) == str(a)) & (part[up].astype(str) == str(u))]
    (index,) = rows.index
    return float(percent[index])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replications", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--folder", type=Path, default=Path("sweeps/checkpoint_spares_detection"))
    parser.add_argument("--results", type=Path, default=FOLDER)
    options = parser.parse_args()
    began = time.perf_counter()
    plan = Plan.of(load_points(words()), options.replications, seed=1)
    with progress.bar("study") as bar:
        outcome = sweep(plan, options.folder, workers=options.workers, progress=bar)
    options.results.mkdir(parents=True, exist_ok=True)
    table = pd.read_csv(options.folder / "summary.csv", keep_default_na=False)
    wanted = [name for name in table if name in (*KEYS, "n") or name.split(".")[0].count("/") < 2]
    shown = [name for name in wanted if name in (*KEYS, "n") or name.startswith(("downtime_fraction", "ettr"))]
    table[shown].to_csv(options.results / "downtime.csv", index=False)
    shutil.copy(options.folder / "manifest.json", options.results / "manifest.json")
    draw(table, options.results)
    count = len(plan.points) * options.replications
    report = {
        "points": len(plan.points),
        "replications_run_now": outcome.ran,
        "wall_s": time.perf_counter() - began,
        "cpu_ms_per_replication": 1e3 * outcome.cpu_s / count,
        "peak_memory_of_the_parent_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "files": sum(path.is_file() for path in options.folder.rglob("*")),
    }
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
