"""Pointers into tensors: ``x.data_ptr<float>()`` without a call, and the tensor of the stack that one belongs to.

The stack of a thread that no Python has called goes on in the one for which it works.
"""

from __future__ import annotations

import re
from contextlib import suppress
from itertools import chain, islice
from typing import TYPE_CHECKING

import gdb

from pyharness.ingdb import torch_process
from pyharness.ingdb.calls import expressions
from pyharness.ingdb.printers import values as tensor_values
from pyharness.ingdb.stack import backtrace
from pyharness.ingdb.stack.locals import live_symbols
from pyharness.ingdb.stack.shared_work import owners
from pyharness.ingdb.tensors.address import plain_type, referred
from pyharness.ingdb.tensors.elements import element_reader
from pyharness.ingdb.tensors.held import may_hold_tensor
from pyharness.model.errors import HarnessError
from pyharness.model.frozen import frozen
from pyharness.model.tensors.dtypes import BY_NAME
from pyharness.model.tensors.text import elements_line
from pyharness.reading.process.memory import UnreadableError
from pyharness.reading.stack.merge import NativeFrame

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.model.tensors.tensor import TensorInfo
    from pyharness.reading.python.frames import PythonFrame
    from pyharness.reading.python.threads import Python

_DATA = re.compile(
    r"(?P<tensor>.+?)(?:\.|->)(?:const_|mutable_)?data_ptr\s*(?:<\s*(?:const\s+)?(?P<type>[\w: ]+?)\s*>)?\s*\(\s*\)"
)
_MAX_FRAMES, _MAX_VARIABLES, _MAX_TENSORS = 30, 64, 500
_NUMBERS = frozenset({gdb.TYPE_CODE_INT, gdb.TYPE_CODE_FLT, gdb.TYPE_CODE_VOID, gdb.TYPE_CODE_BOOL})
_SMALL = re.compile(r"c10::(?:Half|BFloat16|Float8_\w+|complex<.*>)")


def is_data(expression: str) -> bool:
    """Whether an expression asks for a tensor's data."""
    return _DATA.fullmatch(expression.strip()) is not None


def pointer(expression: str) -> gdb.Value | None:
    """The value of ``TENSOR.data_ptr<T>()``, read from memory; ``None`` for every other expression.

    gdb could not call it: torch's libraries have no debug information, and a core file runs nothing.
    """
    found = _DATA.fullmatch(expression.strip())
    if found is None:
        return None
    info = tensor_values.tensor_of_cxx(expressions.evaluate(found["tensor"]))
    if info is None or info.state != "defined":
        return None
    if info.unreadable:
        raise HarnessError(f"{expression}: the tensor has no elements in memory: {info.unreadable}.")
    return gdb.Value(info.data).cast(gdb.lookup_type(found["type"] or "void").pointer())


@frozen
class Owned:
    """A tensor that a variable of the stack holds, and the place in it that a pointer points to."""

    name: str
    info: TensorInfo
    offset: int
    """In bytes, from the tensor's first element."""


class _Known:
    """The tensors of a thread's stack, read once for each stop."""

    thread = 0
    tensors: tuple[tuple[str, TensorInfo], ...] = ()


def owner(value: gdb.Value) -> Owned | None:
    """The tensor whose elements a pointer to numbers points into: one that a variable on the thread's stack holds."""
    kind = plain_type(value.type)
    if kind.code != gdb.TYPE_CODE_PTR or not _is_number(plain_type(kind.target())):
        return None
    address = int(referred(value))
    if not address:
        return None
    return next((found for name, info in _known() if (found := _inside(name, info, address))), None)


def _is_number(kind: gdb.Type) -> bool:
    is_text = kind.code == gdb.TYPE_CODE_INT and kind.name in {"char", "wchar_t"}
    return (kind.code in _NUMBERS and not is_text) or _SMALL.fullmatch(kind.name or "") is not None


def _inside(name: str, info: TensorInfo, address: int) -> Owned | None:
    width = BY_NAME[info.dtype].size if info.dtype in BY_NAME else 0
    last = sum((size - 1) * stride for size, stride in zip(info.sizes, info.strides, strict=True))
    offset = address - info.data
    return Owned(name, info, offset) if 0 <= offset < (last + 1) * width else None


def _known() -> tuple[tuple[str, TensorInfo], ...]:
    thread = gdb.selected_thread()
    number = thread.ptid[1] if thread else 0
    if _Known.thread != number:
        _Known.thread, _Known.tensors = number, tuple(islice(_read(), _MAX_TENSORS))
    return _Known.tensors


def forget(_event: object = None) -> None:
    """Read the tensors anew when one is asked for: the program ran on, or something of it was changed."""
    _Known.thread, _Known.tensors = 0, ()


for _events in (gdb.events.cont, gdb.events.memory_changed, gdb.events.register_changed):
    _events.connect(forget)


def _read() -> Iterator[tuple[str, TensorInfo]]:
    """The tensors of native frames from the newest one outwards, then those of Python frames."""
    for name, info in chain(_native(), _python()):
        if info.state == "defined" and not info.unreadable and info.numel and info.data:
            yield name, info


def _native() -> Iterator[tuple[str, TensorInfo]]:
    for frame in islice(_outwards(), _MAX_FRAMES):
        for symbol in islice(live_symbols(frame), _MAX_VARIABLES):
            if info := _tensor_of(symbol, frame):
                yield symbol.name, info


def _outwards() -> Iterator[gdb.Frame]:
    frame: gdb.Frame | None = gdb.newest_frame()
    while frame is not None:
        yield frame
        frame = frame.older()


def _tensor_of(symbol: gdb.Symbol, frame: gdb.Frame) -> TensorInfo | None:
    try:
        kind = plain_type(symbol.type) if symbol.type else None
        if kind is None or not may_hold_tensor(kind):
            return None
        return tensor_values.tensor_of_cxx(symbol.value(frame))
    except (gdb.error, ValueError, UnreadableError):
        return None


def _python() -> Iterator[tuple[str, TensorInfo]]:
    thread: gdb.InferiorThread | None = gdb.selected_thread()
    if thread is None:
        return
    frames, python = backtrace.frames_in_order(thread, _MAX_FRAMES, handles=False)
    if python is None:
        return
    own = [frame for frame in frames if not isinstance(frame, NativeFrame)]
    for frame in own or islice(_frames_that_wait(thread, python), _MAX_FRAMES):
        yield from _of_python(python, frame)


def _of_python(python: Python, frame: PythonFrame) -> Iterator[tuple[str, TensorInfo]]:
    """The tensors of a frame, up to the first that cannot be read."""
    with suppress(UnreadableError):
        for name, address in islice(python.local_addresses(frame), _MAX_VARIABLES):
            if info := tensor_values.tensor_of_python(address):
                yield name, info


def _frames_that_wait(thread: gdb.InferiorThread, python: Python) -> Iterator[PythonFrame]:
    """Python frames of the thread for which another one works: it waits, most often with the GIL."""
    known = {owner.thread for owner in owners(thread)}
    for one in python.threads():
        if one.native_id in known or (one.holds_gil and not known):
            for loop in one.loops:
                yield from loop.frames


def line(value: gdb.Value, owned: Owned) -> str:
    """The pointer, the tensor's name, and the elements in its shape."""
    info = owned.info
    shown = f"{int(referred(value)):#x} → {_named(owned)}, {info.dtype} {list(info.sizes)}"
    if owned.offset:
        return shown
    return f"{shown} {elements_line(element_reader(torch_process.read, info), info.sizes, info.strides)}"


def _named(owned: Owned) -> str:
    """``x``, or ``x[1][2]`` for a pointer to an element that is not the first."""
    left, rest = divmod(owned.offset, BY_NAME[owned.info.dtype].size)
    if rest or not owned.info.is_contiguous:
        return f"{owned.name} + {owned.offset} bytes"
    indices = []
    for stride in owned.info.strides:
        index, left = divmod(left, stride)
        indices.append(index)
    while indices and not indices[-1]:
        indices.pop()
    return owned.name + "".join(f"[{index}]" for index in indices)


def elements_behind(value: gdb.Value) -> int | None:
    """How many elements follow a pointer to the end of its tensor, where those lie one after another."""
    owned = owner(value)
    if owned is None or not owned.info.is_contiguous:
        return None
    size = owned.info.numel * BY_NAME[owned.info.dtype].size
    return (size - owned.offset) // plain_type(value.type).target().sizeof
