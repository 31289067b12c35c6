"""What a check says: lines for a terminal, a JSON document, JUnit XML, annotations for a CI log."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

from c4sim.gate.checking import Checked, Comparison, Verdict


@dataclass(frozen=True)
class Report:
    """Every baseline checked; `exit_code` 0 equivalent, 1 changed, 3 undecided."""

    checked: tuple[Checked, ...]
    messages: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """Changed before undecided before equivalent."""
        found = {checked.verdict for checked in self.checked}
        for verdict in (Verdict.CHANGED, Verdict.UNDECIDED):
            if verdict in found:
                return verdict
        return Verdict.EQUIVALENT

    @property
    def exit_code(self) -> int:
        """Exit code of `c4sim check`."""
        return int(self.verdict)

    def lines(self) -> list[str]:
        """A table for each baseline; what an update changed, if it was one."""
        return [*(line for checked in self.checked for line in _table(checked)), *self.messages]

    def as_document(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "schema_version": 1,
            "verdict": self.verdict.name.lower(),
            "exit_code": self.exit_code,
            "baselines": [_document(checked) for checked in self.checked],
            "messages": list(self.messages),
        }

    def annotations(self) -> list[str]:
        """Workflow commands that a CI log shows beside the file (form of GitHub Actions)."""
        return [
            f"::{'error' if comparison.verdict is Verdict.CHANGED else 'warning'} "
            f"file={_escape(str(checked.path), ':,')},title=c4sim check::{_escape(sentence(checked, comparison))}"
            for checked in self.checked
            for comparison in _bad(checked)
        ]


def junit(report: Report) -> str:
    """JUnit XML: a suite for each baseline, a case for each metric that can fail."""
    suites = ElementTree.Element("testsuites", name="c4sim check")
    for checked in report.checked:
        cases = [c for c in checked.comparisons if c.verdict is not None]
        suite = ElementTree.SubElement(
            suites,
            "testsuite",
            name=str(checked.path),
            tests=str(len(cases)),
            failures=str(len(list(_bad(checked)))),
            errors="0",
        )
        for comparison in cases:
            case = ElementTree.SubElement(suite, "testcase", classname=_scenario(checked), name=comparison.metric)
            if comparison.verdict is not Verdict.EQUIVALENT and comparison.verdict is not None:
                text = sentence(checked, comparison)
                ElementTree.SubElement(case, "failure", type=comparison.verdict.name.lower(), message=text)
        ElementTree.SubElement(suite, "system-out").text = "\n".join(_table(checked))
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def sentence(checked: Checked, comparison: Comparison) -> str:
    """One metric's outcome in words."""
    now = "undefined" if comparison.current is None else f"{comparison.current:.6g}"
    text = f"{_scenario(checked)}: {comparison.metric} {_word(comparison)}: {comparison.baseline:.6g} -> {now}"
    if comparison.ratio is not None:
        text += f" ({100 * (comparison.ratio - 1):+.2f} %"
        text += f", margin {100 * comparison.gate.margin:g} %)" if comparison.gate else ")"
    if comparison.verdict is Verdict.UNDECIDED:
        needed = comparison.replications
        text += "; no number of replications decides: make a larger baseline" if needed is None else ""
        text += "" if needed is None else f"; {needed} replications would decide"
    return text


def _bad(checked: Checked) -> Iterator[Comparison]:
    return (c for c in checked.comparisons if c.verdict in (Verdict.CHANGED, Verdict.UNDECIDED))


def _scenario(checked: Checked) -> str:
    return checked.result.scenario.name


def _word(comparison: Comparison) -> str:
    return "" if comparison.verdict is None else comparison.verdict.name.lower()


def _table(checked: Checked) -> Iterator[str]:
    baseline, result = checked.baseline, checked.result
    yield (
        f"{checked.path}: {checked.verdict.name.lower()} "
        f"({baseline.replications} replications against {result.n}, seed {result.seed})"
    )
    for line in checked.scenario_changes:
        yield f"  the scenario differs from the recorded one: {line}"
    yield f"  {'metric':48} {'baseline':>12} {'now':>12} {'change':>9}  interval of the change   verdict"
    yield from (f"  {_row(comparison)}".rstrip() for comparison in checked.comparisons)


def _row(c: Comparison) -> str:
    now = "undefined" if c.current is None else f"{c.current:.6g}"
    change = "" if c.ratio is None else f"{100 * (c.ratio - 1):+.2f} %"
    interval = ""
    if c.low is not None and c.high is not None:
        interval = f"{100 * (c.low - 1):+.2f} % .. {100 * (c.high - 1):+.2f} %"
    return f"{c.metric:48} {c.baseline:12.6g} {now:>12} {change:>9}  {interval:24} {_word(c)}"


def _document(checked: Checked) -> dict[str, Any]:
    return {
        "file": str(checked.path),
        "scenario": _scenario(checked),
        "verdict": checked.verdict.name.lower(),
        "seed": checked.result.seed,
        "replications": checked.result.n,
        "scenario_changes": list(checked.scenario_changes),
        "metrics": {c.metric: _metric_document(c) for c in checked.comparisons},
    }


def _metric_document(c: Comparison) -> dict[str, Any]:
    return {
        "baseline": c.baseline,
        "current": c.current,
        "ratio": c.ratio,
        "low": c.low,
        "high": c.high,
        "unit": c.unit,
        "margin": c.gate.margin if c.gate else None,
        "verdict": _word(c) or None,
        "replications_to_decide": c.replications,
    }


def _escape(text: str, more: str = "") -> str:
    for character in "%\r\n" + more:
        text = text.replace(character, f"%{ord(character):02X}")
    return text
