"""The scenario: everything that a user can set, in one frozen tree."""

import hashlib
import json
from typing import Any, Literal

from pydantic import Field

from c4sim.scenario.checkpoint import Checkpoint, Evaluation
from c4sim.scenario.cluster import Cluster, Job, Maintenance, Repair, Spares
from c4sim.scenario.faults import FaultClass, ScriptedFault
from c4sim.scenario.response import Detection, Isolation, Pauses, Restart
from c4sim.scenario.values import Duration, Model


class Provenance(Model):
    """Where a value comes from.

    published: stands in the paper or record named by `source`; calibrated: solved for from published outcomes;
    derived: follows from other values; assumed: neither, with a `range` (two values as text; the point is their
    geometric mean unless said in `note`); user: overridden by the user.
    """

    kind: Literal["published", "calibrated", "assumed", "derived", "user"]
    source: str | None = None
    range: tuple[str | float, str | float] | None = None
    note: str | None = None


def _single_class() -> dict[str, FaultClass]:
    return {"crash": FaultClass(mtbf="12h per job")}  # type: ignore[arg-type]


class Scenario(Model):
    """One job on one cluster for one window of time (`horizon`) or until its `work` is done.

    warmup: the metrics leave out what lies before it. `provenance` maps a dotted key to where its value comes from.
    """

    name: str = "single_class"
    horizon: Duration | None = "30d"  # type: ignore[assignment]
    work: Duration | None = None
    warmup: Duration = "0s"  # type: ignore[assignment]
    cluster: Cluster = Cluster()
    job: Job = Job()
    checkpoint: Checkpoint = Checkpoint()
    evaluation: Evaluation | None = None
    spares: Spares = Spares(per_pool="unlimited")
    repair: Repair = Repair()
    detection: Detection = Detection()
    isolation: Isolation = Isolation()
    restart: Restart = Restart()
    maintenance: Maintenance | None = None
    pauses: Pauses | None = None
    faults: dict[str, FaultClass] = Field(default_factory=_single_class)
    fault_list: tuple[ScriptedFault, ...] | None = None
    provenance: dict[str, Provenance] = Field(default_factory=dict)

    def as_document(self) -> dict[str, Any]:
        """The scenario as plain data that validates to an equal scenario."""
        return self.model_dump(mode="json")

    def digest(self) -> str:
        """SHA-256 over name-independent content: what changes a result changes it; name and provenance do not."""
        document = self.model_dump(mode="json", exclude={"name", "provenance"})
        return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()
