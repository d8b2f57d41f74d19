"""Where the Python variable of a name is, in the frames of the selected thread."""

from __future__ import annotations

from typing import TYPE_CHECKING

import gdb

from pyharness.ingdb import torch_process
from pyharness.ingdb.process import libraries
from pyharness.reading.process.memory import Memory, UnreadableError
from pyharness.reading.python.layout import UnknownPythonError
from pyharness.reading.python.runtime import find_python

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.reading.process.mapped_files import Library


def address_of(name: str) -> int | None:
    """Address of the object that ``name`` is in the innermost Python frame that has such a local variable."""
    try:
        return next((address for known, address in _variables() if known == name), None)
    except (UnreadableError, UnknownPythonError, gdb.error):
        return None


def _variables() -> Iterator[tuple[str, int]]:
    """Names and addresses of local variables, innermost frame first."""
    python = find_python(Memory(torch_process.read), _files())
    if python is None:
        return
    pthread = int(gdb.newest_frame().read_register("fs_base"))
    for thread in python.threads(lambda _native, known, _interpreter: known == pthread):
        for loop in thread.loops:
            for frame in loop.frames:
                yield from python.local_addresses(frame)


def _files() -> Iterator[Library]:
    """The files that may hold the interpreter, the likely ones first."""
    for part in ("libpython", "python"):
        likely = libraries.find_library(part)
        if likely:
            yield likely
    yield from libraries.libraries()
