"""How long a restart takes and whether it succeeds."""

import math
from functools import partial
from typing import NamedTuple

import numpy as np

from c4sim.distributions import law_of
from c4sim.response.draws import IncidentKey, Sampler
from c4sim.scenario import Scenario
from c4sim.streams import Purpose, Streams


class RestartAttempt(NamedTuple):
    """One try to bring the job back: its time, s, and whether the rendezvous succeeds at its end."""

    duration: float
    succeeds: bool


_attempt = partial(tuple.__new__, RestartAttempt)  # without the Python constructor of a NamedTuple


class Restart:
    """Restarts of one run, drawn by incident and try."""

    def __init__(self, scenario: Scenario, streams: Streams) -> None:
        spec = scenario.restart
        self._duration = Sampler(streams, Purpose.RESTART, law_of(spec.duration))
        self._by_size = spec.per_node * scenario.job.nodes
        self._nodes = scenario.job.nodes
        meeting = spec.rendezvous
        self._failure = 0.0 if meeting is None else meeting.failure
        self._pod_start = None if meeting is None or meeting.pod_start is None else law_of(meeting.pod_start)
        self._limit = math.inf if meeting is None or meeting.limit is None else meeting.limit
        self._rendezvous = Sampler(streams, Purpose.RENDEZVOUS)
        self._slowest = Sampler(streams, Purpose.POD_START)
        self.most_attempts = spec.attempts

    def attempt(self, key: IncidentKey, tries: int) -> RestartAttempt:
        """Try number `tries` (0: the first) of one incident's restart.

        The slowest of N pods decides: its start is the quantile u^(1/N) of one pod's law. Beyond the limit the
        rendezvous fails after `limit`.
        """
        duration = self._duration.at(key, tries) + self._by_size
        succeeds = self._failure == 0.0 or self._rendezvous.at(key, tries) >= self._failure
        if self._pod_start is None:
            return _attempt((duration, succeeds))
        u = self._slowest.at(key, tries) ** (1.0 / self._nodes)
        slowest = float(self._pod_start.quantile(np.array([u]))[0])
        if slowest > self._limit:
            return RestartAttempt(duration + self._limit, succeeds=False)
        return RestartAttempt(duration + slowest, succeeds)
