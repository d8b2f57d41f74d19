"""Brings a stopped thread to where it may be called: not inside the allocator or the dynamic linker, which hold locks.

A stop at a breakpoint is never there; a stop by attaching or by Ctrl-C may be.
"""

from __future__ import annotations

import re
import signal
from pathlib import Path

import gdb

from pyharness.ingdb import console
from pyharness.ingdb.functions import native_names
from pyharness.ingdb.settings import temporarily
from pyharness.model.errors import HarnessError

_ALLOCATOR = re.compile(r"(je_|tc_|mi_|__libc_)?(malloc|free|calloc|realloc|memalign|aligned_alloc|posix_memalign)")
_LOCKING = re.compile(r"(libc|ld-linux[^/]*|libjemalloc|libtcmalloc[^/]*|libmimalloc)[.-]")
_MAX_DEPTH = 16
_FATAL = {signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT}


def inside_locking() -> bool:
    """Whether the selected thread is in such a call."""
    return _outermost_locking() is not None


def reach() -> None:
    """Let the selected thread finish the call that holds such a lock, if it is in one."""
    frame = _outermost_locking()
    if frame is None:
        return
    if _has_fatal_signal():
        raise HarnessError(
            "The program is ending inside the allocator, whose lock the thread holds: Python cannot be asked here.",
            "The stack and the variables of both languages are read from memory: look at these.",
        )
    if gdb.parameter("non-stop"):
        raise HarnessError("The thread is inside the allocator and cannot be asked.", "Let it run on and try again.")
    frame.select()
    with temporarily("suppress-cli-notifications", "on"), temporarily("scheduler-locking", "off"):
        console.run("finish")


def _has_fatal_signal() -> bool:
    """Whether the selected thread stands at a signal that ends the program, as where the heap was found damaged."""
    try:
        return int(gdb.parse_and_eval("$_siginfo.si_signo")) in _FATAL
    except gdb.error:  # it stands at no signal
        return False


def _outermost_locking() -> gdb.Frame | None:
    """The frame of ``malloc`` or the like, of which the thread is inside; ``None`` when it is in other code."""
    found = None
    frame: gdb.Frame | None = gdb.newest_frame()
    for _ in range(_MAX_DEPTH):
        if frame is None:
            break
        name, library = native_names.name_of(frame)
        if not library or not _LOCKING.match(Path(library).name):
            break
        if _ALLOCATOR.fullmatch(name) or Path(library).name.startswith("ld-"):
            found = frame
        frame = frame.older()
    return found
