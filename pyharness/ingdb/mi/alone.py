"""Ends this gdb when the harness that asked for it is gone, whatever gdb is doing then.

gdb ends by itself at the end of its input, but only when it comes to read it: not while it waits for a thread of the
program, or for Python.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import time
from contextlib import suppress

from pyharness.ingdb import own_thread
from pyharness.ingdb.calls import guarded_call

_IN_ORDER = 0.8
"""Seconds that gdb has for its own way: it detaches, which takes every breakpoint out of the program."""
_STEP = 0.4
"""Seconds for each step to gdb's own end."""
_UNGUARDED_STEP = 4.0
"""Longer where the program would not outlive a breakpoint that is left in it."""
_NULL = subprocess.DEVNULL
_PROGRAM: dict[int, bool] = {}
"""The process that gdb is attached to → whether it outlives a breakpoint that is left in it."""


def watch(harness: int) -> None:
    """Watch over the process ``harness`` from now on."""
    own_thread.start(_watch, harness)


def _watch(harness: int) -> None:
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
        time.sleep(_STEP if outlives_breakpoints() else _UNGUARDED_STEP)
    _wake_afterwards()
    os.kill(os.getpid(), signal.SIGKILL)


def attached(program: int, *, guarded: bool) -> None:
    """Note the process that must not stay halted: gdb halts threads by a signal, which may still be on its way.

    ``guarded``: it outlives a breakpoint that is left in it.
    """
    _PROGRAM.clear()
    _PROGRAM[program] = guarded


def outlives_breakpoints() -> bool:
    """Whether the program that was attached to has our guard; what was not attached to loses nothing."""
    return all(_PROGRAM.values())


def _wake_afterwards() -> None:
    """Have the program go on when this gdb is gone: whoever is killed can do nothing then, so a shell does."""
    for program in _PROGRAM:
        words = ["sh", "-c", f"sleep 0.1; kill -CONT {program}; sleep 0.4; kill -CONT {program}"]
        with suppress(OSError):
            # The shell's mask, too. What was sent above stays blocked: gdb 18 ends of it, on this thread, at once.
            signal.pthread_sigmask(signal.SIG_SETMASK, {signal.SIGINT, signal.SIGTERM})
            subprocess.Popen(words, stdin=_NULL, stdout=_NULL, stderr=_NULL, start_new_session=True)
