"""Ends a C++ expression that gdb evaluates: at its time limit, or when somebody asks for it."""

from __future__ import annotations

import ctypes
import re
import signal
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pyharness.gdbmi.client import GdbBusyError, GdbError
from pyharness.model.errors import HarnessError
from pyharness.model.evaluation import END_SIGNAL, EVAL_TIMEOUT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.gdbmi.records import Notice

_TGKILL = 234
_SIGNAL = signal.Signals[END_SIGNAL]
_CRASH = re.compile(r"received signal (SIG\w+),")
_IN_CALL = "while in a function called from GDB"
CALL_DROPPED = "gdb dropped the call, so its locks stay locked. Continue, or end the program."
PYTHON_LOST = "Python is left in the midst of it on this thread: the program will most likely crash when it goes on."


class EndedError(HarnessError):
    """A C++ expression was ended: no value, and a call without its end."""


def crash_of(stop: Notice | None) -> str:
    """What a signal did to a call that it stopped; empty where none has."""
    if stop is None or stop.values.get("reason") != "signal-received":
        return ""
    frame = stop.values.get("frame")
    known = frame if isinstance(frame, dict) else {}
    where = f" in {known['func']}" if known.get("func", "??") != "??" else ""
    line = f", {Path(str(known['file'])).name}:{known['line']}" if "file" in known else ""
    return f"was ended by {stop.values.get('signal-name')}{where}{line}"


def crash_told(error: str) -> str:
    """What a signal did to a call, from its error: gdb 16 and newer tell only the signal; empty where none did."""
    found = _CRASH.search(error) if _IN_CALL in error.replace("\n", " ") else None
    return f"was ended by {found[1]}" if found else ""


class NativeEnding:
    """One expression at a time, on a thread that gdb holds."""

    def __init__(self) -> None:
        self.seconds = EVAL_TIMEOUT
        """What one may take."""
        self._lock = threading.Lock()
        self._runs: tuple[int, int] | None = None
        """Process and thread."""
        self._why = ""

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
            raise EndedError(f"{expression!r} {self._why}.", CALL_DROPPED) from error
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
