"""Threads of ours in the user's program: not seen by ``threading``, and no signal of the program's comes to them."""

from __future__ import annotations

import _thread
import signal
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_start = _thread.start_new_thread  # as it is before a debugger replaces it: such a thread is never traced
_OWN_FAULTS = {signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGTRAP}
_lock = _thread.allocate_lock()
_running: set[int] = set()


def start(function: Callable[..., None], *arguments: Any) -> None:
    """Run ``function`` on a thread of its own.

    A program that blocks a signal to wait for it (``sigwait``) blocks it in all of *its* threads; one that did not
    would get it.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals() - _OWN_FAULTS)
    try:
        with _lock:
            _running.add(_start(_run, (function, arguments)))
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def forget() -> None:
    """In a forked child: none of them runs here."""
    global _lock  # noqa: PLW0603  (it may be held by a thread that is not here)
    _lock = _thread.allocate_lock()
    _running.clear()


@contextmanager
def hidden_from_pydevd() -> Iterator[None]:
    """Our threads pass for pydevd's own: it would trace every thread that it finds, and show it."""
    for ident in tuple(_running):
        thread: Any = _known_as(ident)
        thread.pydev_do_not_trace = thread.is_pydev_daemon_thread = True
    try:
        yield
    finally:
        for ident in tuple(_running):
            _active().pop(ident, None)


def _known_as(ident: int) -> threading.Thread:
    class Known(threading._DummyThread):
        def _set_ident(self) -> None:
            self._ident = ident

    before = _active().get(threading.get_ident())
    known = Known()
    _active()[ident] = known
    if before is not None:  # Python 3.10 and older enter it as the thread that calls
        _active()[threading.get_ident()] = before
    return known


def _active() -> dict[int, threading.Thread]:
    active: dict[int, threading.Thread] = threading._active  # type: ignore[attr-defined]
    return active


def _run(function: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    if sys.gettrace() is not None:
        sys.settrace(None)
    try:
        function(*arguments)
    finally:
        with _lock:
            _running.discard(_thread.get_ident())
