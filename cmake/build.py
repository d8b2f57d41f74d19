"""Configures, builds and activates a preset: ``cmake/build.py debug|release|asan|tsan [--inactive]``.

The one driver of CMake; the Makefile runs it. pip needs neither (setup.py).
"""

from __future__ import annotations

import fcntl
import importlib
import os
import shutil
import subprocess
import sys
import sysconfig
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
PRESETS = ("debug", "release", "asan", "tsan")
SUFFIX = str(sysconfig.get_config_var("EXT_SUFFIX"))
PLAIN = tuple(f"_{name}.abi3.so" for name in ("guard", "trap", "xstate", "sanitized"))
FILES = (f"_C{SUFFIX}", f"_engine{SUFFIX}", *PLAIN)
"""The extension modules of a build, by file name."""
OBSOLETE = (f"_guard{SUFFIX}", f"_trap{SUFFIX}")
"""What builds had before: Python would load it rather than today's."""


def check_preset(preset: str) -> str:
    """``preset`` itself, or an exit that names the choices."""
    if preset not in PRESETS:
        sys.exit(f"There is no build '{preset}': choose {', '.join(PRESETS)}")
    return preset


def tool(name: str) -> str:
    """CMake or ninja: pip's package of it, which works in a build environment too, else the system's."""
    try:
        package = importlib.import_module(name)
    except ImportError:
        return shutil.which(name) or sys.exit(f"{name} is missing: run `make setup`, or `pip install {name}`")
    folder: str = package.CMAKE_BIN_DIR if name == "cmake" else package.BIN_DIR
    return str(Path(folder) / name)


def run(*command: str) -> None:
    """Run a command from the repository's root; its failure ends the build with its own output as the reason."""
    done = subprocess.run(command, cwd=ROOT, check=False)
    if done.returncode:
        sys.exit(f"{Path(command[0]).name} failed: see the lines above")


@contextmanager
def sole_builder(folder: Path) -> Iterator[None]:
    """Two builds in one folder would write the same files: the second waits."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def build(preset: str) -> Path:
    """Build one preset for this interpreter; its folder."""
    folder = ROOT / "build" / check_preset(preset)
    cmake, ninja = tool("cmake"), tool("ninja")
    with sole_builder(folder):
        run(cmake, "--preset", preset, *definitions(ninja))
        run(cmake, "--build", "--preset", preset)
    return folder


def definitions(ninja: str) -> Iterator[str]:
    """What the presets leave open."""
    yield f"-DPYHARNESS_PYTHON={sys.executable}"
    yield f"-DCMAKE_MAKE_PROGRAM={ninja}"


def modules(folder: Path) -> list[Path]:
    """The extension modules that a build made."""
    return [folder / name for name in FILES if (folder / name).exists()]


def link(target: Path, place: Path) -> None:
    """Make ``place`` a relative link to ``target``, atomically: a program may be importing it."""
    temporary = place.with_name(f".{place.name}.{os.getpid()}")
    temporary.symlink_to(os.path.relpath(target, place.parent))
    temporary.replace(place)


def activate(folder: Path) -> None:
    """Make a build the one that ``import pyharness._C`` loads from this tree, and that editors index."""
    for name in OBSOLETE:
        for place in (folder, ROOT / "pyharness"):
            (place / name).unlink(missing_ok=True)
    for module in modules(folder):
        link(module, ROOT / "pyharness" / module.name)
    link(folder / "compile_commands.json", ROOT / "compile_commands.json")


if __name__ == "__main__":
    arguments = [argument for argument in sys.argv[1:] if argument != "--inactive"]
    if len(arguments) != 1:
        sys.exit(__doc__)
    built = build(arguments[0])
    if "--inactive" not in sys.argv:
        activate(built)
