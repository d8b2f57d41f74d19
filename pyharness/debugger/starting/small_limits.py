"""What a program says whose limits are too small for a debugger in it, and which limit that is."""

from __future__ import annotations

import errno

_SHORT = "A limit is too small for a debugger in it: `ulimit -v` shows that of memory, `ulimit -u` that of threads."


def remedy(error: str, pid: int) -> str:
    """How the limit is raised that an error of the program's is about; empty where it is about none."""
    if f"[Errno {errno.EMFILE}]" in error:
        return f"Its limit of open files (`ulimit -n`) is too small for a debugger in it. {more_files(pid)}"
    short = any(word in error for word in ("MemoryError", "memory", "new thread"))
    return _SHORT if short else ""


def more_files(pid: int) -> str:
    """How a program that runs may open more of them."""
    return f"`prlimit --nofile=1024 --pid {pid}` raises it."
