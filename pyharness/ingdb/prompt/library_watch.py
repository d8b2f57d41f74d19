"""Reads the symbols of the person's libraries as the program loads them, while ``auto-solib-add`` is off.

Reading them all would cost seconds for libtorch alone. The dynamic linker calls ``_dl_debug_state`` around each load.
"""

from __future__ import annotations

from pathlib import Path

import gdb

from pyharness.ingdb import console
from pyharness.ingdb.calls import agent
from pyharness.ingdb.process import libraries
from pyharness.ingdb.prompt.trap import quietly
from pyharness.model.user_code import is_user_binary

_FUNCTION = "_dl_debug_state"
_LOOKS = 3
"""A file is mapped before gdb can find it in the linker's list: look again at the next events."""


class _LibraryLoaded(gdb.Breakpoint):
    """Never stops; the program goes on once the new libraries have been looked at."""

    def __init__(self) -> None:
        super().__init__(_FUNCTION, internal=True)
        self.silent = True
        self.begin()

    def begin(self) -> None:
        """A program starts, or is attached to: nothing of it has been seen."""
        self._seen: frozenset[str] = frozenset()
        self._looks = 0

    def stop(self) -> bool:
        """Read what is new and the person's; a program loads a hundred others."""
        mapped = _mapped_files()
        if any(is_user_binary(path) for path in mapped - self._seen):
            self._looks = _LOOKS
        self._seen = mapped
        if self._looks:
            self._looks -= 1
            read_new()
        return False


_watches: list[_LibraryLoaded] = []


def start() -> None:
    """Watch the loads of the program that is stopped now."""
    console.run("sharedlibrary /ld-linux")
    if _watches and _watches[-1].is_valid():
        _watches[-1].begin()
    else:
        _watches.append(quietly(_LibraryLoaded))
    read_new()


def read_new() -> None:
    """Read the person's libraries, and the one that has the trap."""
    libraries.load_user_symbols()
    agent.read_symbols()


def _mapped_files() -> frozenset[str]:
    try:
        text = Path(f"/proc/{gdb.selected_inferior().pid}/maps").read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return frozenset()
    return frozenset(line[line.find("/") :] for line in text.splitlines() if ".so" in line)
