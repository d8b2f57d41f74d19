"""The layer table of docs/architecture.md, enforced: which folder may import which."""

import ast
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent / "pyharness"
ANYTHING = {"native", "fx", "inspect", "debuggee", "gdbmi", "debugger", "dap", "session", "report", "cli"}
ANYTHING |= {"doctor", "project"}
ALLOWED = {
    "model": set(),
    "protocol": set(),
    "native": {"fx"},
    "ops": {"native"},
    "fx": {"native"},
    "inspect": {"native", "fx"},
    "debuggee": {"native", "fx", "inspect"},
    "ingdb": set(),
    "gdbmi": set(),
    "debugger": {"gdbmi"},
    "dap": {"debugger"},
    "session": {"debugger"},
    "report": set(),
    "doctor": {"gdbmi", "debugger", "ingdb"},
    "project": set(),
    "cli": ANYTHING,
    "__main__": {"cli"},
    "pytest_plugin": ANYTHING,
    "views": ANYTHING,
}
STOREYS = ({"binaries", "python", "autograd"}, {"tensors"}, {"stack"}, {"stops", "variables"}, {"mi", "commands"})
"""The folders of ``ingdb``, each above those that it may import; on the same storey none imports another."""
STDLIB_ONLY = {"model", "protocol", "ingdb", "gdbmi"}
LAZY_TORCH = {"cli", "pytest_plugin", "views", "debugger", "session", "dap", "doctor", "project", "__init__"}


def sources(pattern="**/*.py"):
    return [pytest.param(path, id=str(path.relative_to(ROOT))) for path in sorted(ROOT.glob(pattern))]


def imports(tree, *, top_level_only=False):
    nodes = tree.body if top_level_only else ast.walk(tree)
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names if node.module == "pyharness")


def layer(path):
    part = path.relative_to(ROOT).parts[0]
    return part.removesuffix(".py")


@pytest.mark.parametrize("path", sources())
def test_imports_follow_the_layer_table(path):
    here = layer(path)
    tree = ast.parse(path.read_text())
    for name in imports(tree):
        parts = name.split(".")
        if parts[0] != "pyharness" or len(parts) < 2 or here == "__init__":
            continue
        if not (ROOT / parts[1]).exists() and not (ROOT / f"{parts[1]}.py").exists():
            continue
        assert parts[1] in ALLOWED[here] | {here, *({"model", "protocol"} if here != "model" else ())}, (
            f"{here} may not import {name}"
        )


@pytest.mark.parametrize("path", sources())
def test_processes_that_must_stay_light_do(path):
    here = layer(path)
    tree = ast.parse(path.read_text())
    if here in STDLIB_ONLY:
        outside = {name.split(".")[0] for name in imports(tree)} - set(sys.stdlib_module_names) - {"gdb", "pyharness"}
        assert not outside, f"{here} is standard library only"
    if here in LAZY_TORCH:
        top = {name.split(".")[0] for name in imports(tree, top_level_only=True)}
        assert "torch" not in top, "torch is imported lazily"


@pytest.mark.parametrize("path", sources("ingdb/*/*.py"))
def test_the_folders_of_ingdb_stand_one_on_another(path):
    storey = next(number for number, folders in enumerate(STOREYS) if path.parent.name in folders)
    allowed = {path.parent.name}.union(*STOREYS[:storey])
    folders = set().union(*STOREYS)
    parts = [name.split(".") for name in imports(ast.parse(path.read_text()), top_level_only=True)]  # no types
    used = {part[2] for part in parts if part[:2] == ["pyharness", "ingdb"] and len(part) > 2} & folders
    assert used <= allowed, f"ingdb/{path.parent.name} may not import {used - allowed}"


def test_what_the_doctor_reads_files_with_runs_outside_of_gdb():
    """It may import `ingdb`, of which only some modules run outside of gdb."""
    imported = [name for path in (ROOT / "doctor").glob("*.py") for name in imports(ast.parse(path.read_text()))]
    names = {name for name in imported if name and name.startswith("pyharness.ingdb.")}
    assert names
    command = [sys.executable, "-c", f"import importlib\nfor n in {sorted(names)}: importlib.import_module(n)"]
    assert subprocess.run(command, cwd=ROOT.parent, check=False).returncode == 0


@pytest.mark.parametrize("path", sources())
def test_the_first_line_says_the_job(path):
    assert ast.get_docstring(ast.parse(path.read_text())), "a module docstring says its job"


def test_modules_of_tests_have_names_of_their_own():
    """pytest imports them by their base names."""
    names = Counter(path.name for path in Path(__file__).parent.rglob("*.py") if path.name != "conftest.py")
    assert not [name for name, count in names.items() if count > 1 and name != "__init__.py"]
