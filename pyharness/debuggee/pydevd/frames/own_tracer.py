"""Sets trace functions of other threads where pydevd has no library for that: on musl, or in a debug build.

Python's own ``_PyEval_SetTrace`` does it for any thread. What it needs beside is the function of C that
``sys.settrace`` sets, which has no name to be found by, but stands in the state of whichever thread has called that.
"""

from __future__ import annotations

import ctypes
import sys
from typing import TYPE_CHECKING, Any

from pyharness.debuggee.unpatched import threading

if TYPE_CHECKING:
    from collections.abc import Callable

_WORDS = 32
"""Words at the start of a thread's state: those that are looked for here lie within, from 3.9 to 3.11."""
_UNABLE = -1
_LOW = 0xFFFFFFFF
"""The part of a thread's identity that pydevd tells."""


class OwnTracer:
    """Stands for pydevd's library."""

    def AttachDebuggerTracing(self, *arguments: Any) -> int:  # noqa: N802  (the library's name for it)
        """Have a thread of the main interpreter traced; what this returns is not 0 where it is not."""
        _, set_trace, function, ident, _ = (each.value for each in arguments)
        try:
            return _trace(set_trace, function, ident)
        except (AttributeError, ValueError):  # another Python than those
            return _UNABLE


def _trace(set_trace: Callable[[Any], None], function: object, ident: int) -> int:
    own = _words(_ask("PyThreadState_Get"))
    ident_at = list(own).index(threading.get_ident())
    trampoline = _trampoline(set_trace, own)
    state = _ask("PyInterpreterState_ThreadHead", _ask("PyInterpreterState_Main"))
    while state:
        if (_words(state)[ident_at] or 0) & _LOW == ident & _LOW:
            traced: int = ctypes.pythonapi._PyEval_SetTrace(
                ctypes.c_void_p(state), ctypes.c_void_p(trampoline), ctypes.py_object(function)
            )
            return traced
        state = _ask("PyThreadState_Next", state)
    return _UNABLE


def _trampoline(set_trace: Callable[[Any], None], own: ctypes.Array[ctypes.c_void_p]) -> int:
    """What ``sys.settrace`` sets: it stands two words before the function of Python's that it calls."""
    before = sys.gettrace()
    set_trace(_nothing)
    try:
        found: Any = own[list(own).index(id(_nothing)) - 2]
        return int(found)
    finally:
        set_trace(before)


def _nothing(_frame: object, _event: str, _value: object) -> None:
    """Trace nothing."""


def _words(address: int) -> ctypes.Array[ctypes.c_void_p]:
    return (ctypes.c_void_p * _WORDS).from_address(address)


def _ask(function: str, *addresses: int) -> int:
    """What a function of Python's says that takes addresses and returns one; 0 for none."""
    asked = getattr(ctypes.pythonapi, function)
    asked.restype = ctypes.c_void_p
    return int(asked(*map(ctypes.c_void_p, addresses)) or 0)
