"""Ends the debugger that a test has asked for (``debugger/observing.py``): two cannot read one process."""

from __future__ import annotations

import os
import select
import signal
from contextlib import suppress

from pyharness.host.loader import words_of
from pyharness.host.process_state import debugger_of, parent_of

_OBSERVES = "observes"
_LEAVES = 5.0
"""Seconds in which a debugger lets go of a process, and ends."""


def have_observer_leave(process: int) -> None:
    """Return when no debugger of a test's holds the process; nobody else's is ended."""
    tracer = debugger_of(process)
    observer = parent_of(tracer) if tracer else 0
    if observer and _OBSERVES in words_of(observer):
        with suppress(ProcessLookupError):
            os.kill(observer, signal.SIGTERM)
        with suppress(ProcessLookupError):
            end = os.pidfd_open(tracer)
            try:
                select.select([end], [], [], _LEAVES)
            finally:
                os.close(end)
