"""False alarms: pauses of a healthy job that outlast a watchdog's limit.

Pauses that arrive as a Poisson process of rate r with P(pause > limit) = p give false alarms as a Poisson process of
rate r p (thinning), so they are one more class of faults, which only a restart answers. No event per pause.
"""

import numpy as np

from c4sim.distributions import law_of
from c4sim.scenario import Scenario
from c4sim.scenario.combinations import BLIND_TO_SLOWNESS, FALSE_ALARM
from c4sim.scenario.faults import FaultClass
from c4sim.scenario.values import LawSpec, Rate

_ALARMED_BY_SILENCE = BLIND_TO_SLOWNESS - {"process_exit", "scheduler"}


def silence_limit(scenario: Scenario) -> float | None:
    """The shortest silence, s, that is taken for a hang: `detection.delay`, or the layers' that watch for silence;
    None if none does.

    A layer that counts from the previous one adds to it. The mean stands for a delay with a law.
    """
    detection = scenario.detection
    if detection.layers is None:
        return law_of(detection.delay).mean or None
    limits: list[float] = []
    fired = 0.0
    for layer in detection.layers:
        fired = law_of(layer.delay).mean + (fired if layer.since == "previous" else 0.0)
        if layer.kind in _ALARMED_BY_SILENCE and layer.coverage > 0.0:
            limits.append(fired)
    return min(limits, default=None)


def with_false_alarms(scenario: Scenario) -> Scenario:
    """The scenario with its false alarms as a fault class `false_alarm`; the same one if it has no pauses or no
    watchdog.
    """
    pauses = scenario.pauses
    limit = silence_limit(scenario) if pauses is not None else None
    if pauses is None or limit is None:
        return scenario
    law = law_of(LawSpec.model_construct(law=pauses.law, mean=pauses.mean, cv=pauses.cv))
    beyond = 1.0 - float(law.cdf(np.array([limit]))[0])
    rate = Rate(per_second=pauses.rate.per_second * beyond, scope=pauses.rate.scope)
    alarm = FaultClass.model_construct(rate=rate, scope="job", confined=0.0, symptom="watchdog timeout")
    nothing = LawSpec.model_construct(law="fixed", mean=0.0)
    by_cause = {**(scenario.isolation.by_cause or {}), FALSE_ALARM: nothing}
    isolation = scenario.isolation.model_copy(update={"by_cause": by_cause})
    return scenario.model_copy(update={"faults": {**scenario.faults, FALSE_ALARM: alarm}, "isolation": isolation})
