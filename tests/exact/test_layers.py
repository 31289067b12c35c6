"""Imports go one way: a module uses lines above its own, or what stands to its left on the same line.

The imports of every module are read from its source, those inside functions and under TYPE_CHECKING included.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import c4sim

PACKAGE = Path(c4sim.__file__).resolve().parent

# Modules and packages of c4sim, lowest line first.
LINES = (
    ("units", "theory", "estimate"),
    ("scenario", "configure"),
    ("streams", "distributions"),
    ("faults", "fleet", "checkpoint", "response", "detector", "synthetic"),
    ("ledger",),
    ("simulation",),
    ("metrics",),
    ("executors",),
    ("experiment", "gate"),
    ("studies", "logs"),
    ("report",),
    ("cli",),
)
PLACE = {name: (line, column) for line, names in enumerate(LINES) for column, name in enumerate(names)}
# `c4sim` itself offers the public functions and is imported for nothing else; `python -m c4sim` is the command line.
TOP = ("__init__", "__main__")

# Only these may use a package from outside that the others do without.
CONFINED = {"simpy": {"simulation"}, "hydra": {"configure"}, "omegaconf": {"configure"}, "yaml": {"configure"}}


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def dotted(path: Path) -> str:
    return ".".join(("c4sim", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")


def part_of(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


NAMES = {dotted(path) for path in modules()}


def imports(path: Path, *, running: bool = False) -> Iterator[str]:
    """Dotted names that a module imports; `running`: only those that importing the module imports."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in _at_import_time(tree) if running else ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            assert node.module is not None
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                yield name if name in NAMES else node.module


def _at_import_time(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        typing_only = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)
        if not typing_only and not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield child
            yield from _at_import_time(child)


@pytest.mark.parametrize("path", modules(), ids=dotted)
def test_imports_point_upwards_or_left(path: Path) -> None:
    part = part_of(path)
    for name in imports(path):
        if name.partition(".")[0] != "c4sim" or part in TOP:
            continue
        assert name != "c4sim", f"{dotted(path)} imports the public interface"
        used = name.split(".")[1]
        assert used == part or _before(used, part), f"{dotted(path)} imports {name}"


def _before(used: str, part: str) -> bool:
    line, column = PLACE[part]
    used_line, used_column = PLACE[used]
    return used_line < line or (used_line == line and used_column < column)


def test_every_part_has_its_place() -> None:
    assert {part_of(path) for path in modules()} - set(TOP) <= set(PLACE)


@pytest.mark.parametrize("path", modules(), ids=dotted)
def test_confined_packages(path: Path) -> None:
    for name in imports(path):
        root = name.partition(".")[0]
        assert part_of(path) in CONFINED.get(root, {part_of(path)}), f"{dotted(path)} imports {root}"


def test_theory_stands_alone() -> None:
    """Oracle and simulator share no code."""
    for path in modules():
        if part_of(path) == "theory":
            assert all(not name.startswith("c4sim") or name.startswith("c4sim.theory") for name in imports(path)), path


def test_detector_knows_nothing_of_the_simulator_nor_the_generator_of_the_kernel() -> None:
    for path in modules():
        used = {name for name in imports(path) if name.startswith("c4sim.")}
        if part_of(path) == "detector":
            assert {name.split(".")[1] for name in used} <= {"detector", "units", "estimate"}, path
        if part_of(path) == "synthetic":
            kernel = {name for name in used if name.startswith("c4sim.detector")}
            assert kernel <= {"c4sim.detector", "c4sim.detector.telemetry", "c4sim.detector.verdicts"}, path


def test_no_import_cycle() -> None:
    graph = {dotted(path): {n for n in imports(path, running=True) if n in NAMES} for path in modules()}
    done: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, " -> ".join((*trail[trail.index(name) :], name))
        if name not in done:
            for used in sorted(graph[name]):
                # A package's modules may name the package only through its other modules.
                if used != name:
                    visit(used, (*trail, name))
            done.add(name)

    for name in sorted(graph):
        visit(name, ())


def test_parsing_sees_imports_inside_functions(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(
        "import a.b\ndef f():\n    from c.d import e\nif TYPE_CHECKING:\n    import g\nclass C:\n    import h\n"
    )
    assert set(imports(module)) == {"a.b", "c.d", "g", "h"}
    assert set(imports(module, running=True)) == {"a.b", "h"}


def test_the_standard_library_and_the_dependencies_are_all_that_is_used() -> None:
    declared = (
        {
            "hydra",
            "omegaconf",
            "yaml",
            "jinja2",
            "matplotlib",
            "numpy",
            "pandas",
            "pyarrow",
            "pydantic",
            "rich",
            "scipy",
        }
        | {"simpy", "antlr4"}
        | {"distributed"}
    )
    for path in modules():
        for name in imports(path):
            root = name.partition(".")[0]
            assert root == "c4sim" or root in declared or root in sys.stdlib_module_names, (
                f"{dotted(path)} imports {root}"
            )
