"""What a published cluster is held against: one YAML file a cluster, checked before anything is simulated.

Quantities and rules are names in a registry; nothing that a file says is evaluated or instantiated.
"""

import itertools
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationError

from c4sim import units
from c4sim.configure import ConfigError
from c4sim.configure.groups import GroupFile, read_group
from c4sim.scenario import Problem
from c4sim.scenario.checks import dotted, nearest
from c4sim.scenario.values import Count, Model, Number, Positive, PositiveCount
from c4sim.studies.validate_quantities import SPECIAL
from c4sim.studies.validate_rules import RULES

GROUP = "validation"
# Of the replications, for continuous integration, unless a case says otherwise.
CI_SHARE, CI_LEAST = 0.1, 40


def _quantity_value(value: Any) -> Any:
    """Shares and counts as numbers, times as text with a unit."""
    if isinstance(value, list | tuple):
        return tuple(_quantity_value(item) for item in value)
    return units.parse_duration(value) if isinstance(value, str) else value


Published = Annotated[Number | tuple[Number, Number], BeforeValidator(_quantity_value)]
Text = Annotated[str, Field(min_length=1)]


class Rule(Model):
    """kind: how published and simulated are held against each other (see validate_rules).

    absolute, relative: tolerance around the published value, of which the larger counts. relative is a share of it.
    """

    kind: str
    absolute: Positive | None = None
    relative: Positive | None = None


class KnownMiss(Model):
    """A case that the model is known to miss, and what it leaves out."""

    known_miss: Text


class Case(Model):
    """One published outcome.

    title: the quantity in words. source: where it was published. put_in: the inputs. clock: the clock that its rates
    tick on. scenario: a scenario's name; points: overrides of each variant of it that is simulated; grid: further
    variants, every combination of the values of some keys. record: instead of `published`, the cluster's list of counts
    that the quantity is computed from. independent: false where the outcome, or what it follows
    from by arithmetic, went in: then it checks mechanics only. leaves_out: what the model has not. reason: of a case
    that cannot be tested. ci_replications: in the subset for continuous integration (null: a tenth, at least 40;
    0: left out).
    """

    title: Text
    quantity: str | None = None
    source: Text
    put_in: Text
    clock: Literal["operating", "restart", "calendar"] | None = None
    published: Published | None = None
    record: str | None = None
    scenario: str | None = None
    points: Annotated[tuple[tuple[str, ...], ...], Field(min_length=1)] = ((),)
    grid: dict[str, Annotated[tuple[str, ...], Field(min_length=1)]] | None = None
    replications: Annotated[PositiveCount, Field(ge=2, le=100_000)] = 100
    ci_replications: Annotated[Count, Field(le=100_000)] | None = None
    rule: Rule
    independent: bool
    expect: Literal["hold"] | KnownMiss = "hold"
    leaves_out: str | None = None
    reason: Text | None = None

    def replications_of(self, subset: str) -> int:
        """Replications in the subset `full` or `ci`; 0 where the case is left out."""
        if subset == "full":
            return self.replications
        tenth = max(CI_LEAST, math.ceil(CI_SHARE * self.replications))
        return min(tenth, self.replications) if self.ci_replications is None else self.ci_replications

    @property
    def overrides(self) -> list[tuple[str, ...]]:
        """The overrides of every variant, in order."""
        if self.grid is None:
            return list(self.points)
        swept = [[f"{key}={value}" for value in values] for key, values in self.grid.items()]
        return [(*point, *combination) for point in self.points for combination in itertools.product(*swept)]


class Cluster(Model):
    """A cluster, its published outcomes by short name, and errors in what was published.

    records: published lists of counts, such as failures of every day.
    """

    cluster: Text
    cases: Annotated[dict[str, Case], Field(min_length=1)]
    records: dict[str, Annotated[tuple[Count, ...], Field(min_length=2)]] = Field(default_factory=dict)
    published_errors: tuple[Text, ...] = ()


def read_clusters(config_dir: str | Path | None = None) -> dict[str, Cluster]:
    """The clusters that ship, and those of the user's folder, by file name.

    Raises ConfigError with everything that is wrong in any file.
    """
    problems: list[Problem] = []
    found: dict[str, Cluster] = {}
    for file in read_group(GROUP, config_dir):
        try:
            found[file.name] = Cluster.model_validate(file.content)
        except ValidationError as error:
            problems += _problems(error, file)
        else:
            problems += _contradictions(found[file.name], file)
    if problems:
        raise ConfigError(problems)
    return found


def _problems(error: ValidationError, file: GroupFile) -> Iterator[Problem]:
    known = {name for model in (Cluster, Case, Rule, KnownMiss) for name in model.model_fields}
    seen = set()
    for entry in error.errors(include_url=False):
        path = tuple(step for step in entry["loc"] if not (isinstance(step, str) and _of_a_union(step)))
        if path in seen:
            continue
        seen.add(path)
        message = str(entry["msg"]).removeprefix("Value error, ")
        if entry["type"] == "extra_forbidden":
            message = "unknown key" + nearest(str(path[-1]), sorted(known))
        yield Problem(f"{GROUP}/{file.name}.yaml: {dotted(path)}", message[:1].lower() + message[1:])


def _of_a_union(step: str) -> bool:
    """Whether pydantic put this step in for a member of a union."""
    return step in ("float", "KnownMiss") or "[" in step


def _contradictions(cluster: Cluster, file: GroupFile) -> Iterator[Problem]:
    for name, case in cluster.cases.items():
        at = f"{GROUP}/{file.name}.yaml: cases.{name}"
        rule = RULES.get(case.rule.kind)
        if rule is None:
            hint = nearest(case.rule.kind, list(RULES))
            yield Problem(f"{at}.rule.kind", f"must be one of {', '.join(RULES)}{hint}", case.rule.kind)
            continue
        for key in sorted(rule.needs):
            if getattr(case, key) is None and not (key == "published" and case.record is not None):
                yield Problem(f"{at}.{key}", f"is required by rule {case.rule.kind}")
        yield from _wrong_record(cluster, case, at)
        if rule.simulates and (case.scenario is None or case.quantity is None):
            yield Problem(at, f"rule {case.rule.kind} needs scenario and quantity")
        yield from _wrong_form(case, at)


def _wrong_record(cluster: Cluster, case: Case, at: str) -> Iterator[Problem]:
    if case.record is None:
        return
    if case.published is not None:
        yield Problem(f"{at}.published", "give either published or record, not both", case.published)
    if case.record not in cluster.records:
        yield Problem(f"{at}.record", "no such record" + nearest(case.record, list(cluster.records)), case.record)
    counted = SPECIAL.get(case.quantity or "")
    if counted is None or counted.of_counts is None:
        names = [name for name, quantity in SPECIAL.items() if quantity.of_counts is not None]
        yield Problem(f"{at}.quantity", f"a record gives one of {', '.join(names)}", case.quantity)


def _wrong_form(case: Case, at: str) -> Iterator[Problem]:
    rule, pair = RULES[case.rule.kind], isinstance(case.published, tuple)
    if case.published is not None and rule.takes_pair != pair:
        form = "two values, from and to" if rule.takes_pair else "one value"
        yield Problem(f"{at}.published", f"rule {case.rule.kind} takes {form}", case.published)
    if isinstance(case.published, tuple) and not case.published[0] <= case.published[1]:
        yield Problem(f"{at}.published", "must go from the smaller to the larger", case.published)
    tolerances = [value for value in (case.rule.absolute, case.rule.relative) if value is not None]
    if rule.takes_tolerance != bool(tolerances):
        wanted = "needs absolute or relative" if rule.takes_tolerance else "takes no tolerance"
        yield Problem(f"{at}.rule", f"rule {case.rule.kind} {wanted}")
    if len(case.overrides) < rule.least_points:
        yield Problem(f"{at}.points", f"rule {case.rule.kind} needs at least {rule.least_points}", len(case.overrides))
