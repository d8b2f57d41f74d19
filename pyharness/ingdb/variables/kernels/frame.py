"""A frame in a kernel of inductor's: the call that runs, its Python, and what its variables are here."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import gdb

from pyharness.ingdb.functions.kernel_build import is_optimized
from pyharness.ingdb.stack import backtrace
from pyharness.model.frames import Frame
from pyharness.model.kernel_frames import is_cxx_wrapper, is_kernel, name_in_cxx, standing, text_of
from pyharness.model.kernel_text import parameters, statement_end
from pyharness.reading.stack.merge import NativeFrame

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.model.kernel_frames import Standing
    from pyharness.model.kernel_map import KernelLine
    from pyharness.model.kernel_text import Parameter
    from pyharness.reading.python.frames import PythonFrame
    from pyharness.reading.python.threads import Python

_NEAR = 40
"""Frames of a stack in which the Python that called a kernel is."""
_OF_PYTHON = "kernel"
"""The name of each kernel that a wrapper in Python calls."""
_BINDINGS = {"kernel_py", "inductor_entry_cpp_py", "inductor_entry_cpp"}


class KernelFrame:
    """One that gdb has; ``kernel_frame`` finds it."""

    def __init__(self, frame: gdb.Frame, file: str) -> None:
        self.frame = frame
        self.file = file

    @cached_property
    def caller(self) -> tuple[PythonFrame | None, Python | None]:
        """The frame of the wrapper that called; ``None`` on a thread of OpenMP's."""
        thread: gdb.InferiorThread | None = gdb.selected_thread()
        if thread is None:
            return None, None
        frames, python = backtrace.frames_in_order(thread, _NEAR, handles=False)
        return next((frame for frame in frames if not isinstance(frame, NativeFrame)), None), python

    @cached_property
    def standings(self) -> tuple[Standing, ...]:
        """The call that runs; more than one where it cannot be told which."""
        return standing(self.file, self.function, self.wrapper)

    @cached_property
    def function(self) -> str:
        """What its file calls the kernel; a masked load, or what runs in parallel, is a function of its own within."""
        frame: gdb.Frame | None = self.frame
        for _ in range(_NEAR):
            if frame is None:
                break
            if _file(frame) == self.file and (name := name_in_cxx(frame.name() or "")):
                return name
            frame = frame.older()
        return _OF_PYTHON

    @cached_property
    def wrapper(self) -> Frame | None:
        """The wrapper that called, in C++ or Python."""
        if self.cxx_caller:
            return Frame(
                "native", self.cxx_caller.name() or "", _file(self.cxx_caller), self.cxx_caller.find_sal().line
            )
        caller = self.caller[0]
        return Frame("python", caller.function, caller.file, caller.line) if caller else None

    @cached_property
    def cxx_caller(self) -> gdb.Frame | None:
        """The frame of the wrapper that called, where that is C++."""
        frame = self.frame.older() if self.function != _OF_PYTHON else None
        for _ in range(_NEAR):
            if frame is None or is_cxx_wrapper(frame.name() or "", _file(frame)):
                return frame
            frame = frame.older()
        return None

    @cached_property
    def text(self) -> tuple[str, ...]:
        """The lines of the kernel's file."""
        return text_of(self.file)

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """What the kernel takes, in order."""
        return parameters("\n".join(self.text), self.function)

    @cached_property
    def is_optimized(self) -> bool:
        """Whether its variables cannot be had."""
        return is_optimized(self.frame)

    def symbol(self, line: KernelLine) -> tuple[gdb.Symbol, gdb.Frame] | None:
        """The variable that a line defines, where its block is one that the thread stands in, and it is computed."""
        if line.variable is None:
            return None
        end = statement_end(self.text, line.line)
        for frame in self._around():
            for symbol in _symbols(frame):
                if symbol.name == line.variable and line.line <= symbol.line <= end:
                    return (symbol, frame) if frame.find_sal().line > end else None
        return None

    def value(self, name: str) -> gdb.Value | None:
        """The innermost variable of a name; ``None`` where there is none, or the compiler keeps it nowhere.

        In a function within the kernel, the kernel's own variables are references to them. One that the frame's own
        line declares, as a loop does, may have no value yet.
        """
        for frame in self._around():
            line = frame.find_sal().line
            for symbol in _symbols(frame):
                if symbol.name == name and symbol.line < line:
                    value = symbol.value(frame)
                    if value.is_optimized_out:
                        return None
                    return value.referenced_value() if value.type.code == gdb.TYPE_CODE_REF else value
        return None

    def _around(self) -> Iterator[gdb.Frame]:
        """The frame, and those of the kernel that it is called in: masked loads are functions of their own."""
        frame: gdb.Frame | None = self.frame
        while frame is not None and _file(frame) == self.file and not _is_outside(frame, self.file):
            yield frame
            frame = frame.older()


def kernel_frame(frame: gdb.Frame) -> KernelFrame | None:
    """The kernel that a frame is in; operations of vectors that are inlined there belong to it."""
    found: gdb.Frame | None = frame
    while found is not None:
        file = _file(found)
        if file and is_kernel(file):
            return None if _is_outside(found, file) else KernelFrame(found, file)
        if found.type() != gdb.INLINE_FRAME:
            return None
        found = found.older()
    return None


def _is_outside(frame: gdb.Frame, file: str) -> bool:
    """Whether a frame in a kernel's file is of what calls the kernel there."""
    return frame.name() in _BINDINGS or is_cxx_wrapper(frame.name() or "", file)


def _file(frame: gdb.Frame) -> str | None:
    symtab = frame.find_sal().symtab
    return symtab.fullname() if symtab else None


def _symbols(frame: gdb.Frame) -> Iterator[gdb.Symbol]:
    """Variables and arguments around the frame's place, the innermost first."""
    try:
        block: gdb.Block | None = frame.block()
    except RuntimeError:  # no debug information
        return
    while block is not None and not (block.is_global or block.is_static):
        yield from (symbol for symbol in block if symbol.is_variable or symbol.is_argument)
        if block.function:
            return
        block = block.superblock
