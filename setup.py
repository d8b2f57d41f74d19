"""Lets pip build the extension with CMake.

In the environment, PYHARNESS_BUILD chooses debug, release (the default) or asan. The example ops, which the debugger is
tried on, are for a clone: a wheel has them with PYHARNESS_EXAMPLE_OPS=ON only, an editable install lacks them with OFF.
"""

from __future__ import annotations

import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
# Apart from CMake's build folders, and fresh: what an earlier run left there would end up in the wheel.
STAGING = ROOT / "build" / "setuptools"
if "bdist_wheel" in sys.argv:
    os.environ.setdefault("PYHARNESS_EXAMPLE_OPS", "OFF")
DRIVER = runpy.run_path(str(ROOT / "cmake" / "build.py"))


class CMakeBuild(build_ext):
    """All modules come from one CMake build; an editable install links to it, so that a rebuild needs no reinstall."""

    def run(self) -> None:
        """Build, then link (in place) or copy (into a wheel)."""
        folder = DRIVER["build"](os.environ.get("PYHARNESS_BUILD", "release"))
        if self.inplace or self.editable_mode:
            DRIVER["activate"](folder)
        else:
            subprocess.run(
                [DRIVER["tool"]("cmake"), "--install", str(folder), "--prefix", str(Path(self.build_lib).resolve())],
                check=True,
            )

    def get_output_mapping(self) -> dict[str, str]:
        """No file of an editable install is copied."""
        return {}


class WithoutOps(build_py):
    """The package of the example ops comes with them."""

    def run(self) -> None:
        """Leave out what could not be imported; left out of the packages, it would come as data of pyharness."""
        super().run()
        if not DRIVER["EXAMPLE_OPS"] and not self.editable_mode:
            shutil.rmtree(Path(self.build_lib) / "pyharness" / "ops")


shutil.rmtree(STAGING, ignore_errors=True)
setup(
    ext_modules=[Extension(f"pyharness.{name}", sources=[]) for name in DRIVER["MODULES"]],
    cmdclass={"build_ext": CMakeBuild, "build_py": WithoutOps},
    options={"build": {"build_base": str(STAGING)}, "bdist_wheel": {"bdist_dir": str(STAGING / "wheel")}},
)
