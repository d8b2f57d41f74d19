"""Opens a core file with the program that made it, so that its memory, its libraries and its symbols are all there."""

from __future__ import annotations

import re
import shlex

import gdb

from pyharness.ingdb import attach, libraries
from pyharness.ingdb.settings import temporarily

_ENTRY = re.compile(r"AT_ENTRY\s.*?(0x[0-9a-f]+)")


def open_core(path: str) -> None:
    """Read a core file, the executable that it names, and the user's libraries; raises ``gdb.error``."""
    attach.configure()
    # gdb reads libc whatever we say; with debug symbols installed for it, in full.
    with temporarily("debug-file-directory", "/nonexistent"):
        gdb.execute(f"core-file {path}", to_string=True)
        executable = _executable()
        if executable:
            gdb.execute(f"file {shlex.quote(executable)}", to_string=True)
            gdb.execute(f"core-file {path}", to_string=True)
    libraries.load_user_symbols()


def _executable() -> str | None:
    """The program of a core file: the file that its first instruction lies in."""
    entry = _ENTRY.search(gdb.execute("info auxv", to_string=True))
    library = libraries.library_at(int(entry[1], 16)) if entry else None
    return library.path if library else None
