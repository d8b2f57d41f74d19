"""Subinterpreters hidden from pydevd's library, which looks for threads in the newest of Python's interpreters alone.

There it would set a trace function of the main one's, which waits for the GIL that its own thread has: the program
would stand for good. And the threads of the main one would not be traced.
"""

from __future__ import annotations

import ctypes
import sys
from collections import deque
from functools import partial
from itertools import chain
from operator import getitem, setitem
from typing import TYPE_CHECKING, Any, cast

from pyharness.debuggee.pydevd.frames.own_tracer import OwnTracer

if TYPE_CHECKING:
    from collections.abc import Callable

_WORDS = 64
"""Words of CPython's state of a process; its interpreters are among the first twenty of 3.9 to 3.11."""
_UNABLE = -1


def watch() -> None:
    """Have pydevd trace threads of the main interpreter alone."""
    import pydevd_tracing

    load = pydevd_tracing._load_python_helper_lib
    pydevd_tracing._load_python_helper_lib = lambda: _Library.of(load())


class _Library:
    """pydevd's own, as it would be if there were no subinterpreters."""

    def __init__(self, attach: Callable[..., int]) -> None:
        self._attach = attach

    @classmethod
    def of(cls, library: Any) -> _Library | OwnTracer | None:
        """Our own where pydevd has none for this machine; ``None`` for a Python that is debugged without."""
        if library is None:
            return OwnTracer() if sys.version_info < (3, 12) else None
        return cls(library.AttachDebuggerTracing)

    def AttachDebuggerTracing(self, *arguments: Any) -> int:  # noqa: N802  (the library's name for it)
        """Have a thread traced; what this returns is not 0 where it is not."""
        main, newest = _interpreter("Main"), _interpreter("Head")
        if main == newest:
            return self._attach(*arguments)
        interpreters = _interpreters(newest, main)
        return _UNABLE if interpreters is None else _with_first(interpreters, main, partial(self._attach, *arguments))


def _with_first(interpreters: ctypes.Array[ctypes.c_void_p], first: int, call: partial[int]) -> int:
    """Call with another in the first place; all in C, where nobody else gets the GIL between two of these."""
    before: list[int] = []
    found: list[int] = []
    put, place = cast("Callable[..., None]", setitem), ((interpreters,), (0,))
    turns = (
        map(before.append, map(getitem, *place)),
        map(put, *place, (first,)),
        map(found.append, map(partial.__call__, (call,))),
        map(put, *place, map(getitem, (before,), (0,))),
    )
    try:
        deque(chain.from_iterable(turns), maxlen=0)
    except BaseException:
        interpreters[0] = before[0]
        raise
    return found[0]


def _interpreter(which: str) -> int:
    ask = getattr(ctypes.pythonapi, f"PyInterpreterState_{which}")
    ask.restype = ctypes.c_void_p
    return int(ask())


def _interpreters(newest: int, main: int) -> ctypes.Array[ctypes.c_void_p] | None:
    """Where Python keeps which of its interpreters is the newest, and behind it which is the main one."""
    start = ctypes.addressof(ctypes.c_char.in_dll(ctypes.pythonapi, "_PyRuntime"))
    words = (ctypes.c_void_p * _WORDS).from_address(start)
    for index in range(_WORDS - 1):
        if (words[index], words[index + 1]) == (newest, main):
            return (ctypes.c_void_p * 2).from_address(start + index * ctypes.sizeof(ctypes.c_void_p))
    return None
