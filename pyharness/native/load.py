"""Loads an extension module, and says what to do where it is not built or built for another torch.

In a source tree ``PYHARNESS_BUILD=debug|release|asan|tsan`` chooses a process's build, else the active one loads.
"""

from __future__ import annotations

import importlib
import os
import sysconfig
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from pyharness.model.errors import HarnessError

if TYPE_CHECKING:
    from types import ModuleType

_OF_TORCH = ("_C", "_engine")
_PACKAGE = Path(__file__).resolve().parent.parent
_REMEDY = "Run `make debug-build` in the source tree, or reinstall pyharness for this Python and torch."


def load(name: str = "_C") -> ModuleType:
    """``pyharness._C``, or a smaller extension module that needs no torch; ``HarnessError`` where it cannot be had."""
    _choose_build()
    if name in _OF_TORCH:
        _require_torch()
    try:
        module = importlib.import_module(f"pyharness.{name}")
    except ImportError as error:
        raise _unusable(name, error) from error
    if name == "_C":
        _check_torch(module.build_info()["torch_version"])
    return module


def _choose_build() -> None:
    """Look for modules in ``build/$PYHARNESS_BUILD`` first, where there is such a folder beside the package."""
    chosen = os.environ.get("PYHARNESS_BUILD")
    folder = _PACKAGE.parent / "build" / chosen if chosen else None
    package = importlib.import_module("pyharness")
    if folder and folder.is_dir() and str(folder) not in package.__path__:
        package.__path__.insert(0, str(folder))


def _require_torch() -> None:
    try:
        importlib.import_module("torch")  # first: the module links to its libraries
    except ImportError as error:
        raise HarnessError(
            f"torch cannot be imported: {error}", "Install torch (`make setup` does) in the Python that runs this."
        ) from error


def _unusable(name: str, error: ImportError) -> HarnessError:
    suffix = str(sysconfig.get_config_var("EXT_SUFFIX"))
    if not (_PACKAGE / f"{name}{suffix}").exists():
        others = sorted(path.name for path in _PACKAGE.glob(f"{name}.*.so"))
        there = f" (only {', '.join(others)})" if others else ""
        return HarnessError(f"pyharness.{name} is not built for this Python: no {name}{suffix}{there}.", _REMEDY)
    return HarnessError(
        f"pyharness.{name} does not load with torch {_torch_version()}, probably it is built for another: {error}",
        _REMEDY,
    )


def _torch_version() -> str:
    try:
        return version("torch")
    except PackageNotFoundError:
        return "(not installed)"


def _check_torch(built: str) -> None:
    """Patch releases of torch keep its C++ interface; minor ones do not."""
    running = _torch_version()
    if built.split(".")[:2] != running.split(".")[:2]:
        raise HarnessError(f"pyharness._C is built for torch {built}, but torch {running} is running.", _REMEDY)
