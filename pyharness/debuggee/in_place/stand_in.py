"""A terminal that stands in for the program's standard input while a prompt has the program's own.

A thread that reads from a terminal in which another process group is in front gets an error, which is the end of its
input: ``EOFError``. Where a shell has started the program, all of it is stopped instead. Here it waits, and reads on
when the program is in front again.
"""

from __future__ import annotations

import fcntl
import os
import signal
import termios
from contextlib import suppress
from typing import Any

from pyharness.debuggee.in_place.input_readers import are_seen, input_readers
from pyharness.debuggee.unpatched import threading, time
from pyharness.host.descriptors import above_streams
from pyharness.host.process_state import has_handler, ignores, is_pending

_INPUT = 0
_PROD = signal.SIGURG
"""A signal that Python and gdb pass over, and that may come at any time."""
_DEFAULT = 0
_PATIENCE, _LOOKS = 0.5, 0.001
"""Seconds."""


class StandIn:
    """Another terminal as standard input; none, where that is no terminal, or where no thread could be prodded."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._own = self._keys = -1
        """The program's terminal while another stands in for it, and the end where that one's keys would come."""
        self._other: os.stat_result | None = None
        self._libc = _libc()
        os.register_at_fork(after_in_child=self._forked)

    def begin(self) -> None:
        """Whoever reads now waits from now on: a prompt is about to be put in front. Where nobody does, all stays."""
        with self._lock, suppress(OSError, termios.error):
            if self._own >= 0 or not self._is_needed() or not input_readers():
                return
            keys, other = map(above_streams, os.openpty())
            try:
                termios.tcsetattr(other, termios.TCSANOW, termios.tcgetattr(_INPUT))
                fcntl.fcntl(other, fcntl.F_SETFL, fcntl.fcntl(_INPUT, fcntl.F_GETFL))
                own = fcntl.fcntl(_INPUT, fcntl.F_DUPFD_CLOEXEC, _INPUT + 3)
            except BaseException:
                os.close(keys)
                raise
            else:
                os.dup2(other, _INPUT)
                self._own, self._keys, self._other = own, keys, os.fstat(_INPUT)
            finally:
                os.close(other)
            self._prod()

    def end(self) -> None:
        """Whoever waits reads: the program is in front."""
        with self._lock, suppress(OSError):
            if self._own < 0:
                return
            self._put_back()
            if self._prod():
                os.close(self._keys)  # else whoever waits there still would be told the end of its input

    def _put_back(self) -> None:
        with suppress(OSError):  # the program has closed it meanwhile
            if self._other and os.path.samestat(os.fstat(_INPUT), self._other):  # else it has put another there
                os.dup2(self._own, _INPUT)
        os.close(self._own)
        self._own = -1

    def _forked(self) -> None:
        """The child has a standard input of its own."""
        self._lock = threading.Lock()
        if self._own >= 0:
            self._put_back()
            os.close(self._keys)

    def _is_needed(self) -> bool:
        """Whether this is the terminal in which others may be in front, and its readers are seen and can be prodded."""
        os.tcgetpgrp(_INPUT)  # ``OSError`` for any other
        process = os.getpid()
        taken = has_handler(process, _PROD) or ignores(process, _PROD)
        return are_seen() and not taken and hasattr(self._libc, "tgkill")

    def _prod(self) -> bool:
        """Have each thread that waits begin its system call again; whether all of them have."""
        process, readers = os.getpid(), input_readers()
        if not readers:
            return True
        self._libc.signal(_PROD, self._libc.abs)  # which does nothing: `read` goes on, `select` is begun again
        for lwp in readers:
            self._libc.tgkill(process, lwp, _PROD)
        ends = time.monotonic() + _PATIENCE
        while any(is_pending(process, lwp, _PROD) for lwp in readers):
            if time.monotonic() > ends:
                return False
            time.sleep(_LOOKS)
        self._libc.signal(_PROD, _DEFAULT)
        return True


def _libc() -> Any:
    """``None`` in a Python without ``ctypes``."""
    try:
        import ctypes
    except ImportError:
        return None
    return ctypes.CDLL(None)
