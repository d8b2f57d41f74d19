"""Threads of ours in the user's program: not seen by ``threading``, and no signal of the program's comes to them."""

from __future__ import annotations

import resource
import signal
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyharness.debuggee.link.thread_names import name_this
from pyharness.debuggee.thread_registry import REGISTRY
from pyharness.debuggee.unpatched import _thread, threading

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_start = _thread.start_new_thread  # as it is before a debugger replaces it: such a thread is never traced
_set_trace = sys.settrace  # likewise: the one that it puts there warns
_OWN_FAULTS = {signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGTRAP}
_NEEDED = 64 << 20
"""Bytes of addresses for a thread's stack, and its share of the heap."""
_running: dict[int, int] = {}
"""Ident → LWP."""


def start(function: Callable[..., None], *arguments: Any) -> None:
    """Run ``function`` on a thread of its own; ``RuntimeError`` where there can be none."""
    if lacks_memory():
        raise RuntimeError("no memory for a thread")
    with signals_blocked():
        _start(_run, (function, arguments))


@contextmanager
def signals_blocked() -> Iterator[None]:
    """What starts meanwhile gets no signal of the program's.

    A program that blocks a signal to wait for it (``sigwait``) blocks it in all of *its* threads; one that did not
    would get it.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals() - _OWN_FAULTS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def lacks_memory() -> bool:
    """Whether a limit of the program's leaves none for a thread: Python code in it would fail before its first line."""
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return False
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except OSError:  # a root folder without /proc: nobody can tell
        return False
    return limit - pages * resource.getpagesize() < _NEEDED


def is_one() -> bool:
    """Whether the calling thread is ours."""
    return _thread.get_ident() in _running


def lwps() -> set[int]:
    """The LWPs of our threads."""
    return set(_running.copy().values())


def forget() -> None:
    """In a forked child: none of them runs here."""
    _running.clear()


@contextmanager
def hidden_from_pydevd() -> Iterator[None]:
    """Our threads pass for pydevd's own: it would trace every thread that it finds, and show it."""
    known = {ident: _known_as(ident, lwp) for ident, lwp in tuple(_running.items())}
    try:
        yield
    finally:
        for ident, thread in known.items():
            if REGISTRY.active.get(ident) is thread:
                del REGISTRY.active[ident]


def _known_as(ident: int, lwp: int) -> threading.Thread:
    class Known(threading._DummyThread):
        pydev_do_not_trace = is_pydev_daemon_thread = True

        def _set_ident(self) -> None:
            self._ident = ident

        def _set_native_id(self) -> None:
            self._native_id = lwp

    before = REGISTRY.active.get(threading.get_ident())
    known = _not_this_threads(Known)
    REGISTRY.active[ident] = known
    if before is not None:  # where Python enters it as the thread that calls
        REGISTRY.active[threading.get_ident()] = before
    return known


def _not_this_threads(make: Callable[[], threading.Thread]) -> threading.Thread:
    """What ``make`` makes; from Python 3.13 on it would go with its maker, or with the next one."""
    local = getattr(threading, "_thread_local_info", None)
    tracked = getattr(local, "_track_dummy_thread_ref", None)
    made = make()
    if local is not None:
        local._track_dummy_thread_ref = tracked
    return made


def _run(function: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    if sys.gettrace() is not None:
        _set_trace(None)
    name_this()
    ident = _thread.get_ident()
    _running[ident] = _thread.get_native_id()
    try:
        function(*arguments)
    finally:
        _running.pop(ident, None)


BEGINNING = _run.__code__
"""The outermost code of a thread of ours."""
