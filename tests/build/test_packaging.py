"""The wheel and the source distribution hold what they must, and the wheel works where it is installed."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from kit import needs
from kit import wheel as wheels

pytestmark = [
    pytest.mark.timeout(1200),
    pytest.mark.rotated_tests(turns=3),
]  # the wheel is built, where there is none yet

SOURCES = ("benchmarks/", "cmake/", "csrc/", "docs/", "examples/", "pyharness/", "scripts/", "tests/")
ASK = "from pyharness.native.load import load; print(load('_trap').__file__)"


def build(root: Path, kind: str, folder: Path) -> Path:
    command = [sys.executable, "-m", "build", "--no-isolation", f"--{kind}", "--outdir", str(folder), str(root)]
    environment = {key: value for key, value in os.environ.items() if key != "PYHARNESS_BUILD"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    (made,) = folder.iterdir()
    return made


@pytest.fixture(scope="module")
def wheel() -> Path:
    return wheels.wheel()


def test_the_wheel_is_for_this_platform_and_complete(root, wheel):
    assert "none-any" not in wheel.name
    archive = zipfile.ZipFile(wheel)
    names = set(archive.namelist())
    everything = [path for path in (root / "pyharness").rglob("*") if path.is_file() and path.parent.name != "ops"]
    files = [path for path in everything if path.suffix not in {".so", ".pyc"}]
    kinds = {path.suffix for path in files} | {path.name for path in files}
    assert {".py", ".pyi", ".h", ".html", ".css", ".js", "py.typed"} <= kinds
    assert {str(path.relative_to(root)) for path in files} <= names
    (entry_points,) = [name for name in names if name.endswith(".dist-info/entry_points.txt")]
    assert "pyharness = pyharness.fx.backend:compile_captured" in archive.read(entry_points).decode()
    assert sorted(name for name in names if name.endswith(".so")) == [
        "pyharness/_guard.abi3.so",
        "pyharness/_sanitized.abi3.so",
        "pyharness/_trap.abi3.so",
        "pyharness/_xstate.abi3.so",
    ]
    headers = {
        path.relative_to(root) for part in ("engine", "breakpoints") for path in (root / "csrc" / part).rglob("*.h")
    }
    assert {f"pyharness/{name}" for name in headers} <= names, "the engine is built where torch is"
    assert not [name for name in names if name.startswith("pyharness/ops/")]
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"pyharness", "pyharness_debugger"}


def test_the_wheel_installs_and_loads(wheel, tmp_path):
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", str(tmp_path)]
    subprocess.run([*pip, str(wheel)], check=True)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    environment.pop("PYHARNESS_BUILD", None)
    answer = subprocess.check_output([sys.executable, "-c", ASK], env=environment, cwd=tmp_path, text=True)
    assert Path(answer.strip()).is_relative_to(tmp_path)


def test_the_wheel_names_no_folder_of_this_machine(root, wheel):
    archive = zipfile.ZipFile(wheel)
    modules = [name for name in archive.namelist() if name.endswith(".so")]
    assert [name for name in modules if str(root).encode() in archive.read(name)] == []


def test_the_source_distribution_holds_all_sources(root, tmp_path):
    archive = build(root, "sdist", tmp_path)
    with tarfile.open(archive) as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}
    if not (root / ".git").exists():
        needs.skip("only a clone knows which files are sources")
    tracked = subprocess.check_output(["git", "ls-files"], cwd=root, text=True).split("\n")
    wanted = {name for name in tracked if name.startswith(SOURCES)}
    assert wanted
    assert wanted <= names
    assert {
        "CMakeLists.txt",
        "CMakePresets.json",
        "setup.py",
        "pyproject.toml",
        "Makefile",
        "LICENSE",
        "CONTRIBUTING.md",
    } <= names
