"""Why a program aborted: the C++ exception that nothing caught, or what glibc was given to say."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import gdb

from pyharness.ingdb.process import libraries
from pyharness.ingdb.process.inferior_memory import read
from pyharness.ingdb.stack import backtrace
from pyharness.ingdb.stops import cxx_exception
from pyharness.reading.process.memory import Memory, UnreadableError
from pyharness.reading.process.thread_local import address_in_thread, of_accessor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyharness.model.frames import Frame

_MESSAGE, _MAX_MESSAGE = 4, 1000
"""``struct abort_msg_s`` of glibc: a size, then the text."""
_UNWIND_HEADER = 80
"""Where it lies in libstdc++'s ``__cxa_exception``."""
_RUNTIME = "libstdc++.so"
_THREAD_ENDS = re.compile(r"std::thread::(~thread|operator=)")
_NOT_JOINED = "std::terminate was called because a std::thread was destroyed or assigned to that nobody had joined"
_NEAR = 16
"""Frames between ``abort`` and what called for the end."""


def last_words(inside: int = 0) -> str:
    """What the selected thread, which has aborted, said last; empty where it said nothing.

    ``inside``: how many frames a handler of the signal has put on the stack since.
    """
    memory = Memory(read)
    try:
        return _uncaught(memory, inside) or _abort_message(memory)
    except UnreadableError:
        return ""


def _uncaught(memory: Memory, inside: int) -> str:
    callers = _terminates(inside)
    if callers is None:
        return ""
    header = _latest_exception(memory)
    if not header:
        joined = any(_THREAD_ENDS.match(frame.function) for frame in callers)
        return _NOT_JOINED if joined else "std::terminate was called without an exception"
    found = cxx_exception.caught(memory, header + _UNWIND_HEADER)
    return f"nothing caught {found.type}{f': {found.what}' if found.what else ''}"


def _terminates(inside: int) -> Sequence[Frame] | None:
    """The innermost frames where the C++ runtime has called ``abort``, or a handler that did; else ``None``.

    Its own functions have no names.
    """
    stack = backtrace.thread_stack(limit=inside + _NEAR).frames[inside:]
    paths = [libraries.path_at(frame.address) for frame in stack if frame.address]
    callers = [path for path in paths if "/libc.so" not in path]
    of_runtime = f"/{_RUNTIME}" in "".join(callers[:1])
    terminates = of_runtime or any(frame.function.startswith("std::terminate") for frame in stack)
    return stack if terminates else None


def _latest_exception(memory: Memory) -> int:
    """``__cxa_eh_globals::caughtExceptions`` of this thread: whoever terminates for an exception catches it before."""
    library = libraries.find_library(_RUNTIME)
    accessor = library.elf.symbol("__cxa_get_globals_fast") if library else None
    if library is None or accessor is None:
        return 0
    variable = of_accessor(memory, accessor + library.bias)
    address = address_in_thread(memory, variable, int(gdb.newest_frame().read_register("fs_base")))
    return memory.pointer(address) if address else 0


def _abort_message(memory: Memory) -> str:
    """A failed ``assert``, a damaged heap."""
    library = libraries.find_library("libc.so")
    symbol = library.elf.symbol("__abort_msg") if library else None
    message = memory.pointer(symbol + library.bias) if library and symbol else 0
    return memory.text(message + _MESSAGE, _MAX_MESSAGE).strip() if message else ""
