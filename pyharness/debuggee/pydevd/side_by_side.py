"""Has debugpy, which an IDE connected, live beside a gdb that holds the whole process whenever it stops."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyharness.debuggee.pydevd import tuning as pydevd_tuning
from pyharness.debuggee.pydevd.sent import wait_until_sent
from pyharness.model.errors import HarnessError

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

_PATIENCE = 1.0
"""Seconds until a program goes on although its IDE is not told: that may be gone."""
_FIRST_READING = 30.0
"""Seconds for gdb to answer. It reads the debug information of a library once; one that is gone is noticed at once."""


class Gdb:
    """The gdb that met this program: it plants its traps for the time of a *step into*."""

    def __init__(self, stream: socket.socket) -> None:
        self._stream: socket.socket | None = stream
        stream.settimeout(_FIRST_READING)
        self._armed = False
        self._may = _guarded()

    def into(self) -> None:
        """From now on it stops at every native function of the user's, once."""
        self._armed = self._may and self._ask(b"into\n")

    def over(self) -> None:
        """The step is over."""
        if self._armed:
            self._armed = False
            self._ask(b"over\n")

    def _ask(self, what: bytes) -> bool:
        """Have it done before this thread goes on; whether it was."""
        if self._stream is None:
            return False
        with suppress(OSError):
            self._stream.sendall(what)
            if self._stream.recv(1):
                return True
        self._stream.close()
        self._stream = None
        return False


def adapt(gdb: Gdb) -> None:
    """Adapt the debugpy of this process; none is fine."""
    debugger = _debugger()
    if debugger is None:
        return
    pydevd_tuning.tune(debugger)
    debugger.do_wait_suspend = _suspended(debugger, gdb)
    debugger.dont_trace_external_files = _ours_or(debugger.dont_trace_external_files)
    debugger.clear_dont_trace_start_end_patterns_caches()


def _guarded() -> bool:
    """Let the program outlive gdb and its traps; whether that could be done."""
    from pyharness.native.trap_guard import install_trap_guard

    try:
        install_trap_guard()
    except (HarnessError, OSError):
        return False  # not built for this Python: steps stay in Python
    return True


def _debugger() -> Any:
    if "pydevd" not in sys.modules:
        return None
    import pydevd

    return pydevd.get_global_debugger()


def _suspended(debugger: Any, gdb: Gdb) -> Any:
    """Like pydevd's ``do_wait_suspend``, which holds a thread at a stop until the user lets it go on."""
    from _pydevd_bundle.pydevd_comm_constants import CMD_STEP_INTO, CMD_STEP_INTO_MY_CODE

    wait = debugger.do_wait_suspend

    def do_wait_suspend(thread: Any, *arguments: Any, **options: Any) -> None:
        gdb.over()
        wait(thread, *arguments, **options)
        if thread.additional_info.pydev_step_cmd in (CMD_STEP_INTO, CMD_STEP_INTO_MY_CODE):
            gdb.into()
        # From gdb's next stop on the IDE can be told nothing more, as that this thread goes on.
        wait_until_sent(debugger, _PATIENCE)

    return do_wait_suspend


def _ours_or(external: Callable[[str], bool]) -> Callable[[str], bool]:
    """pydevd's question for files that are a debugger's: neither stepped into, as by a call of gdb's, nor shown."""
    package = Path(__file__).resolve().parents[2]
    ours = tuple(f"{package / part}{os.sep}" for part in ("debuggee", "fx", "model", "native"))
    return lambda path: path.startswith(ours) or external(path)
