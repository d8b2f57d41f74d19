"""Ends a C++ expression that gdb evaluates: at its time limit, or when somebody asks for it."""

from __future__ import annotations

import ctypes
import signal
import threading
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pyharness.gdbmi.client import GdbBusyError, GdbError
from pyharness.model.errors import HarnessError
from pyharness.model.evaluation import END_SIGNAL, EVAL_TIMEOUT

if TYPE_CHECKING:
    from collections.abc import Iterator

_TGKILL = 234
_SIGNAL = signal.Signals[END_SIGNAL]
_LEFT = "gdb dropped the call, so its locks stay locked. Continue, or end the program."


class EndedError(HarnessError):
    """A C++ expression was ended: no value, and a call without its end."""


class NativeEnding:
    """One expression at a time, on a thread that gdb holds."""

    def __init__(self) -> None:
        self.seconds = EVAL_TIMEOUT
        """What one may take."""
        self._lock = threading.Lock()
        self._runs: tuple[int, int] | None = None
        """Process and thread."""
        self._why = ""
        self._stops: Counter[int] = Counter()
        """How often gdb has stopped a thread to end a call, and tells of that stop as well."""

    @contextmanager
    def limited(self, pid: int, thread: int, expression: str) -> Iterator[None]:
        """Around the command that has gdb evaluate it."""
        self._runs, self._why = (pid, thread), ""
        timer = threading.Timer(self.seconds, self.end, (f"took longer than {self.seconds:g} s and was ended",))
        timer.daemon = True
        timer.start()
        try:
            yield
        except GdbBusyError:
            raise
        except GdbError as error:
            if not self._why:
                raise
            self._stops[thread] += 1
            raise EndedError(f"{expression!r} {self._why}.", _LEFT) from error
        finally:
            timer.cancel()
            with self._lock:
                self._runs = None

    def end(self, why: str = "was interrupted") -> bool:
        """End what runs, if anything does, and say whether; from any thread."""
        with self._lock:
            if self._runs is None:
                return False
            self._why = self._why or why
            ctypes.CDLL(None).syscall(_TGKILL, *self._runs, int(_SIGNAL))
            return True

    def is_its_signal(self, name: str, thread: int) -> bool:
        """Whether a stop that gdb tells of only ended an expression: its thread stands as before."""
        if name != END_SIGNAL or not self._stops[thread]:
            return False
        self._stops[thread] -= 1
        return True
