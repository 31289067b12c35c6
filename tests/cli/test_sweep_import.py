"""`import c4sim` stays cheap, and its names are there."""

import subprocess
import sys

import pytest

import c4sim

HEAVY = ("numpy", "pydantic", "simpy", "hydra", "pandas", "scipy", "pyarrow", "matplotlib")


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = f"import c4sim, sys; print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": ":".join(sys.path)}, capture_output=True, text=True
    )
    assert done.stdout.strip() == "[]", done.stderr


def test_the_names_of_the_package() -> None:
    assert {name: callable(getattr(c4sim, name)) for name in c4sim.__all__} == {
        "compare": True,
        "load_scenario": True,
        "simulate": True,
    }
    with pytest.raises(AttributeError, match="no attribute 'simulat'"):
        c4sim.simulat  # type: ignore[attr-defined]  # noqa: B018
