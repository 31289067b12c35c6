"""How many spares does a job need to have its nodes with a given probability? Closed form beside simulation."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from c4sim.experiment import Value, simulate
from c4sim.scenario import Problem, Scenario, ScenarioError, validate
from c4sim.scenario.checks import total_spares
from c4sim.studies.spares_model import SparesModel, spares_model
from c4sim.theory import fleet as theory

# The standard error aimed at, as a share of 1 - probability, and the most failures simulated for one number of spares.
_PRECISION = 0.1
_MOST_FAILURES = 60_000.0
_REPAIRS_TO_WARM_UP = 10.0
_LONGEST_WARM_UP = 50 * 365 * 86_400.0


@dataclass(frozen=True)
class Candidate:
    """One number of spares: the share of time in which the job has its nodes, simulated and in closed form."""

    spares: int
    simulated: Value
    closed_form: float | None

    def as_document(self) -> dict[str, Any]:
        """Plain data for JSON."""
        simulated = {"mean": self.simulated.mean, "low": self.simulated.low, "high": self.simulated.high}
        return {"spares": self.spares, "simulated": simulated, "closed_form": self.closed_form}


@dataclass(frozen=True)
class SparesPlan:
    """Fewest spares, in one shared pool, with which the job has its nodes in a share `probability` of the time.

    closed_form: None where no closed form holds (a warning says why) or no number of spares is enough. simulated: None
    when none that was tried is enough. offered_load: mean repairs in progress if each found a free crew at once.
    clock: of the fault classes that take nodes out ("mixed" when they differ). candidates: the numbers of spares that
    were simulated, the scenario's own among them. Each of the `replications` runs leaves out `warmup_s` and measures
    `window_s`.
    """

    probability: float
    closed_form: int | None
    simulated: int | None
    offered_load: float
    crews: int | None
    clock: str | None
    warmup_s: float
    window_s: float
    replications: int
    seed: int
    candidates: tuple[Candidate, ...]
    warnings: tuple[str, ...]

    def as_document(self) -> dict[str, Any]:
        """Plain data for JSON; crews None means unlimited."""
        return {
            "probability": self.probability,
            "closed_form": self.closed_form,
            "simulated": self.simulated,
            "offered_load": self.offered_load,
            "crews": self.crews,
            "clock": self.clock,
            "warmup_s": self.warmup_s,
            "window_s": self.window_s,
            "replications": self.replications,
            "seed": self.seed,
            "candidates": [candidate.as_document() for candidate in self.candidates],
            "warnings": list(self.warnings),
        }


def plan_spares(
    scenario: Scenario, probability: float, *, replications: int = 16, seed: int = 0, workers: int = 1
) -> SparesPlan:
    """Spares needed so that the job has its nodes with `probability` (stationary share of time, 0 < probability < 1).

    Closed form: birth-death chain of the nodes down (theory.fleet), on the clock of the scenario's faults, shelf
    spares, no delay but repair. Simulation: the scenario as it stands, with its own delays, from a full fleet; a
    warm-up is left out and the window is meant to give a standard error of a tenth of 1 - probability. All candidates
    share their random numbers. The scenario's number of spares, horizon, work, cluster.nodes and job.max_nodes are set
    aside.

    Raises ScenarioError for a probability outside (0, 1).
    """
    if not 0.0 < probability < 1.0:
        raise ScenarioError([Problem("probability", "must lie between 0 and 1, both excluded", probability)])
    model = spares_model(scenario)
    closed, unstable = _closed_form(model, probability)
    warnings = [*model.notes, *([unstable] if unstable else [])]
    guess = theory.poisson_spares_needed(model.load, probability) if closed is None else closed
    own = total_spares(scenario)
    warmup = max(_warm_up(model, spares, probability) for spares in (guess, own) if spares is not None)
    window = _window(model, probability) / replications
    search = _Search(scenario, warmup, window, replications, seed, workers)
    simulated = None
    # Without a stationary state more spares only delay the day on which they run out: there is nothing to look for.
    if closed is not None or not unstable:
        simulated = fewest(lambda spares: search.share(spares) >= probability, guess, most=10 * guess + 100)
    if own is not None:
        search.share(own)
    candidates = tuple(
        Candidate(spares, value, _exact(model, spares)) for spares, value in sorted(search.found.items())
    )
    warnings += _doubts(candidates, simulated, probability)
    return SparesPlan(
        probability,
        closed,
        simulated,
        model.load,
        model.crews,
        model.clock,
        warmup,
        window,
        replications,
        seed,
        candidates,
        tuple(warnings),
    )


def _closed_form(model: SparesModel, probability: float) -> tuple[int | None, str | None]:
    """(spares needed, None where no closed form holds or none is enough; warning of an unstable shop)."""
    unstable = theory.stability_warning(model.load, model.crews)
    if model.load == 0.0:
        return 0, unstable
    if not model.closed or model.crews == 0:
        return None, unstable
    needed = theory.spares_needed(
        model.nodes,
        model.rate,
        model.stay,
        probability,
        crews=model.crews,
        clock="calendar" if model.clock == "calendar" else "operating",
        most=10_000,
    )
    return needed, unstable


def _exact(model: SparesModel, spares: int) -> float | None:
    if not model.closed or model.crews == 0 or model.load == 0.0:
        return None
    clock: theory.Clock = "calendar" if model.clock == "calendar" else "operating"
    return theory.probability_job_has_nodes(model.nodes, spares, model.rate, model.stay, crews=model.crews, clock=clock)


def _warm_up(model: SparesModel, spares: int, probability: float) -> float:
    """Time, s, after which a full fleet is stationary: the share with its nodes within a tenth of 1 - probability."""
    warmup = _REPAIRS_TO_WARM_UP * model.stay
    exact = _exact(model, spares)
    if model.crews is None or exact is None:
        return warmup if model.crews is None else max(warmup, 730 * 86_400.0)
    clock: theory.Clock = "calendar" if model.clock == "calendar" else "operating"
    while warmup < _LONGEST_WARM_UP:
        law, _ = theory.transient_law(
            model.nodes, spares, model.rate, model.stay, warmup, crews=model.crews, clock=clock
        )
        if abs(float(law[: spares + 1].sum()) - exact) <= _PRECISION * (1.0 - probability):
            break
        warmup *= 2.0
    return warmup


def _window(model: SparesModel, probability: float) -> float:
    """Time, s, to simulate for one number of spares, over all replications.

    The share of time has a variance of about 2 t p (1 - p) / T at most, t the relaxation time of the number down: the
    stay itself, or 1 / (sqrt(c / stay) - sqrt(N lam))^2 with c crews (Morse, Operations Research 3 (1955) 255).
    """
    if model.load == 0.0:
        return 86_400.0
    relaxation = model.stay
    if model.crews:
        gap = abs(math.sqrt(model.crews) - math.sqrt(model.load))
        relaxation = max(1.0, min(gap**-2, 1e6) if gap else 1e6) * model.stay
    wanted = 2.0 * relaxation * probability / ((1.0 - probability) * _PRECISION**2)
    return min(wanted, _MOST_FAILURES / (model.nodes * model.rate))


class _Search:
    """Simulated shares of time by number of spares, each computed once."""

    def __init__(
        self, scenario: Scenario, warmup: float, window: float, replications: int, seed: int, workers: int
    ) -> None:
        document = scenario.as_document()
        document["work"] = None
        document["warmup"] = f"{warmup!r}s"
        document["horizon"] = f"{warmup + window!r}s"
        document["cluster"]["nodes"] = document["job"]["max_nodes"] = None
        self._document = document
        self._replications, self._seed, self._workers = replications, seed, workers
        self.found: dict[int, Value] = {}

    def share(self, spares: int) -> float:
        if spares not in self.found:
            pool = self._document["spares"] | {"per_pool": None, "total": spares}
            scenario = validate(self._document | {"spares": pool})
            result = simulate(scenario, self._replications, self._seed, workers=self._workers)
            self.found[spares] = result.metrics["probability_job_has_nodes"]
        return self.found[spares].mean or 0.0


def fewest(enough: Callable[[int], bool], guess: int, most: int) -> int | None:
    """Smallest number from 0 to `most` that is enough, None if there is none; `enough` stays true once it is true.

    Steps of 1, 2, 4, ... from `guess` until the answer is enclosed, then halving.
    """
    low, high, step = -1, most + 1, 1
    trial = guess
    while 0 <= trial <= most and low < trial < high:
        if enough(trial):
            high, trial = trial, trial - step
            trial = max(trial, 0) if high > 0 else -1
        else:
            low, trial = trial, trial + step
        step *= 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high if high <= most else None


def _doubts(candidates: tuple[Candidate, ...], simulated: int | None, probability: float) -> list[str]:
    by_number = {candidate.spares: candidate.simulated for candidate in candidates}
    if simulated is None:
        return ["no answer by simulation: more spares do not help, or none of those tried is enough"]
    near = [by_number[spares] for spares in (simulated - 1, simulated) if spares in by_number]
    if any(v.low is not None and v.high is not None and v.low < probability < v.high for v in near):
        return ["simulated: the 95 % interval of a number of spares next to the answer contains the probability"]
    return []
