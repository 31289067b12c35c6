"""Baselines that `c4sim check` could not use, told wherever it tells of the others: annotations, JUnit XML, JSON."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

BAD_INPUT = 2


@dataclass(frozen=True)
class Refused:
    """One baseline and all that is wrong with it; each problem begins with the path."""

    path: Path
    problems: tuple[str, ...]

    def reasons(self) -> list[str]:
        """The problems without the path."""
        return [problem.removeprefix(f"{self.path}: ") for problem in self.problems]


def annotations(refused: Sequence[Refused]) -> list[str]:
    """A workflow command for each problem (form of GitHub Actions)."""
    return [
        f"::error file={_escape(str(one.path), ':,')},title=c4sim check::{_escape(reason)}"
        for one in refused
        for reason in one.reasons()
    ]


def _escape(text: str, more: str = "") -> str:
    for character in "%\r\n" + more:
        text = text.replace(character, f"%{ord(character):02X}")
    return text


def into_junit(text: str, refused: Sequence[Refused]) -> str:
    """JUnit XML with a suite for each refused baseline, whose only case is an error."""
    if not refused:
        return text
    suites = ElementTree.fromstring(text)  # noqa: S314 - this program wrote it
    for one in refused:
        suite = ElementTree.SubElement(suites, "testsuite", name=str(one.path), tests="1", failures="0", errors="1")
        case = ElementTree.SubElement(suite, "testcase", classname=str(one.path), name="baseline")
        ElementTree.SubElement(case, "error", type="bad_input", message="\n".join(one.reasons()))
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def into_document(document: dict[str, Any], refused: Sequence[Refused]) -> dict[str, Any]:
    """The JSON document of a check; its verdict is that of the refused ones, if there are any."""
    if not refused:
        return document
    listed = [{"file": str(one.path), "problems": one.reasons()} for one in refused]
    return {**document, "verdict": "bad_input", "exit_code": BAD_INPUT, "refused": listed}
