"""How long a restart takes and whether it succeeds."""

from typing import NamedTuple

import numpy as np

from c4sim.distributions import law_of
from c4sim.response.draws import Draws, IncidentKey
from c4sim.scenario import Scenario
from c4sim.streams import Purpose


class RestartAttempt(NamedTuple):
    """One try to bring the job back: its time, s, and whether the rendezvous succeeds at its end."""

    duration: float
    succeeds: bool


class Restart:
    """Restarts of one run, drawn by incident and try."""

    def __init__(self, scenario: Scenario, draws: Draws) -> None:
        spec = scenario.restart
        self._draws = draws
        self._law = law_of(spec.duration)
        self._by_size = spec.per_node * scenario.job.nodes
        self._nodes = scenario.job.nodes
        meeting = spec.rendezvous
        self._failure = 0.0 if meeting is None else meeting.failure
        self._pod_start = None if meeting is None or meeting.pod_start is None else law_of(meeting.pod_start)
        self._limit = None if meeting is None else meeting.limit
        self.most_attempts = spec.attempts

    def attempt(self, key: IncidentKey, tries: int) -> RestartAttempt:
        """Try number `tries` (0: the first) of one incident's restart.

        The slowest of N pods decides: its start is the quantile u^(1/N) of one pod's law. Beyond the limit the rendezvous fails
        after `limit`.
        """
        duration = self._draws.delay(self._law, Purpose.RESTART, key, tries) + self._by_size
        succeeds = self._failure == 0.0 or self._draws.uniform(Purpose.RENDEZVOUS, key, tries) >= self._failure
        if self._pod_start is None:
            return RestartAttempt(duration, succeeds)
        u = self._draws.uniform(Purpose.POD_START, key, tries) ** (1.0 / self._nodes)
        slowest = float(self._pod_start.quantile(np.array([u]))[0])
        if self._limit is not None and slowest > self._limit:
            return RestartAttempt(duration + self._limit, succeeds=False)
        return RestartAttempt(duration + slowest, succeeds)
