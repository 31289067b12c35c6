"""How well does the detector name culprits, on synthetic jobs whose truth is known?

    python experiments/detector_benchmark.py --seeds 0-99 --name development
    python experiments/detector_benchmark.py --seeds 5000-5999    # once, for the record

Each seed makes three jobs; all scenarios have their turn. Parts of ten seeds are kept under
--parts and not computed again, so a run can be stopped and continued; a part made by another
detector (its source's digest differs) is computed again.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from detector_scoring import HORIZONS, Outcome, accusations, names, outcome, summary
from detector_table import markdown
from public_rules import RULES, accuse, normalised

import c4sim.detector
from c4sim.detector import Telemetry, detect
from c4sim.detector.telemetry import axes_of
from c4sim.synthetic import ACCUSING_KINDS, SCENARIOS, Fault, Truth, generate
from c4sim.synthetic.generate import DEFAULT_STEPS

SEEDS_PER_PART = 10
DETECTOR = "detector"


def cases(seed: int) -> list[str]:
    """One scenario without a fault of its own and two with one; consecutive seeds walk through."""
    quiet = [name for name in SCENARIOS if "+" not in name]
    faulty = [name for name in SCENARIOS if "+" in name]
    pair = [faulty[(2 * seed + k) % len(faulty)] for k in range(2)]
    return [quiet[seed % len(quiet)], *pair]


def first_rows(telemetry: Telemetry, rows: int) -> Telemetry:
    """The telemetry as it was when only ``rows`` samples existed."""
    cut = {
        name: array[:rows] for name, array in telemetry.present().items() if axes_of(telemetry, name).startswith("T")
    }
    return Telemetry(**{**telemetry.present(), **cut})


def rows_until(fault: Fault, horizon: int) -> int | None:
    """Rows there are when ``horizon`` steps (bad steps, if flapping) have shown the fault."""
    if fault.shape != "flapping":
        return fault.first_step + horizon
    return fault.bad_steps[horizon - 1] + 1 if len(fault.bad_steps) >= horizon else None


def within(telemetry: Telemetry, truth: Truth, fault: Fault) -> list[bool | None]:
    """Whether the fault is named within each horizon; None where the telemetry ends before."""
    found: list[bool | None] = []
    for horizon in HORIZONS:
        rows = rows_until(fault, horizon)
        if rows is None or rows > fault.bad_steps[-1] + 1:
            found.append(None)
        elif found and found[-1]:
            found.append(True)
        else:
            given = accusations(detect(first_rows(telemetry, rows)), truth)
            found.append(bool(names(fault, given)))
    return found


def run_job(scenario: str, seed: int) -> dict[str, dict[str, Any]]:
    """One job judged by the detector and by each public rule; method -> outcome."""
    telemetry, truth = generate(scenario, seed)
    seconds = telemetry.n_steps * truth.step_s
    load_given = telemetry.load is not None
    latencies = [within(telemetry, truth, fault) for fault in truth.faults]
    unknown: list[list[bool | None]] = [[None] * len(HORIZONS) for _ in truth.faults]
    judged = {DETECTOR: outcome(truth, detect(telemetry), latencies, seconds, load_given)}
    inputs = {"raw": np.asarray(telemetry.compute_s), "normalised": normalised(telemetry)}
    for name, values in inputs.items():
        for rule_name, rule in RULES.items():
            given = accuse(rule, values)
            method = f"{rule_name}, {name}"
            judged[method] = outcome(truth, given, unknown, seconds, load_given)
    return {method: result.to_json() for method, result in judged.items()}


def source_digest() -> str:
    """SHA-256 over the detector's source files: which detector was scored."""
    digest = hashlib.sha256()
    folder = Path(c4sim.detector.__file__).parent
    for path in sorted(folder.rglob("*.py")):
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def run_part(path: Path, seeds: list[int], digest: str) -> list[dict[str, Any]]:
    """Jobs of a few seeds, from the file when this detector has already judged them."""
    if path.exists():
        part = json.loads(path.read_text())
        if part["digest"] == digest and part["seeds"] == seeds:
            return list(part["jobs"])
    jobs = [run_job(scenario, seed) for seed in seeds for scenario in cases(seed)]
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps({"digest": digest, "seeds": seeds, "jobs": jobs}))
    temporary.replace(path)
    return jobs


def collect(jobs: list[dict[str, Any]]) -> dict[str, Any]:
    """Summary of the detector over all kinds, of the public rules over slow_compute."""
    by_method = {method: [Outcome.from_json(job[method]) for job in jobs] for method in jobs[0]}
    ours = by_method.pop(DETECTOR)
    rules = {method: summary(given, ["slow_compute"]) for method, given in by_method.items()}
    return {
        DETECTOR: summary(ours, ACCUSING_KINDS),
        "slow_compute": {DETECTOR: summary(_only_compute(ours), ["slow_compute"]), **rules},
        "wrong": [o.to_json() for o in ours if o.false or not all(f.named for f in o.faults)],
    }


def _only_compute(outcomes: list[Outcome]) -> list[Outcome]:
    """The same outcomes, as far as slow_compute goes."""
    kept = []
    for result in outcomes:
        document = result.to_json()
        document["false"] = [a for a in document["false"] if a["kind"] == "slow_compute"]
        kept.append(Outcome.from_json(document))
    return kept


def main(arguments: list[str] | None = None) -> int:
    """Run the missing parts, write ``<name>.json`` and ``<name>.md``."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seeds", required=True, help="first-last, for instance 0-99")
    parser.add_argument("--parts", type=Path, default=Path("outputs/detector_benchmark"))
    parser.add_argument("--out", type=Path, default=Path("results/detector"))
    parser.add_argument("--name", default="benchmark", help="of the two files written")
    options = parser.parse_args(arguments)
    first, last = (int(part) for part in options.seeds.split("-"))
    digest, jobs = source_digest(), []
    for start in range(first, last + 1, SEEDS_PER_PART):
        seeds = list(range(start, min(start + SEEDS_PER_PART, last + 1)))
        jobs += run_part(options.parts / f"{seeds[0]:05d}-{seeds[-1]:05d}.json", seeds, digest)
        print(f"seeds {seeds[0]}-{seeds[-1]} done", file=sys.stderr, flush=True)
    made = {"seeds": [first, last], "rows": DEFAULT_STEPS, "detector_source": digest}
    document = {**made, **collect(jobs)}
    options.out.mkdir(parents=True, exist_ok=True)
    name = options.out / options.name
    name.with_suffix(".json").write_text(json.dumps(document, indent=1) + "\n")
    name.with_suffix(".md").write_text(markdown(document))
    print(name.with_suffix(".md").read_text())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
