"""Ends this gdb when the harness that asked for it is gone, whatever gdb is doing then.

gdb ends by itself at the end of its input, but only when it comes to read it: not while it waits for a thread of the
program, or for Python.
"""

from __future__ import annotations

import os
import select
import signal
import threading
import time
from contextlib import suppress

from pyharness.ingdb import guarded_call

_IN_ORDER = 0.8
"""Seconds that gdb has for its own way: it detaches, which takes every breakpoint out of the program."""
_STEP = 0.4


def watch(harness: int, *, guarded: bool) -> None:
    """Watch over the process ``harness`` from now on; ``guarded``: the program outlives a breakpoint that is left."""
    threading.Thread(target=_watch, args=(harness, 1.0 if guarded else 10.0), daemon=True).start()


def _watch(harness: int, patience: float) -> None:
    ends = select.poll()
    ends.register(0, 0)  # a hang-up is told in any case; what comes in is gdb's to read
    with suppress(OSError):  # gone already: its end of our input is, too
        ends.register(os.pidfd_open(harness), select.POLLIN)
    ends.poll()
    time.sleep(_IN_ORDER)
    # Give up what it does; detach and end. A guarded call that is given up would leave Python in the middle of what no
    # thread runs any more: its thread comes back by itself when gdb is gone.
    for number in () if guarded_call.UNDER_WAY.is_set() else (signal.SIGINT, signal.SIGTERM):
        os.kill(os.getpid(), number)
        time.sleep(_STEP * patience)
    os.kill(os.getpid(), signal.SIGKILL)
