"""Has gdb read an interpreter's own file without its debug information.

A Python that was built by hand, or a debug build, has that of the whole interpreter in the file that is run: each step
out of the user's code, or over its end, would stop in the interpreter's, of which nobody asked to see anything. gdb
always reads the file that is run, whatever it may read of libraries.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import gdb

from pyharness.ingdb import console
from pyharness.ingdb.process import libraries
from pyharness.model.user_code import is_user_binary
from pyharness.reading.binaries.compile_units import compile_units
from pyharness.reading.binaries.elf import ElfError, open_elf

_LINES = (".debug_line", ".zdebug_line")
_MAIN = "python.c"


def read(path: str, root: str = "") -> bool:
    """Have gdb take the file that is run, where it is an interpreter with debug information; whether it did.

    ``root`` comes before the path of a program in a container.
    """
    if is_user_binary(path) or not _has_its_lines(f"{root}{path}"):
        return False
    file = shlex.quote(f"{root}{path}")
    try:
        console.run(f"exec-file {file}")
        console.run(f"symbol-file -readnever {file}")
    except gdb.error:  # it is gone since
        return False
    libraries.leave_unread(f"{root}{path}")
    return True


def of_process(pid: int) -> str:
    """The path of the file that it runs, as it names that; empty where that is gone, or secret."""
    try:
        path = os.readlink(f"/proc/{pid}/exe")  # noqa: PTH115  (text)
    except OSError:
        return ""
    return "" if path.endswith(" (deleted)") else path


def _has_its_lines(file: str) -> bool:
    """Whether it has lines of more than ``main``, which is all that there is where the interpreter is a library."""
    try:
        elf = open_elf(file)
        lines = any(name in elf.sections for name in _LINES)
    except (ElfError, OSError, ValueError):
        return False
    return lines and any(Path(unit.file).name != _MAIN for unit in compile_units(elf))
