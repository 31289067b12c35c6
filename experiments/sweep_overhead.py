"""What does a sweep cost beside its simulation? Prints JSON: python experiments/sweep_overhead.py [--points 1000].

A trivial scenario (no faults) swept over so many values, one process, the whole way from override texts to tables:
processor time of the sweep less that of its replications, per point, and the files that it leaves.
"""

import argparse
import json
import resource
import tempfile
import time
from pathlib import Path

from c4sim.configure import load_points
from c4sim.experiment import Plan, sweep


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=1000)
    parser.add_argument("--replications", type=int, default=1)
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    values = ",".join(f"{600 + i}s" for i in range(options.points))
    with tempfile.TemporaryDirectory() as folder:
        wall, cpu = time.perf_counter(), time.process_time()
        plan = Plan.of(load_points(["faults.crash.mtbf=null", f"checkpoint.interval={values}"]), options.replications)
        composed = time.process_time() - cpu
        outcome = sweep(plan, Path(folder) / "sweep", workers=options.workers)
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        files = sum(path.is_file() for path in Path(folder).rglob("*"))
    simulated = outcome.cpu_s if options.workers == 1 else 0.0
    print(
        json.dumps(
            {
                "points": options.points,
                "replications": options.replications,
                "overhead_ms_per_point": 1e3 * (cpu - simulated) / options.points,
                "compose_ms_per_point": 1e3 * composed / options.points,
                "simulation_ms_per_point": 1e3 * outcome.cpu_s / options.points,
                "wall_s": wall,
                "files": files,
                "peak_memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            },
            indent=2,
        )
    )


if __name__ == "__main__":
    main()
