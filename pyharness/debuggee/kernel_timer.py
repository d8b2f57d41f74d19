"""A timer of the kernel's that signals one thread: it needs no thread of its own, and no GIL."""

from __future__ import annotations

import ctypes
import signal
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pyharness.debuggee.unpatched import _thread

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

_SIGNALS = (signal.SIGURG, signal.SIGWINCH)
"""Without a handler they do nothing: one that comes late harms nobody."""
_MONOTONIC = 1
_TO_THREAD = 4
_UNHANDLED = {0, 1}
"""``SIG_DFL`` and ``SIG_IGN``."""


class _Event(ctypes.Structure):
    _fields_ = (
        ("value", ctypes.c_void_p),
        ("signal", ctypes.c_int),
        ("notify", ctypes.c_int),
        ("thread", ctypes.c_int),
        ("rest", ctypes.c_byte * 44),
    )


class _Time(ctypes.Structure):
    _fields_ = (("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long))


class _Setting(ctypes.Structure):
    _fields_ = (("interval", _Time), ("value", _Time))


class _Action(ctypes.Structure):
    _fields_ = (("handler", ctypes.c_void_p), ("rest", ctypes.c_byte * 144))


def prepare() -> None:
    """Load what it takes, before the program's loads are followed."""
    with suppress(OSError):
        _libc()


class KernelTimer:
    """Calls ``handler`` on the main thread, which makes it, after some seconds and then in intervals.

    ``OSError`` or ``ValueError`` where that cannot be had here.
    """

    def __init__(self, handler: Callable[[], None]) -> None:
        self._libc = _libc()
        self._signal, self._before = self._free_signal()

        def on_signal(_number: int, _frame: FrameType | None) -> None:
            handler()

        signal.signal(self._signal, on_signal)
        self._mask = signal.pthread_sigmask(signal.SIG_UNBLOCK, {self._signal})
        event = _Event(signal=self._signal, notify=_TO_THREAD, thread=_thread_id())
        self._timer = ctypes.c_void_p()
        if self._libc.timer_create(_MONOTONIC, ctypes.byref(event), ctypes.byref(self._timer)):
            self._restore()
            raise OSError(ctypes.get_errno(), "timer_create")

    def start(self, seconds: float, interval: float) -> None:
        """Signal in ``seconds``, and again; from any thread."""
        setting = _Setting(_time(interval), _time(max(seconds, 1e-6)))
        self._libc.timer_settime(self._timer, 0, ctypes.byref(setting), None)

    def close(self) -> None:
        """Stop it, and leave the signal as it was."""
        self._libc.timer_delete(self._timer)
        self._restore()

    def _free_signal(self) -> tuple[signal.Signals, _Action]:
        for number in _SIGNALS:
            action = _Action()
            self._libc.sigaction(int(number), None, ctypes.byref(action))
            if (action.handler or 0) in _UNHANDLED:
                return number, action
        raise OSError("the program handles all signals that could be used")

    def _restore(self) -> None:
        signal.signal(self._signal, signal.SIG_DFL if not self._before.handler else signal.SIG_IGN)
        self._libc.sigaction(int(self._signal), ctypes.byref(self._before), None)
        signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)


@lru_cache(maxsize=1)
def _libc() -> Any:
    return ctypes.CDLL("librt.so.1", use_errno=True)  # which finds libc's, where the timers are there


def _time(seconds: float) -> _Time:
    return _Time(int(seconds), int(seconds % 1 * 1e9))


def _thread_id() -> int:
    return _thread.get_native_id()
