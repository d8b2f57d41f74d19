"""What a program needs of ours and cannot read where it lives: an archive of our modules for it, and of debugpy's."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from pyharness.debugger.starting.launch import PACKAGE, packages

if TYPE_CHECKING:
    from collections.abc import Iterator

_ROOMS = ("debuggee", "engine", "fx", "host", "inspect", "model", "native", "protocol")
_NATIVE = ("_trap.abi3.so", "_guard.abi3.so")
"""Modules for any CPython from 3.10 on; where they do not load, a program does without."""
_OLDEST_NATIVE = (3, 10)

_TRACER = re.compile(r"attach_linux_\w+\.so")
"""By this pydevd traces the threads that run already, up to Python 3.11."""


def archive(suffix: str, version: tuple[int, ...]) -> bytes:
    """A zip file for a Python of that version, whose extension modules end so."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_STORED) as zipped:
        for path, name in _files(suffix, native=version >= _OLDEST_NATIVE):
            zipped.write(path, name)
    return made.getvalue()


def _files(suffix: str, *, native: bool) -> Iterator[tuple[Path, Path]]:
    own = [PACKAGE / "__init__.py", *(PACKAGE / name for name in _NATIVE if native and (PACKAGE / name).exists())]
    for path in own + [path for room in _ROOMS for path in (PACKAGE / room).rglob("*.py")]:
        yield path, path.relative_to(PACKAGE.parent)
    folder = Path(packages()["debugpy"])
    for path in (folder / "debugpy").rglob("*"):
        if path.name.endswith((".py", suffix)) or _TRACER.fullmatch(path.name):
            yield path, path.relative_to(folder)
