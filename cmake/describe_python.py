"""Tells CMake, as ``set(...)`` lines, what the extension is built against. Imports neither torch nor pybind11.

Asked at every configure and never cached, so a new interpreter or a new torch cannot meet stale paths.
"""

from __future__ import annotations

import importlib.util
import runpy
import sys
import sysconfig
from pathlib import Path


def torch_folder() -> Path:
    """Folder of the installed torch; exits with the remedy when there is none."""
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        sys.exit(
            f"{sys.executable} has no torch, whose headers the build needs: install torch there first, then pyharness. "
            "What builds in an environment of its own (python -m build, uv) needs --no-isolation, --no-build-isolation."
        )
    return Path(spec.origin).parent


def facts() -> dict[str, str]:
    """CMake variable → value."""
    torch = torch_folder()
    version = runpy.run_path(str(torch / "version.py"))["__version__"]
    return {
        "PYHARNESS_PYTHON_INCLUDE": sysconfig.get_paths()["include"],
        "PYHARNESS_PYTHON_VERSION": sysconfig.get_python_version(),
        "PYHARNESS_EXT_SUFFIX": sysconfig.get_config_var("EXT_SUFFIX"),
        "PYHARNESS_TORCH": str(torch),
        "PYHARNESS_TORCH_VERSION": str(version),
    }


if __name__ == "__main__":
    for name, value in facts().items():
        print(f"set({name} [==[{value}]==])")
