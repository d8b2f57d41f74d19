"""Brings a stopped thread to where it may be called: not inside what holds locks, nor where an object is half made.

A stop at a breakpoint is never there; a stop by attaching or by Ctrl-C may be.
"""

from __future__ import annotations

import re
from pathlib import Path

import gdb

from pyharness.ingdb import console
from pyharness.ingdb.functions import native_names
from pyharness.ingdb.functions.collector import is_collecting
from pyharness.ingdb.process import fatal_signal
from pyharness.ingdb.settings import temporarily
from pyharness.model.errors import HarnessError

_ALLOCATOR = re.compile(r"(je_|tc_|mi_|__libc_)?(malloc|free|calloc|realloc|memalign|aligned_alloc|posix_memalign)")
_LOCKING = re.compile(r"(libc|ld-linux[^/]*|libjemalloc|libtcmalloc[^/]*|libmimalloc)[.-]")
_INTERPRETER = re.compile(r"(lib)?python[\d.]")
_WAITING = re.compile(r"pthread_(cond|mutex)_|lll_lock")
"""What the interpreter calls for the GIL alone: taking that again within, on the same thread, damages its condition."""
_OWN_DATA = re.compile(
    r"""(_?Py(Object|Mem|List|Tuple|Dict|Set|Float|Long|Unicode|Bytes|Frame|Type|Method|Slice|Cell)_\w+
        | _Py_Dealloc | pymalloc\w* | gc_\w+ | new_(dict|keys|values|arena)\w* | (insert|free)_?\w*
        | (list|tuple|dict|set|float|long|unicode|bytes|frame|slice|type|method)_?\w+ | \w*(alloc|resize)\w* | \?\?
       )(\.\w+)*""",
    re.VERBOSE,
)
"""Functions of the interpreter's that make, change and free objects. One takes the first of a list of free objects: who
calls Python before that is off the list is given the same object."""
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


def _finish(frame: gdb.Frame) -> None:
    frame.select()
    with temporarily("suppress-cli-notifications", "on"), temporarily("scheduler-locking", "off"):
        console.run("finish")


def _leave_own_data() -> None:
    """Let the interpreter finish what it does with an object, if the thread was interrupted there."""
    frame: gdb.Frame | None = gdb.newest_frame()
    if frame is None or fatal_signal.is_here():
        return
    if gdb.parameter("non-stop"):
        name, library = native_names.name_of(frame)
        if _INTERPRETER.match(Path(library or "").name) and _MAKES.fullmatch(name):
            raise HarnessError(
                f"The thread is in the midst of {name}, half way through an object: Python cannot be asked here.",
                "Let it run on and try again. What is native, and what is read from memory, can be looked at.",
            )
        return
    found: gdb.Frame | None = None
    for _ in range(_MAX_DEPTH):
        name, library = native_names.name_of(frame) if frame else ("", None)
        file = Path(library or "").name
        if frame is None or not (_LOCKING.match(file) or (_INTERPRETER.match(file) and _OWN_DATA.fullmatch(name))):
            break
        found = frame if _INTERPRETER.match(file) else found
        frame = frame.older()
    if found is not None:
        _finish(found)


def _outermost_locking() -> gdb.Frame | None:
    """The frame of ``malloc`` or the like, of which the thread is inside; ``None`` when it is in other code."""
    found, inner = None, ""
    frame: gdb.Frame | None = gdb.newest_frame()
    for _ in range(_MAX_DEPTH):
        if frame is None:
            break
        name, library = native_names.name_of(frame)
        file = Path(library or "").name
        if not _LOCKING.match(file):
            return frame if _WAITING.search(inner) and _INTERPRETER.match(file) else found
        if _ALLOCATOR.fullmatch(name) or file.startswith("ld-"):
            found = frame
        frame, inner = frame.older(), name
    return found
