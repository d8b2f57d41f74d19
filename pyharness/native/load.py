"""Loads an extension module, and says what to do where it is not built or built for another torch.

In a source tree ``PYHARNESS_BUILD=debug|release|asan|tsan`` chooses a process's build, else the active one loads. The
engine of another Python or torch comes from the shelf (``pyharness.engine``).
"""

from __future__ import annotations

import importlib
import os
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import TYPE_CHECKING

from pyharness.model.errors import HarnessError

if TYPE_CHECKING:
    from types import ModuleType

_OF_TORCH = ("_C", "_engine")
_PACKAGE = Path(__file__).resolve().parent.parent
_SUFFIX = EXTENSION_SUFFIXES[0]
_WITH_OPS = "Nothing else needs them. A clone has them: `make debug-build`."
_REMEDY = "Build it for this Python and torch: `make debug-build` in the source tree."
_REINSTALL = "In a clone: `make debug-build`. Elsewhere: `pip install --force-reinstall --no-deps pyharness-debugger`."


def load(name: str = "_C", *, build: bool = False) -> ModuleType:
    """``pyharness._C``, or a smaller extension module that needs no torch; ``HarnessError`` where it cannot be had.

    ``build``: where no ``_engine`` fits, build one, which takes minutes.
    """
    _choose_build()
    if name in _OF_TORCH:
        _require_torch()
    if name == "_engine":
        return _engine(build=build)
    try:
        module = importlib.import_module(f"pyharness.{name}")
    except ImportError as error:
        raise _unusable(name, error) from error
    if name == "_C":
        _check_torch(name, getattr(module, "torch_version", None) or _torch_version())
    return module


def has_engine() -> bool:
    """Whether ``load("_engine")`` has one that was built before."""
    from pyharness.native import engines

    return engines.has_one()


def _engine(*, build: bool) -> ModuleType:
    from pyharness.native import engines  # whoever loads another module needs none of it

    try:
        return engines.load(build=build)
    except ImportError as error:
        raise _unusable("_engine", error) from error


def without_example_ops() -> bool:
    """Whether the modules are built for this Python, but ``_C``, the example ops, is left out."""
    _choose_build()
    return _is_built("_trap") and not _is_built("_C")


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


def _is_built(name: str) -> bool:
    folders = importlib.import_module("pyharness").__path__
    return any((Path(folder) / f"{name}{suffix}").exists() for folder in folders for suffix in EXTENSION_SUFFIXES)


def _unusable(name: str, error: ImportError) -> HarnessError:
    if name == "_C" and without_example_ops():
        return HarnessError("This pyharness is installed without its example ops (pyharness.ops).", _WITH_OPS)
    if not _is_built(name):
        others = sorted(path.name for path in _PACKAGE.glob(f"{name}.*.so") if path.exists())
        there = f" (only {', '.join(others)})" if others else ""
        return HarnessError(f"pyharness.{name} is not built for this Python: no {name}{_SUFFIX}{there}.", _REINSTALL)
    if name not in _OF_TORCH:
        return HarnessError(f"pyharness.{name} does not load: {error}", _REINSTALL)
    return HarnessError(
        f"pyharness.{name} does not load with torch {_torch_version()}, probably it is built for another: {error}",
        _REMEDY,
    )


def _torch_version() -> str:
    from importlib.metadata import PackageNotFoundError, version  # 60 modules that no program needs for its start

    try:
        return version("torch")
    except PackageNotFoundError:
        return "(not installed)"


def _check_torch(name: str, built: str) -> None:
    """Patch releases of torch keep its C++ interface; minor ones do not."""
    running = _torch_version()
    if built.split(".")[:2] != running.split(".")[:2]:
        raise HarnessError(f"pyharness.{name} is built for torch {built}, but torch {running} is running.", _REMEDY)
