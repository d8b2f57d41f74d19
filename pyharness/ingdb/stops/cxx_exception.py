"""A C++ exception object: its type and its message, from memory alone.

Layouts: the Itanium C++ ABI, "Exception Handling" (``__cxa_exception``); libstdc++'s ``std::runtime_error`` and
``std::string``; c10::Error, torch's PyTorchError and pybind11's error_already_set as their headers declare them.
"""

from __future__ import annotations

import re

import gdb

from pyharness.ingdb.printers.registry import shows
from pyharness.ingdb.printers.values import value_text
from pyharness.ingdb.process.inferior_memory import read
from pyharness.ingdb.stack.backtrace import current_python
from pyharness.ingdb.tensors.members import address_of, member
from pyharness.model.frozen import frozen
from pyharness.reading.functions import cxx_class
from pyharness.reading.process.memory import Memory, UnreadableError

_WORD = 8
_UNWIND_HEADER = 32
_TYPE_BEFORE_HEADER = 80
"""``__cxa_exception::exceptionType``, or the primary exception of a dependent one, before its unwind header."""
_DEPENDENT = 1
_MAX_TEXT = 4096
_ARGUMENTS = 24
"""``PyBaseExceptionObject::args``."""
_MESSAGES_IN_A_STRING = frozenset({"c10::Error", "torch::PyTorchError"})
_COW_STRINGS = frozenset({"std::runtime_error", "std::logic_error"})
_CLASSES = (
    r"std::(?:(?:nested_)?exception|bad_\w+|system_error|ios_base::failure"
    r"|(?:runtime|logic|range|overflow|underflow|domain|regex|future|format)_error|invalid_argument|length_error|out_of_range)"
    r"|c10::\w*Error|torch::PyTorchError|pybind11::(?:builtin_exception|error_already_set|cast_error)|python_error"
)
_TEXT_TYPES = re.compile(r"^(const )?char( const)? ?\*$|^std::(__cxx11::)?(basic_)?string\b")


@frozen
class CxxException:
    """A C++ exception."""

    type: str
    bases: tuple[str, ...]
    what: str
    address: int


def thrown(memory: Memory, address: int, info: int) -> CxxException:
    """The exception object at ``address``, of the type whose ``std::type_info`` is at ``info``."""
    try:
        name = cxx_class.demangle(memory.text(memory.pointer(info + _WORD), 2048).removeprefix("*"))
    except UnreadableError:
        name = "unknown"
    found = cxx_class.classes(memory, address)
    bases = tuple(found[1:]) if found[:1] == [name] else ()
    try:
        what = _what(memory, address, name, (name, *bases))
    except (UnreadableError, gdb.error):
        what = ""
    return CxxException(name, bases, what, address)


@shows(r"std::__exception_ptr::exception_ptr|std::exception_ptr")
def _exception_ptr(value: gdb.Value) -> str:
    address = int(member(value, "_M_exception_object", "__ptr_"))
    return _line(caught(Memory(read), address - _UNWIND_HEADER)) if address else "no exception"


@shows(_CLASSES)
def _exception(value: gdb.Value) -> str:
    """One that was caught by reference: its class may be declared only, and is often not what it really is."""
    memory, address = Memory(read), int(address_of(value))
    return _line(thrown(memory, address, cxx_class.type_info(memory, address)))


def _line(exception: CxxException) -> str:
    return f"{exception.type}: {exception.what}" if exception.what else exception.type


def caught(memory: Memory, header: int) -> CxxException:
    """The exception whose unwind header ``__cxa_begin_catch`` is given."""
    address, info = header + _UNWIND_HEADER, memory.pointer(header - _TYPE_BEFORE_HEADER)
    if memory.unsigned(header, 1) == _DEPENDENT:  # std::rethrow_exception: it only points to the first one
        address, info = info, memory.pointer(info - _UNWIND_HEADER - _TYPE_BEFORE_HEADER)
    return thrown(memory, address, info)


def _what(memory: Memory, address: int, name: str, classes: tuple[str, ...]) -> str:
    if _MESSAGES_IN_A_STRING.intersection(classes):
        return _string(memory, address + _WORD)
    if _COW_STRINGS.intersection(classes):
        return memory.text(memory.pointer(address + _WORD), _MAX_TEXT)
    if "pybind11::error_already_set" in classes:
        held = memory.pointer(address + _WORD)
        return _python(memory, memory.pointer(held), memory.pointer(held + _WORD))
    if "python_error" in classes:
        return _python(memory, memory.pointer(address + _WORD), memory.pointer(address + 2 * _WORD))
    return _from_debug_information(address, name)


def _string(memory: Memory, address: int) -> str:
    size = min(memory.unsigned(address + _WORD), _MAX_TEXT)
    return memory.read(memory.pointer(address), size).decode("utf-8", "replace")


def _python(memory: Memory, kind: int, value: int) -> str:
    """A Python exception on its way through C++, as a traceback ends: ``KeyError: 'x'``."""
    python = current_python()
    if python is None or not kind:
        return "the error that is set in Python"
    name = memory.text(memory.pointer(kind + python.layout["type.tp_name"]), 200)
    if not value:
        return name
    _, arguments = python.values.sequence(memory.pointer(value + _ARGUMENTS), 3)
    return f"{name}: {', '.join(python.values.describe(each) for each in arguments)}"


def _from_debug_information(address: int, name: str) -> str:
    """A number or text that was thrown; of a class, its first member that is text."""
    kind = gdb.lookup_type(name)
    value = gdb.Value(address).cast(kind.pointer()).dereference()
    if kind.strip_typedefs().code not in {gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION} or _is_text(kind):
        return _text(value) if _is_text(kind) else value_text(value)
    for field in kind.fields():
        if not field.is_base_class and hasattr(field, "bitpos") and field.type and _is_text(field.type):
            return _text(value[field])
    return ""


def _text(value: gdb.Value) -> str:
    if value.type.strip_typedefs().code == gdb.TYPE_CODE_PTR:
        return value.string("utf-8", "replace", -1) if value else ""
    return _string(Memory(read), int(value.address)) if value.address is not None else ""


def _is_text(kind: gdb.Type) -> bool:
    return bool(_TEXT_TYPES.match(str(kind)) or _TEXT_TYPES.match(str(kind.strip_typedefs())))
