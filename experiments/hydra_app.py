"""A plain Hydra app around c4sim: stock launchers and sweepers (Optuna, Nevergrad, submitit) work on it unchanged.

python experiments/hydra_app.py overrides='[checkpoint.interval=10min]'
python experiments/hydra_app.py -m interval=10min,30min,1h,3h replications=20

It returns the downtime fraction, which a sweeper minimises. `c4sim run -m` is made for large sweeps; this is
for those who have a Hydra set-up already.
"""

from dataclasses import dataclass, field

import hydra
from hydra.core.config_store import ConfigStore

from c4sim import load_scenario, simulate


@dataclass
class Config:
    scenario: str = "c4_june2023"
    interval: str = "1h"
    overrides: list[str] = field(default_factory=list)
    replications: int = 20
    seed: int = 0


ConfigStore.instance().store(name="hydra_app", node=Config)


@hydra.main(version_base="1.3", config_name="hydra_app")
def main(config: Config) -> float:
    scenario = load_scenario(config.scenario, f"checkpoint.interval={config.interval}", *config.overrides)
    downtime = simulate(scenario, config.replications, config.seed).metrics["downtime_fraction"]
    print(f"{scenario.name}, checkpoint every {config.interval}: downtime {downtime.mean:.4f}")
    assert downtime.mean is not None
    return downtime.mean


if __name__ == "__main__":
    main()
