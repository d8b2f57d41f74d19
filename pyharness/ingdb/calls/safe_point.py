"""Brings a stopped thread to where it may be called: not inside what holds locks, nor where an object is half made.

A stop at a breakpoint is never there; a stop by attaching or by Ctrl-C may be.
"""

from __future__ import annotations

import re
from pathlib import Path

import gdb

from pyharness.ingdb import console
from pyharness.ingdb.calls import way_out
from pyharness.ingdb.functions import native_names
from pyharness.ingdb.functions.collector import is_collecting
from pyharness.ingdb.process import fatal_signal
from pyharness.ingdb.settings import temporarily
from pyharness.model.errors import HarnessError

_ALLOCATOR = re.compile(r"(je_|tc_|mi_|__libc_)?(malloc|free|calloc|realloc|memalign|aligned_alloc|posix_memalign)")
_LOCKING = re.compile(r"(libc|ld-linux[^/]*|libjemalloc|libtcmalloc[^/]*|libmimalloc)[.-]")
_INTERPRETER = re.compile(r"(lib)?python([\d.]|$)")
_WAITING = re.compile(r"pthread_(cond|mutex)_|lll_lock")
"""What the interpreter calls for the GIL alone: taking that again within, on the same thread, damages its condition."""
_EVALUATES = re.compile(r"_PyEval_EvalFrameDefault(\.\w+)*")
"""The interpreter's loop, which calls all else and is left only when a function of Python returns."""
_MAKES = re.compile(
    r"""(_?Py(Object|Mem)_(Malloc|Calloc|Realloc|Free) | pymalloc\w* | gc_alloc | _?PyObject_GC_(New|Del|Alloc|Link)\w*
        | PyType_GenericAlloc | _?Py(List|Tuple|Dict|Slice|Cell)_New\w* | PyFloat_FromDouble | _?PyLong_New
        | list_(new_prealloc|repeat|slice|concat) | tuple_?(alloc|slice|repeat|concat) | new_(dict|keys)\w*
       )(\.\w+)*""",
    re.VERBOSE,
)
"""Functions of the interpreter's that make objects and call nothing: no step out of what they call ends there."""
_MAX_DEPTH = 16


def inside_locking() -> bool:
    """Whether the selected thread is in such a call, or waits for the GIL."""
    return _outermost_locking() is not None


def reach() -> None:
    """Let the selected thread finish the call that holds such a lock, if it is in one."""
    if is_collecting():
        raise HarnessError(
            "The thread is in the midst of a garbage collection: Python cannot be asked here.",
            "What is native can be looked at. Go on, or step out of it, first.",
        )
    frame = _outermost_locking()
    if frame is None:
        if gdb.parameter("non-stop"):
            _check_own_data()
        elif not fatal_signal.is_here() and not way_out.waits():
            _leave_own_data()
        return
    if fatal_signal.is_here():
        raise HarnessError(
            "The program is ending inside the allocator, whose lock the thread holds: Python cannot be asked here.",
            "The stack and the variables of both languages are read from memory: look at these.",
        )
    if gdb.parameter("non-stop"):
        raise HarnessError(
            "The thread is inside the allocator, the linker or the GIL's lock, and cannot be asked.",
            "Let it run on and try again.",
        )
    _finish(frame)


class _Led:
    """The latest thread that was led to where Python may be asked; there is one gdb."""

    to: way_out.Place | None = None
    """Where that is; ``None`` where it came to another stop on the way."""


def come_out() -> None:
    """Lead the selected thread to where Python may be asked; what takes long is left as it stands."""
    arrives = True
    if not is_collecting() and not fatal_signal.is_here() and not way_out.waits():
        locking = _outermost_locking(waits=False)
        arrives = _leave_own_data() if locking is None else way_out.leave(locking) != "stopped"
    _Led.to = way_out.Place.here() if arrives else None


def came_out() -> bool:
    """Whether the latest thread was led there; else it came to another stop on the way."""
    return _Led.to is not None


def _finish(frame: gdb.Frame) -> None:
    frame.select()
    with temporarily("suppress-cli-notifications", "on"), temporarily("scheduler-locking", "off"):
        console.run("finish")


def _check_own_data() -> None:
    if _Led.to == way_out.Place.here():
        return
    name, library = native_names.name_of(gdb.newest_frame())
    if _INTERPRETER.match(Path(library or "").name) and _MAKES.fullmatch(name):
        raise HarnessError(
            f"The thread is in the midst of {name}, half way through an object: Python cannot be asked here.",
            "Let it run on and try again. What is native, and what is read from memory, can be looked at.",
        )


def _leave_own_data() -> bool:
    """Let the interpreter finish what it does with an object; false where the thread comes to another stop on the way.

    Names do not tell what it does: allocators and lists of free objects are inlined anywhere. Where a function has
    returned all is whole, because most may run Python on their way.
    """
    for leave in (way_out.leave, None, way_out.leave, way_out.leave):  # what took long has come to another function
        own, called = _innermost()
        if own is None:
            return True
        leaves = called if _EVALUATES.fullmatch(native_names.name_of(own)[0]) else own
        came = leave(leaves) if leave is not None and leaves is not None else way_out.leave_next_call()
        if came != "slow":
            return came == "left"
    return True


def _innermost() -> tuple[gdb.Frame | None, gdb.Frame | None]:
    """The interpreter's function that the thread is in, or waits for the C library in; then the function of that, too.

    None where it is in other code.
    """
    called: gdb.Frame | None = None
    frame: gdb.Frame | None = gdb.newest_frame()
    for _ in range(_MAX_DEPTH):
        while frame is not None and frame.type() == gdb.INLINE_FRAME:
            frame = frame.older()
        if frame is None:
            break
        file = Path(native_names.name_of(frame)[1] or "").name
        if _INTERPRETER.match(file):
            return frame, called
        if not _LOCKING.match(file):
            break
        called, frame = frame, frame.older()
    return None, None


def _outermost_locking(*, waits: bool = True) -> gdb.Frame | None:
    """The frame of ``malloc`` or the like, of which the thread is inside; ``None`` when it is in other code.

    ``waits``: the frame in which it waits for the GIL is one, too.
    """
    found, inner = None, ""
    frame: gdb.Frame | None = gdb.newest_frame()
    for _ in range(_MAX_DEPTH):
        if frame is None:
            break
        name, library = native_names.name_of(frame)
        file = Path(library or "").name
        if not _LOCKING.match(file):
            return frame if waits and _WAITING.search(inner) and _INTERPRETER.match(file) else found
        if _ALLOCATOR.fullmatch(name) or file.startswith("ld-"):
            found = frame
        frame, inner = frame.older(), name
    return found
