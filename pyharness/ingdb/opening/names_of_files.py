"""Where gdb looks for a program's libraries: below a folder that leads to all but what each process has of its own.

gdb opens a library by the name that the program gave to the dynamic linker. ``/proc/self/fd/5``, of a library that lies
in memory only, is a file of gdb's own there: a pipe mostly, at which it would wait for ever, or whose bytes it would
take away. gdb has one means against a name: ``sysroot``, which comes before each.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from pyharness.host.state import StateError, state_dir, temporary_dir

if TYPE_CHECKING:
    from pathlib import Path

_OWN = ("proc", "dev")
"""Folders of which each process has its own; no library lies there, but in shared memory."""
_SHARED = "dev/shm"


def without_own(root: str = "") -> str:
    """A folder with links to the folders of ``root``, as ``/proc/PID/root``, but for what is each process's own.

    That of our own root folder is made once and serves every session. ``root`` itself where there is no place for it.
    """
    if not root:
        with suppress(StateError, OSError):
            return _linked(state_dir("files"), root)
    with suppress(StateError, OSError):
        return _linked(temporary_dir() / f"files{root.replace('/', '-')}", root)
    return root


def _linked(folder: Path, root: str) -> str:
    for name in (*os.listdir(f"{root}/"), _SHARED):  # noqa: PTH208  (names, not paths)
        there, link = f"{root}/{name}", folder / name
        if name not in _OWN and os.path.isdir(there):  # noqa: PTH112  (a Path costs more than the test)
            link.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with suppress(FileExistsError):  # of an earlier session, or of one that begins now
                link.symlink_to(there)
    return str(folder)
