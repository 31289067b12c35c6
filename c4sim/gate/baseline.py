"""A baseline: what a scenario gave, in means and variances, written once and compared with ever after."""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from c4sim.estimate import Moments
from c4sim.scenario import Scenario, ScenarioError, validate

MAX_BYTES = 16_000_000


class BaselineError(ValueError):
    """Baselines that cannot be used: `problems` names each file and what is wrong with it."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = list(problems)
        super().__init__("\n".join(self.problems))


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Gate(_Part):
    """A metric that must stay within `margin` (relative) of its baseline."""

    metric: str
    margin: Annotated[float, Field(gt=0.0, lt=1.0)]


class Metric(_Part):
    """Mean and variance over replications; of a ratio, those of its jackknife pseudo-values."""

    mean: float
    variance: Annotated[float, Field(ge=0.0)]
    unit: str


class Baseline(_Part):
    """What a scenario gave.

    source: arguments of load_scenario that give the scenario; what they give today is what a check runs. Without a
    source a check runs `scenario` itself. check_replications: how many a check runs; `replications` made the baseline.
    """

    schema_version: Literal[1] = 1
    kind: Literal["baseline"] = "baseline"
    source: tuple[str, ...] | None = None
    scenario: dict[str, Any]
    digest: str
    seed: Annotated[int, Field(ge=0, lt=2**64)]
    replications: Annotated[int, Field(ge=2)]
    check_replications: Annotated[int, Field(ge=2)]
    gates: tuple[Gate, ...]
    metrics: dict[str, Metric]
    versions: dict[str, str]

    def moments(self, metric: str) -> Moments:
        """Count, mean and squared deviations of one metric."""
        entry = self.metrics[metric]
        return Moments(self.replications, entry.mean, entry.variance * (self.replications - 1))

    def recorded_scenario(self) -> Scenario:
        """The scenario as it was when the baseline was made."""
        return validate(self.scenario)


def read(path: Path) -> Baseline:
    """Read a baseline; raises BaselineError with everything that is wrong with the file."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise BaselineError([f"{path}: larger than {MAX_BYTES} bytes, so no baseline"])
        baseline = Baseline.model_validate_json(path.read_bytes(), strict=True)
        scenario = baseline.recorded_scenario()
    except OSError as error:
        raise BaselineError([f"{path}: cannot be read: {error.strerror or error}"]) from None
    except ValidationError as error:
        raise BaselineError([f"{path}: {_where(entry)}: {entry['msg']}" for entry in error.errors()]) from None
    except ScenarioError as error:
        raise BaselineError([f"{path}: scenario.{problem}" for problem in error.problems]) from None
    _refuse_inconsistent(path, baseline, scenario)
    return baseline


def _where(entry: Any) -> str:
    return ".".join(map(str, entry["loc"])) or "file"


def _refuse_inconsistent(path: Path, baseline: Baseline, scenario: Scenario) -> None:
    problems = []
    if scenario.digest() != baseline.digest:
        problems.append(f"{path}: digest: is not that of the scenario beside it; make the baseline again with --update")
    if not baseline.gates:
        problems.append(f"{path}: gates: at least one metric must be gated")
    known = ", ".join(list(baseline.metrics)[:5])
    missing = [gate.metric for gate in baseline.gates if gate.metric not in baseline.metrics]
    problems += [f"{path}: gates: no metric {name!r} in the baseline (it holds {known}, ...)" for name in missing]
    if problems:
        raise BaselineError(problems)


def write(path: Path, baseline: Baseline) -> None:
    """Write a baseline, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_text(json.dumps(baseline.model_dump(mode="json"), indent=2, allow_nan=False) + "\n")
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
