"""The sources of the engine, in a clone or as a wheel has them, and what names a version of them."""

from __future__ import annotations

import hashlib
from functools import cache
from itertools import groupby
from pathlib import Path

from pyharness.model.errors import HarnessError

_PACKAGE = Path(__file__).resolve().parents[1]
_FOLDERS = ("csrc/engine", "csrc/breakpoints")
HEADERS = "csrc/torch_headers.h"
"""Precompiled, and included first in every source."""
_SHARED = ("csrc/loaded_library.h", "csrc/previous_action.h")
"""What modules without torch have, too."""
INSTALLED = _PACKAGE / "include"
"""The folder of ``pyharness/breakpoint.h``."""


@cache
def root() -> Path:
    """The folder that ``csrc`` lies in: the package, as a wheel installs it, or the clone."""
    found = [folder for folder in (_PACKAGE, _PACKAGE.parent) if (folder / HEADERS).is_file()]
    if not found:
        raise HarnessError("This pyharness lacks the sources of its engine.", "Install its wheel anew.")
    return found[0]


def files() -> list[Path]:
    """The files to compile."""
    return [path for folder in _FOLDERS for path in sorted((root() / folder).rglob("*.cpp"))]


@cache
def folders() -> dict[Path, list[Path]]:
    """The files to compile, by the folder that they lie in."""
    return {parent: list(found) for parent, found in groupby(sorted(files(), key=_parent), key=_parent)}


def _parent(path: Path) -> Path:
    return path.parent


@cache
def digest() -> str:
    """A name for all that the engine is made of, and for how."""
    found = [path for folder in _FOLDERS for path in sorted((root() / folder).rglob("*"))]
    read = [path for path in found if path.suffix in {".h", ".cpp"}]
    read += [
        root() / HEADERS,
        *(root() / name for name in _SHARED),
        *sorted(INSTALLED.rglob("*.h")),
        Path(__file__).with_name("compiler.py"),
    ]
    made = hashlib.sha256()
    for path in read:
        made.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return made.hexdigest()
