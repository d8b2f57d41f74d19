"""The functions of the user's own native code in the program that is being debugged."""

from __future__ import annotations

from typing import TYPE_CHECKING

import gdb

from pyharness.ingdb.functions import asked_places, inlined_here, many_functions, user_functions
from pyharness.ingdb.functions.around import is_of_library
from pyharness.ingdb.process import fatal_signal, libraries
from pyharness.model.glue import glue_family
from pyharness.model.kernel_frames import is_kernel, mapped_lines
from pyharness.model.user_code import is_user_source

if TYPE_CHECKING:
    from pyharness.ingdb.functions.user_functions import UserFunction

_DEEPEST = 16
"""Frames of torch's and the compiler's headers, and of libraries, that an operation in a kernel's line may have."""


def known_functions() -> list[UserFunction]:
    """The user's functions in every library that is loaded now."""
    return [
        function
        for library in libraries.user_libraries()
        for function in user_functions.user_functions(library.elf, library.bias)
    ]


def stopping_at(pc: int) -> UserFunction | None:
    """The user's function in which a thread stops at ``pc`` when it comes there."""
    library = libraries.library_at(pc)
    if library and many_functions.has_many(library.elf):
        return many_functions.stopping_at(library.elf, library.bias, pc)
    return next((each for each in known_functions() if each.stop_address == pc), None)


def innermost() -> tuple[gdb.Frame, str | None, int | None]:
    """The frame that the selected thread stands in, with its file and line.

    Where a function of the user's begins in optimized code gdb shows what is inlined there; this is the function then.
    A kernel of inductor's is made of operations of vectors, inlined or not: this is the kernel, and its line, also
    where a load of one crashed.
    """
    frame = inlined_here.shown(gdb.newest_frame())
    if found := asked_places.standing(frame):
        return found
    place = frame.find_sal()
    file, line = place.symtab.fullname() if place.symtab else None, place.line or None
    if not is_user_source(file) and (crashed := _crashed_in_kernel(frame)):
        around = crashed.find_sal()
        return crashed, around.symtab.fullname(), around.line
    if not file or is_user_source(file):
        return _beginning(frame, file, line) if file else frame, file, line
    outer = _outermost(frame)
    around = outer.find_sal()
    if around.symtab and around.line in mapped_lines(around.symtab.fullname()):
        return outer, around.symtab.fullname(), around.line
    function = stopping_at(frame.pc())
    if function is None or not function.stops_at_own_line:
        return frame, file, line
    return _outermost(frame), function.file, function.stop_line


def _crashed_in_kernel(frame: gdb.Frame) -> gdb.Frame | None:
    """The kernel whose line runs what crashed; ``None`` where none is near, and for a stop of another kind."""
    if not fatal_signal.is_here():
        return None
    outer: gdb.Frame | None = frame
    for _ in range(_DEEPEST):
        outer = outer.older() if outer is not None else None
        symtab = outer.find_sal().symtab if outer is not None else None
        if symtab and is_kernel(symtab.fullname()):
            return outer
    return None


def _beginning(frame: gdb.Frame, file: str, line: int | None) -> gdb.Frame:
    """The function that a frame is inlined into, where a thread stops as it comes there, and the line is its first.

    Clang has that line at its first instruction, rustc behind the prologue, and in it what is inlined first.
    """
    outer = _outermost(frame)
    while frame != outer and is_of_library(frame.name() or "", file) and (older := frame.older()):
        frame = older  # no line of the user's is in it
    function = outer.function() if outer != frame else None
    if function is None or function.symtab.fullname() != file:
        return frame
    if int(function.value().address or 0) == frame.pc():
        return outer
    known = stopping_at(frame.pc())
    return outer if known and (known.file, known.line) == (file, line) else frame


def _outermost(frame: gdb.Frame) -> gdb.Frame:
    """The frame that ``frame`` is inlined into, itself where it is not."""
    outer = frame
    while outer.type() == gdb.INLINE_FRAME and (older := outer.older()) is not None:
        outer = older
    return outer


def is_own(frame: gdb.Frame) -> bool:
    """Whether the line of a frame is the user's, and not of what a generator of bindings wrote."""
    symtab = frame.find_sal().symtab
    return is_own_line(frame.pc(), symtab.fullname() if symtab else None, frame.name() or "")


def is_own_line(pc: int, file: str | None, function: str) -> bool:
    """Whether a line of ``file`` that is compiled into what lies at ``pc`` is the user's.

    The file alone does not tell: a distribution's debug symbols name Python's sources as ``../Objects/call.c``.
    """
    return is_user_source(file) and not glue_family(function, file) and libraries.may_be_users(pc)


def is_within_own(frame: gdb.Frame) -> bool:
    """Whether the function that the machine code of a frame belongs to is the user's."""
    function = _outermost(frame).function()
    return function is not None and is_user_source(function.symtab.fullname())
