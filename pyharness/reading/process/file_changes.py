"""What became of a library's file since the program loaded it: its lines are not those of the code that runs then."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pyharness.reading.binaries.elf import ElfError, open_elf

if TYPE_CHECKING:
    from pyharness.reading.binaries.elf import Elf

DELETED, REPLACED = "was deleted since the program loaded it", "was replaced since the program loaded it"
OVERWRITTEN = "was written over since the program loaded it"
IN_MEMORY = "lies in memory only"
_MEMORY = "/memfd:"
"""How the kernel names a file of ``memfd_create``, which it calls deleted."""


def of_path(path: str, *, deleted: bool) -> str:
    """What became of the file at ``path``, which is another one than the program's; ``deleted``: the kernel says so."""
    if deleted and path.startswith(_MEMORY):
        return IN_MEMORY
    if not os.path.lexists(path):
        return DELETED if deleted else "is missing"
    return REPLACED if deleted else "was rebuilt since"


def remedy(became: str) -> str:
    """What to do about a file that became so."""
    return "load it from a file" if IN_MEMORY in became else "start the program anew"


def since_opened(elf: Elf) -> str:
    """What became of a file since we opened it; empty where it lies there as it did."""
    try:
        status = os.stat(elf.path)  # noqa: PTH116  (asked at each stop: a Path costs more than the call)
    except OSError:
        return DELETED
    if (status.st_dev, status.st_ino) != elf.inode:
        return REPLACED
    return "" if status.st_mtime_ns == elf.modified or _is_as_it_was(elf) else OVERWRITTEN


def _is_as_it_was(elf: Elf) -> bool:
    """Whether a file that was written to has the same program still: it may have been touched, or stripped."""
    try:
        return bool(elf.build_id) and open_elf(elf.path).build_id == elf.build_id
    except ElfError:
        return False
