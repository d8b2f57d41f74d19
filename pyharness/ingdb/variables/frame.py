"""The scopes of one frame of the merged stack: tensors of an op, arguments, locals, registers, globals."""

from __future__ import annotations

from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

import gdb

from pyharness.ingdb.stack.locals import live_symbols
from pyharness.ingdb.variables import op_values
from pyharness.ingdb.variables.assign import assigned_variable
from pyharness.ingdb.variables.items import Content, Item, Listed
from pyharness.ingdb.variables.native import is_null_pointer, native_item, null_pointer, shortened
from pyharness.ingdb.variables.python import python_item
from pyharness.model.user_code import is_user_source
from pyharness.model.variable import Variable
from pyharness.reading.process.memory import UnreadableError
from pyharness.reading.python.attributes import string_items
from pyharness.reading.stack.merge import NativeFrame

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.ingdb.variables.items import Handles
    from pyharness.model.variable import Scope
    from pyharness.reading.python.attributes import Attributes
    from pyharness.reading.python.frames import PythonFrame
    from pyharness.reading.python.threads import Python

MAX_GLOBALS = 1000
_OF_RUSTC = "::{vtable}"
_GENERAL, _OTHERS = "general", ("float", "vector")


def scopes(handles: Handles, thread: int, frame: NativeFrame | PythonFrame, python: Python | None) -> list[Scope]:
    """What a client shows of a frame, the cheap ones first."""
    if isinstance(frame, NativeFrame):
        return list(_native_scopes(handles, thread, frame.handle))
    return list(_python_scopes(handles, thread, frame, python)) if python else []


def _native_scopes(handles: Handles, thread: int, frame: gdb.Frame) -> Iterator[Scope]:
    if items := list(_op_tensors(frame)):
        yield handles.scope(thread, "Tensors", Listed(items))
    symbols = list(live_symbols(frame))
    arguments = [symbol for symbol in symbols if symbol.is_argument]
    others = [symbol for symbol in symbols if not symbol.is_argument]
    if symbols:
        yield handles.scope(thread, "Arguments", Symbols(frame, arguments))
        yield handles.scope(thread, "Locals", Symbols(frame, others))
    yield handles.scope(thread, "Registers", Registers(frame), expensive=True)
    if symbols:
        yield handles.scope(thread, "Globals", Globals(frame), expensive=True)


def _op_tensors(frame: gdb.Frame) -> Iterator[Item]:
    """What went into the op or node that a native breakpoint stopped at, and came out."""
    if (stop := op_values.here(frame)) is None:
        return
    for name in stop.tensors:
        if item := op_values.op_value(stop, name):
            yield item


class Symbols(Content):
    """Arguments or local variables."""

    def __init__(self, frame: gdb.Frame, symbols: list[gdb.Symbol]) -> None:
        self._frame = frame
        self._symbols = symbols
        self.named = len(self._symbols)

    def named_items(self, start: int, stop: int) -> Iterator[Item]:
        """In the order of their declaration."""
        return (self._item(symbol) for symbol in self._symbols[start:stop])

    def _item(self, symbol: gdb.Symbol) -> Item:
        try:
            value = symbol.value(self._frame)
        except (gdb.error, ValueError) as error:
            if symbol.type is not None and is_null_pointer(symbol.type):
                return null_pointer(symbol)
            return Item(Variable(symbol.name, f"<{error}>", str(symbol.type)))
        is_of_a_pack = "#" in symbol.name  # GCC's name for it, ``args#1``, is none of C++'s
        return native_item(symbol.name, value, None if is_of_a_pack else symbol.name)

    def assign(self, name: str, value: str) -> Item:
        """Assign as gdb's ``print NAME = VALUE`` does."""
        if name not in {symbol.name for symbol in self._symbols}:
            return super().assign(name, value)
        self._frame.select()
        return native_item(name, assigned_variable(name, value), name)


class Registers(Content):
    """The general registers; the others as one."""

    def __init__(self, frame: gdb.Frame) -> None:
        self._frame = frame
        self._names = [str(register) for register in frame.architecture().registers(_GENERAL)]
        self.named = len(self._names) + 1

    def named_items(self, start: int, stop: int) -> Iterator[Item]:
        """Registers, named as the processor names them."""
        for name in self._names[start:stop]:
            yield self._item(name)
        if start <= len(self._names) < stop:
            groups = [Item(Variable(group, ""), _Group(self._frame, group)) for group in _OTHERS]
            yield Item(Variable("others", ", ".join(_OTHERS)), Listed(groups))

    def _item(self, name: str) -> Item:
        return _register(self._frame, name)

    def assign(self, name: str, value: str) -> Item:
        """Write a register of the frame."""
        if name not in self._names:
            return super().assign(name, value)
        self._frame.select()
        assigned_variable(f"${name}", value)
        return self._item(name)


class _Group(Content):
    def __init__(self, frame: gdb.Frame, group: str) -> None:
        self._frame = frame
        self._names = [str(register) for register in frame.architecture().registers(group)]
        self.named = len(self._names)

    def named_items(self, start: int, stop: int) -> Iterator[Item]:
        """Registers, named as the processor names them."""
        return (_register(self._frame, name) for name in self._names[start:stop])


def _register(frame: gdb.Frame, name: str) -> Item:
    try:
        value = frame.read_register(name)
        text = value.format_string(format="x") if value.type.code == gdb.TYPE_CODE_INT else value.format_string()
    except (gdb.error, ValueError) as error:
        return Item(Variable(name, f"<{error}>"))
    return Item(Variable(name, shortened(text), str(value.type), evaluate=f"${name}"))


class Globals(Content):
    """The user's variables outside functions, of the file that the frame is in."""

    def __init__(self, frame: gdb.Frame) -> None:
        self._frame = frame

    @cached_property
    def _symbols(self) -> list[gdb.Symbol]:
        return list(islice(_globals(self._frame), MAX_GLOBALS))

    @property
    def named(self) -> int:  # type: ignore[override]
        """How many; counting them reads the symbols of the whole file."""
        return len(self._symbols)

    def named_items(self, start: int, stop: int) -> Iterator[Item]:
        """The globals of the file, then the program's."""
        return (_global(symbol) for symbol in self._symbols[start:stop])


def _global(symbol: gdb.Symbol) -> Item:
    try:
        return native_item(symbol.name, symbol.value(), symbol.name)
    except (gdb.error, TypeError) as error:
        return Item(Variable(symbol.name, f"<{error}>", str(symbol.type)))


def _globals(frame: gdb.Frame) -> Iterator[gdb.Symbol]:
    block = frame.block()
    for part in (block.static_block, block.global_block):
        for symbol in part or ():
            is_users = symbol.is_variable and is_user_source(symbol.symtab.fullname())
            if is_users and not symbol.name.endswith(_OF_RUSTC):
                yield symbol


def _python_scopes(handles: Handles, thread: int, frame: PythonFrame, python: Python) -> Iterator[Scope]:
    if not frame.address:
        return
    yield handles.scope(thread, "Locals", PythonLocals(python, frame))
    try:
        found = frame_globals(python, frame)
    except UnreadableError:
        return
    ordered = sorted(found, key=lambda entry: entry[0].startswith("__"))
    yield handles.scope(thread, "Globals", PythonNames(python, ordered), expensive=True)


class PythonNames(Content):
    """Names and objects of a namespace."""

    def __init__(self, python: Python, found: Attributes) -> None:
        self._values = python.values
        self._found = found
        self.named = len(found)

    def named_items(self, start: int, stop: int) -> Iterator[Item]:
        """By their names."""
        return (python_item(self._values, name, address, name) for name, address in self._found[start:stop])


class PythonLocals(PythonNames):
    """Local variables of a Python frame."""

    def __init__(self, python: Python, frame: PythonFrame) -> None:
        super().__init__(python, frame_locals(python, frame))


def frame_locals(python: Python, frame: PythonFrame) -> Attributes:
    """Names and addresses of local variables; of a module or class body, those of its namespace."""
    found: Attributes = []
    try:
        found.extend(python.local_addresses(frame))
        slots = python.frames.codes.slots(frame.code)
        if all(in_cell for _, in_cell in slots):  # a function has at least its arguments or none at all
            found.extend(_namespace(python, frame, "frame.locals"))
    except UnreadableError:
        pass  # those that could be read
    return list(dict(found).items())


def frame_globals(python: Python, frame: PythonFrame) -> Attributes:
    """Names and addresses of the module that a frame's function belongs to."""
    return _namespace(python, frame, "frame.globals")


def _namespace(python: Python, frame: PythonFrame, field: str) -> Attributes:
    held = python.memory.pointer(frame.address + python.layout[field])
    return string_items(python.values, held, MAX_GLOBALS) if held else []
