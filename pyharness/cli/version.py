"""``pyharness --version``: the versions of what works together, without importing any of it."""

from __future__ import annotations

import platform
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

import pyharness
from pyharness.engine import facts, need, shelf
from pyharness.gdbmi.client import find_gdb
from pyharness.host.state import StateError
from pyharness.model.errors import HarnessError

if TYPE_CHECKING:
    from collections.abc import Iterator

_PATIENCE = 20.0
_OUR_OWN = "engine"
_UNBUILT = "not built yet for this torch: what needs it builds it, and `pyharness engine build` does"


def versions() -> dict[str, dict[str, str | None]]:
    """``version`` of each part, ``null`` where it is not there, and the ``file`` that is meant.

    How the extension was built, and whether it loads, is the doctor's to say: that imports torch.
    """
    gdb = _found_gdb()
    return {
        "pyharness": {"version": pyharness.__version__, "file": str(Path(pyharness.__file__).parent)},
        _OUR_OWN: {"version": None, "file": _engine()},
        "torch": _installed("torch"),
        "debugpy": _installed("debugpy"),
        "gdb": {"version": _gdb(gdb) if gdb else None, "file": gdb},
        "python": {"version": platform.python_version(), "file": sys.executable},
    }


def lines(found: dict[str, dict[str, str | None]]) -> Iterator[str]:
    """One line a part."""
    for name, part in found.items():
        version, file = part["version"], part["file"]
        if name == _OUR_OWN:
            lacks = _UNBUILT if found["torch"]["version"] else "needs torch"
            yield f"{name:<9} {file or lacks}"
        else:
            shown = f" ({file})" if version and name in {"gdb", "python"} else ""
            yield f"{name:<9} {version or 'not installed'}{shown}"


def _engine() -> str | None:
    """The file of the engine that fits this Python and its torch."""
    fits = facts.here()
    try:
        file = fits and (need.beside(fits) or shelf.find(fits))
    except StateError:
        return None
    return str(file.resolve()) if file else None


def _installed(name: str) -> dict[str, str | None]:
    try:
        found = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return {"version": None, "file": None}
    return {"version": found.version, "file": str(found.locate_file(name))}


def _found_gdb() -> str | None:
    """The gdb that is used: also the one of the extra ``[gdb]``, in this environment."""
    try:
        return find_gdb()
    except HarnessError:
        return None


def _gdb(path: str) -> str:
    try:
        answer = subprocess.run([path, "--version"], capture_output=True, text=True, check=False, timeout=_PATIENCE)
    except (OSError, subprocess.TimeoutExpired):
        return "does not run"
    return answer.stdout.partition("\n")[0].rpartition(" ")[2] or "does not run"
