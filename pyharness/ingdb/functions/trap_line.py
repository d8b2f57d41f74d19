"""What the program says where it calls the C function that gdb stops on: a Python line, or a native breakpoint there.

csrc/trap/trap.h says what the arguments are.
"""

from __future__ import annotations

import json
import re
from dataclasses import field
from typing import Any

import gdb

from pyharness.ingdb.functions import native_names
from pyharness.model.conditions.op_names import NAME
from pyharness.model.frozen import frozen

FUNCTION = "pyharness_python_line"
_ARGUMENTS = {"i386:x86-64": ("rdi", "rsi", "rdx", "rcx"), "aarch64": ("x0", "x1", "x2", "x3")}
"""Registers of a function's first arguments: the trap has no debug info, so that stepping never enters it."""
_TENSOR = re.compile(NAME)
_PAGE = 4096
_MAX_TEXT = 1 << 16


@frozen
class PythonLine:
    """The Python line that a thread is about to run."""

    file: str
    line: int
    function: str
    stops: tuple[int, ...] = ()
    """gdb's numbers of the places that are here."""
    step: bool = False
    notes: tuple[str, ...] = ()
    native: NativeStop | None = None


@frozen
class NativeStop:
    """The op, autograd node or place in a kernel that a native breakpoint is of."""

    kind: str
    name: str
    before: bool
    tensors: dict[str, int] = field(default_factory=dict)
    """Address of the TensorImpl by the name that conditions use: in0, out0, and in0[1] of a list."""
    values: dict[str, str] = field(default_factory=dict)
    """What else went in and came out, by the same names, as a text."""

    def address(self, expression: str) -> int:
        """The address of the tensor that ``in0`` or ``out`` names; 0 where it names none."""
        return self.tensors.get(self.known_as(expression), 0)

    def known_as(self, name: str) -> str:
        """The name as it stands in ``tensors`` and ``values``: ``out`` is the first that came out."""
        return f"out0{name.removeprefix('out')}" if name == "out" or name.startswith("out[") else name


def current_line() -> PythonLine | None:
    """The Python line at which the selected thread stopped, or ``None`` when it stopped elsewhere."""
    frame = newest()
    if frame is None or native_names.name_of(frame)[0] != FUNCTION:
        return None
    why: dict[str, Any] = json.loads(text_argument(frame, 3))
    return PythonLine(
        text_argument(frame, 0),
        _argument(frame, 1),
        text_argument(frame, 2),
        tuple(why["stops"]),
        why["step"],
        tuple(why["notes"]),
        NativeStop(**why["native"]) if "native" in why else None,
    )


def current_native() -> NativeStop | None:
    """The native breakpoint at which the selected thread stands."""
    line = current_line()
    return line.native if line else None


def tensor_address(expression: str) -> int:
    """The TensorImpl that ``in0`` or ``out`` means where a native breakpoint stopped; 0 for anything else."""
    if not _TENSOR.fullmatch(expression):
        return 0
    stop = current_native()
    return stop.address(expression) if stop else 0


def newest() -> gdb.Frame | None:
    """The newest frame of the selected thread, where there is one."""
    try:
        return gdb.newest_frame()
    except gdb.error:
        return None


def _argument(frame: gdb.Frame, index: int) -> int:
    """An integer or pointer argument, valid at the first instruction of a function."""
    register = _ARGUMENTS[frame.architecture().name()][index]
    value = int(frame.read_register(register))
    return value & 0xFFFF_FFFF if index == 1 else value & 0xFFFF_FFFF_FFFF_FFFF


def text_argument(frame: gdb.Frame, index: int) -> str:
    """A string argument, read page by page: it may end just before memory that is not there."""
    address, text = _argument(frame, index), b""
    while len(text) < _MAX_TEXT:
        size = _PAGE - address % _PAGE
        part, end, _ = bytes(gdb.selected_inferior().read_memory(address, size)).partition(b"\0")
        text += part
        if end:
            break
        address += size
    return text.decode(errors="replace")
