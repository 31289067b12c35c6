"""What a sweep is to run: points, replications, seed. Its document is the sweep's manifest."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol, Self

from c4sim.experiment import documents
from c4sim.experiment.manifest import SCHEMA_VERSION, scenario_entry, versions
from c4sim.experiment.precision import Precision, first_count
from c4sim.experiment.result import COMMON_POINT, check_seed
from c4sim.scenario import Scenario, ScenarioError, validate


class SweepError(ValueError):
    """A sweep that cannot be run or continued as asked; the message is for the user."""


class Configured(Protocol):
    """A point as configure gives it."""

    @property
    def index(self) -> int: ...

    @property
    def swept(self) -> Mapping[str, Any]: ...

    @property
    def scenario(self) -> Scenario | None: ...

    @property
    def problems(self) -> Sequence[object]: ...


@dataclass(frozen=True)
class Point:
    """One point of a sweep. values: swept key -> value as given; without a scenario `error` says why there is none."""

    number: int
    values: Mapping[str, Any]
    scenario: Scenario | None
    error: str | None = None


@dataclass(frozen=True)
class Plan:
    """Points and what to do with each.

    base: what the points are changes of, for the manifest. common_random_numbers: every point sees the same faults (its
    streams share one key), so that differences between points are paired; without, points are independent.
    """

    base: Scenario
    points: tuple[Point, ...]
    replications: int | Precision
    seed: int = 0
    common_random_numbers: bool = True
    made_with: Mapping[str, str] = field(default_factory=versions)

    def __post_init__(self) -> None:
        first_count(self.replications)
        check_seed(self.seed)
        if not any(point.scenario for point in self.points):
            raise SweepError("points: at least one point must have a scenario")
        if [point.number for point in self.points] != list(range(len(self.points))):
            raise SweepError("points: must be numbered 0, 1, 2, ... in order")

    @classmethod
    def of(
        cls,
        points: Sequence[Configured],
        replications: int | Precision,
        seed: int = 0,
        *,
        common_random_numbers: bool = True,
    ) -> Self:
        """The plan of points that configure composed."""
        made = tuple(
            Point(
                number,
                dict(p.swept),
                p.scenario,
                _problem_text(p.problems),
            )
            for number, p in enumerate(points)
        )
        base = next((point.scenario for point in made if point.scenario is not None), None)
        if base is None:
            raise SweepError("points: at least one point must have a scenario")
        return cls(base, made, replications, seed, common_random_numbers)

    def key(self, point: Point) -> int:
        """The point's part in the key of its random streams."""
        return COMMON_POINT if self.common_random_numbers else 1 + point.number

    def swept_keys(self) -> list[str]:
        """Every key that some point sets, in the order of first use."""
        return list(dict.fromkeys(key for point in self.points for key in point.values))

    def document(self) -> dict[str, Any]:
        """The manifest: all that is needed to run the sweep again."""
        base = self.base.as_document()
        replications = self.replications
        return {
            "schema_version": SCHEMA_VERSION,
            "kind": "sweep",
            "base": scenario_entry(self.base),
            "seed": self.seed,
            "replications": asdict(replications) if isinstance(replications, Precision) else replications,
            "common_random_numbers": self.common_random_numbers,
            "estimator": "ratio of sums over replications; 95 % interval by the jackknife",
            "versions": dict(self.made_with),
            "points": [_point_entry(point, base) for point in self.points],
        }

    def digest(self) -> str:
        """SHA-256 of what is to be run, whatever the versions."""
        document = self.document()
        del document["versions"]
        return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()


def _problem_text(problems: Sequence[object]) -> str | None:
    return "; ".join(map(str, problems)) or None


def _point_entry(point: Point, base: Mapping[str, Any]) -> dict[str, Any]:
    entry: dict[str, Any] = {"number": point.number, "values": dict(point.values)}
    if point.scenario is None:
        return {**entry, "error": point.error or "no scenario"}
    return {
        **entry,
        "digest": point.scenario.digest(),
        "change": documents.change(base, point.scenario.as_document()),
    }


def read_plan(document: Mapping[str, Any]) -> Plan:
    """The plan that a manifest describes. Raises SweepError with what is wrong with it."""
    if document.get("schema_version") != SCHEMA_VERSION or document.get("kind") != "sweep":
        raise SweepError(f"manifest: must be of kind sweep and schema_version {SCHEMA_VERSION}")
    try:
        base = document["base"]["document"]
        replications = document["replications"]
        return Plan(
            validate(base),
            tuple(_read_point(entry, base) for entry in document["points"]),
            Precision(**replications) if isinstance(replications, Mapping) else replications,
            document["seed"],
            document["common_random_numbers"],
        )
    except ScenarioError as error:
        raise SweepError("\n".join(f"manifest: {problem}" for problem in error.problems)) from None
    except (KeyError, TypeError, AttributeError) as error:
        raise SweepError(f"manifest: is no manifest of a sweep ({type(error).__name__}: {error})") from None
    except ValueError as error:
        raise SweepError(f"manifest: {error}") from None


def _read_point(entry: Mapping[str, Any], base: Mapping[str, Any]) -> Point:
    if "error" in entry:
        return Point(entry["number"], entry["values"], None, entry["error"])
    scenario = validate(documents.apply(base, entry["change"]))
    if scenario.digest() != entry["digest"]:
        raise ValueError(f"points[{entry['number']}]: its digest is not that of its scenario")
    return Point(entry["number"], entry["values"], scenario)


def plan_differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Readable lines for what differs between two manifests."""
    return documents.differences(_comparable(old), _comparable(new))


def _comparable(document: Mapping[str, Any]) -> dict[str, Any]:
    """The manifest with its points by number, and without digests, which only repeat what differs elsewhere."""
    points = {f"points[{entry['number']}]": {**entry, "digest": None} for entry in document.get("points", ())}
    base = document.get("base", {})
    rest = {key: value for key, value in document.items() if key not in ("points", "base")}
    return {**base.get("document", {}), **rest, **points}
