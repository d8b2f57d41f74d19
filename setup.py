"""Lets pip build the extension with CMake.

In the environment, PYHARNESS_BUILD chooses debug, release (the default) or asan; PYHARNESS_EXAMPLE_OPS=OFF leaves the
example ops out.
"""

from __future__ import annotations

import os
import runpy
import shutil
import subprocess
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent
# Apart from CMake's build folders, and fresh: what an earlier run left there would end up in the wheel.
STAGING = ROOT / "build" / "setuptools"
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


shutil.rmtree(STAGING, ignore_errors=True)
setup(
    ext_modules=[Extension(f"pyharness.{name}", sources=[]) for name in DRIVER["MODULES"]],
    cmdclass={"build_ext": CMakeBuild},
    options={"build": {"build_base": str(STAGING)}, "bdist_wheel": {"bdist_dir": str(STAGING / "wheel")}},
)
