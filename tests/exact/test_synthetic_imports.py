"""The generator shares nothing with the detector but the structure of the telemetry."""

import ast
from pathlib import Path

import pytest

import c4sim.detector
import c4sim.synthetic

GENERATOR = sorted(Path(c4sim.synthetic.__file__).parent.glob("*.py"))
DETECTOR = sorted(Path(c4sim.detector.__file__).parent.rglob("*.py"))


def imported(path):
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module)
    return {name for name in found if name.startswith("c4sim")}


@pytest.mark.parametrize("path", GENERATOR, ids=lambda path: path.stem)
def test_generator_imports_itself_and_the_structure_only(path):
    outside = {name for name in imported(path) if not name.startswith("c4sim.synthetic")}
    assert outside <= {"c4sim.detector.telemetry"}


@pytest.mark.parametrize("path", DETECTOR, ids=lambda path: path.stem)
def test_detector_does_not_know_the_generator(path):
    assert not {name for name in imported(path) if name.startswith("c4sim.synthetic")}
