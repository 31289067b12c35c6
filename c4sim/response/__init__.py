"""From the fault to the running job: detection, isolation, restart. What happens and how long it takes, drawn by
incident.
"""

from c4sim.response.detection import Detection
from c4sim.response.draws import IncidentKey, Sampler, incident_key
from c4sim.response.false_alarms import silence_limit, with_false_alarms
from c4sim.response.isolation import Isolation, Verdict
from c4sim.response.restart import Restart, RestartAttempt

__all__ = [
    "Detection",
    "IncidentKey",
    "Isolation",
    "Restart",
    "RestartAttempt",
    "Sampler",
    "Verdict",
    "incident_key",
    "silence_limit",
    "with_false_alarms",
]
