"""Who is slow, who hangs, who is only a victim: a straggler and hang kernel in NumPy.

    from c4sim.detector import Telemetry, detect
    for verdict in detect(Telemetry(compute_s=seconds)):
        print(verdict.kind, verdict.entity, verdict.evidence)

Knows nothing of the simulator: it imports NumPy only, and pyarrow late when a file needs it.
"""

from c4sim.detector.budget import Budget
from c4sim.detector.detect import detect
from c4sim.detector.errors import TelemetryError
from c4sim.detector.telemetry import Telemetry
from c4sim.detector.verdicts import Host, Verdict

__all__ = ["Budget", "Host", "Telemetry", "TelemetryError", "Verdict", "detect"]
