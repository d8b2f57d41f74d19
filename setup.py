"""Lets pip build what needs no torch: ``_trap``, ``_guard``, ``_xstate``, ``_sanitized``; each a file for all Pythons.

They take a C++ compiler and two seconds. The engine, which fits one torch, is built where it is first needed
(``pyharness/engine``): its sources go with the package.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
# Fresh: what an earlier run left there would end up in the wheel.
STAGING = ROOT / "build" / "setuptools"
MODULES = ("trap", "guard", "xstate", "sanitized")
SOURCES = ("csrc/engine", "csrc/breakpoints", "csrc/loaded_library.h", "csrc/previous_action.h", "csrc/torch_headers.h")
# As csrc/CMakeLists.txt has them, and says why.
FLAGS = "-std=c++20 -O2 -g0 -fPIC -fvisibility=hidden -fno-omit-frame-pointer -fno-builtin -fno-stack-protector"
FLAGS += " -fno-exceptions -fno-rtti -DNDEBUG -DPy_LIMITED_API=0x030a0000 -Wl,--as-needed -shared"
NO_COMPILER = (
    "pyharness: there is no C++ compiler ({}) to build it from its sources. Install one (Debian and Ubuntu: "
    "`apt-get install g++`), name one in $CXX, or install a wheel, which needs none: `make wheel` in a clone makes it."
)
NO_HEADERS = (
    "pyharness: there is no {}/Python.h to build it from its sources. Install the interpreter's headers (Debian and "
    "Ubuntu: `apt-get install python3-dev`), or install a wheel, which needs none: `make wheel` in a clone makes it."
)


def compiler() -> list[str]:
    """The command of a C++ compiler; an exit with the remedy where there is none."""
    named = shlex.split(os.environ.get("CXX", ""))
    names = [named[0]] if named else ["c++", "g++", "clang++"]
    found = [name for name in names if shutil.which(name)]
    if not found:
        sys.exit(NO_COMPILER.format(", ".join(names)))
    include = sysconfig.get_paths()["include"]
    if not (Path(include) / "Python.h").is_file():
        sys.exit(NO_HEADERS.format(include))
    return named or found[:1]


class PlainModules(build_ext):
    """One command for each module: what chooses flags for an interpreter's own compiler has nothing to add."""

    def build_extension(self, ext: Extension) -> None:
        """Compile and link all of its sources."""
        target = Path(self.get_ext_fullpath(ext.name))
        target.parent.mkdir(parents=True, exist_ok=True)
        sources = sorted(map(str, (ROOT / "csrc" / ext.name.rpartition("_")[2]).rglob("*.cpp")))
        folders = [f"-I{ROOT}", f"-I{sysconfig.get_paths()['include']}", f"-ffile-prefix-map={ROOT}/="]
        done = subprocess.run([*compiler(), *FLAGS.split(), *folders, *sources, "-ldl", "-o", str(target)], check=False)
        if done.returncode:
            sys.exit(f"pyharness: {ext.name} does not compile: see the lines above.")

    def copy_extensions_to_source(self) -> None:
        """Put them beside the package, for an editable install; a clone's active build stays."""
        for ext in self.extensions:
            place = ROOT / Path(*ext.name.split(".")).with_suffix(".abi3.so")
            if not place.exists():
                place.unlink(missing_ok=True)  # a link to a build that is gone
                shutil.copy2(Path(self.build_lib) / self.get_ext_filename(ext.name), place)


class WithEngine(build_py):
    """The package, the sources of its engine, and no example ops: their module is a clone's."""

    def run(self) -> None:
        """Copy; in a clone that is installed editable, all lies where it is."""
        super().run()
        if self.editable_mode:
            return
        package = Path(self.build_lib) / "pyharness"
        shutil.rmtree(package / "ops")
        for name in SOURCES:
            for path in [ROOT / name] if name.endswith(".h") else (ROOT / name).rglob("*.[hc]*"):
                if path.is_file():
                    place = package / path.relative_to(ROOT)
                    place.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy2(path, place)


if {"bdist_wheel", "editable_wheel", "build_ext", "build"}.intersection(sys.argv):
    compiler()  # before hundreds of lines on what is copied
shutil.rmtree(STAGING, ignore_errors=True)
setup(
    ext_modules=[Extension(f"pyharness._{name}", sources=[], py_limited_api=True) for name in MODULES],
    cmdclass={"build_ext": PlainModules, "build_py": WithEngine},
    options={
        "build": {"build_base": str(STAGING)},
        "bdist_wheel": {"bdist_dir": str(STAGING / "wheel"), "py_limited_api": "cp310"},
    },
)
