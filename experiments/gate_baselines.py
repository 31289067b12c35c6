"""Make the baselines of results/baselines/: python experiments/gate_baselines.py [NAME...] [--workers N].

One scenario for each mechanism. `c4sim check --update FILE` makes an existing one again.
"""

import argparse
from pathlib import Path

from c4sim import load_scenario
from c4sim.gate import create, write

FOLDER = Path(__file__).parent.parent / "results" / "baselines"
SOURCES = {
    "c4_june2023": ["c4_june2023"],
    "c4_dec2023": ["c4_dec2023"],
    "c4_4096": ["c4_4096"],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=list(SOURCES), help=f"of {', '.join(SOURCES)}")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    for name in options.names:
        source = SOURCES[name]
        baseline = create(load_scenario(*source), source=source, workers=options.workers)
        write(FOLDER / f"{name}.json", baseline)
        print(f"{name}: {baseline.replications} replications, a check runs {baseline.check_replications}")


if __name__ == "__main__":
    main()
