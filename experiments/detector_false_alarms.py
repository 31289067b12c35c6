"""How often does the detector accuse somebody in a job that is well?

    python experiments/detector_false_alarms.py --job plain
    python experiments/detector_false_alarms.py --job uneven

Feeds the streaming form clean jobs of 4,096 workers, step by step: 12 jobs of 7.6 days each at 10 s
a step, more than 777,600 steps together. Finished jobs are kept under --parts, so that a study can
be stopped and continued; a job judged by another detector (its source's digest differs) is judged
again. With k alarms in X months the exact 95 % upper bound of the rate follows from the Poisson
law: three months without an alarm bound it at ln 20 / 3 = 1.0 a month.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from detector_benchmark import source_digest
from detector_scoring import MONTH_S, poisson_interval

from c4sim.detector import Budget, Verdict
from c4sim.detector.stream import StreamDetector
from c4sim.synthetic import CleanJob

STEP_S = 10.0
#: Each job ends with one more block in which this worker is slow: a detector that is deaf has no
#: false alarms either.
SLOW_WORKER, SLOW_FACTOR = 1234, 1.2
#: 12 x 64 blocks of 1,024 steps are 786,432 steps, 91 days.
JOBS, BLOCKS = 12, 64
KINDS = {"plain": CleanJob(uneven=False), "uneven": CleanJob(uneven=True)}


def judge(job: CleanJob, blocks: int) -> dict[str, Any]:
    """One job from its first step on: what was said, and how long a step took to judge."""
    detector = StreamDetector(Budget(step_time_s=STEP_S), role=job.role)
    alarms: list[dict[str, Any]] = []
    said: Counter[str] = Counter()
    spent = 0.0
    for index in range(blocks):
        work, load = job.steps(index)
        began = time.process_time()
        for row, verdict in feed(detector, work, load):
            said[verdict.kind] += 1
            if verdict.accuses:
                alarms.append({"row": row, **verdict.to_json()})
        spent += time.process_time() - began
    steps = blocks * job.block
    result = {"steps": steps, "alarms": alarms, "said": dict(said), "ms_per_step": 1e3 * spent / steps}
    return {**result, "planted_found_after": planted(detector, job, blocks)}


def feed(detector: StreamDetector, work: Any, load: Any) -> Iterator[tuple[int, Verdict]]:
    """Give a block to the detector; (row, verdict) as they come."""
    for t, seconds in enumerate(work):
        row = {"compute_s": seconds} if load is None else {"compute_s": seconds, "load": load[t]}
        for verdict in detector.update(row):
            yield detector.rows, verdict


def planted(detector: StreamDetector, job: CleanJob, index: int) -> int | None:
    """Steps until the worker that is slow in block ``index`` is named, alone; None: not."""
    work, load = job.steps(index)
    work[:, SLOW_WORKER] *= SLOW_FACTOR
    began = detector.rows
    named = [(row, verdict.entity) for row, verdict in feed(detector, work, load) if verdict.accuses]
    alone = {entity for _, entity in named} == {SLOW_WORKER}
    return named[0][0] - began if alone else None


def part(path: Path, job: CleanJob, blocks: int, digest: str) -> dict[str, Any]:
    """A job's result, from the file when this detector has already judged it."""
    made = {"digest": digest, "blocks": blocks, "job": dataclasses.asdict(job)}
    if path.exists():
        kept = json.loads(path.read_text())
        if {name: kept[name] for name in made} == made:
            return dict(kept["result"])
    result = judge(job, blocks)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps({**made, "result": result}))
    temporary.replace(path)
    return result


def total(name: str, results: list[dict[str, Any]], digest: str) -> dict[str, Any]:
    """The study's result: alarms per job per 30 days with exact bounds."""
    steps = sum(result["steps"] for result in results)
    alarms = [alarm for result in results for alarm in result["alarms"]]
    said: Counter[str] = Counter()
    for result in results:
        said.update(result["said"])
    return {
        "job": name,
        "workers": KINDS[name].workers,
        "step_s": STEP_S,
        "steps": steps,
        "days": steps * STEP_S / 86400,
        "per_job_per_30_days": poisson_interval(len(alarms), steps * STEP_S / MONTH_S),
        "alarms": alarms,
        "verdicts_said": dict(said),
        "planted": {"worker": SLOW_WORKER, "factor": SLOW_FACTOR},
        "planted_found_after": [result["planted_found_after"] for result in results],
        "ms_per_step": sum(r["ms_per_step"] * r["steps"] for r in results) / steps,
        "detector_source": digest,
    }


def main(arguments: list[str] | None = None) -> int:
    """Run or continue the study of one kind of job; writes ``false_alarms_<job>.json``."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--job", choices=sorted(KINDS), required=True)
    parser.add_argument("--jobs", type=int, default=JOBS)
    parser.add_argument("--blocks", type=int, default=BLOCKS)
    parser.add_argument("--parts", type=Path, default=Path("outputs/detector_false_alarms"))
    parser.add_argument("--out", type=Path, default=Path("results/detector"))
    options = parser.parse_args(arguments)
    digest, results = source_digest(), []
    for seed in range(options.jobs):
        job = dataclasses.replace(KINDS[options.job], seed=seed)
        path = options.parts / f"{options.job}_{seed:02d}.json"
        results.append(part(path, job, options.blocks, digest))
        alarms = len(results[-1]["alarms"])
        print(f"job {seed}: {results[-1]['steps']} steps, {alarms} alarms", file=sys.stderr, flush=True)
    document = total(options.job, results, digest)
    options.out.mkdir(parents=True, exist_ok=True)
    path = options.out / f"false_alarms_{options.job}.json"
    path.write_text(json.dumps(document, indent=1) + "\n")
    print(json.dumps({k: v for k, v in document.items() if k != "alarms"}, indent=1))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
