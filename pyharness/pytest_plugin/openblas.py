"""The threads of OpenBLAS, which numpy has as soon as it is imported: it ends them before a fork, and starts others."""

from __future__ import annotations

import ctypes
import os
import re
from contextlib import suppress
from pathlib import Path

from pyharness.reading.process.memory_map import from_proc

_LIBRARY = re.compile(r"/[^/\n]*openblas[^/\n]*\.so[.\d]*$")
_COUNTS = tuple(f"{prefix}openblas_get_num_threads{suffix}" for prefix in ("scipy_", "") for suffix in ("64_", ""))
"""The function that tells how many threads compute, the caller's among them; numpy's and scipy's wheels rename it."""


def threads() -> int:
    """How many of them this process may have, of all copies of the library that are loaded."""
    return sum(max(0, _threads_of(path) - 1) for path in _loaded())


def _loaded() -> set[str]:
    try:
        maps = Path("/proc/self/maps").read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return set()
    return {each.path for each in from_proc(maps) if _LIBRARY.search(each.path)}


def _threads_of(path: str) -> int:
    with suppress(OSError):  # it is loaded by another name, or removed
        library = ctypes.CDLL(path, mode=os.RTLD_NOLOAD)
        for name in _COUNTS:
            if hasattr(library, name):
                return int(getattr(library, name)())
    return 1
