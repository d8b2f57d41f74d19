"""How C++ handles of Python objects are shown: by the Python value, from memory."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar

from pyharness.ingdb.printers.registry import shows
from pyharness.ingdb.tensors.address import plain_type, referred, type_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import gdb

_KINDS = (
    "handle|object|dict|list|tuple|set|frozenset|str|bytes|bytearray|int_|float_|bool_|none|type|type_object|slice|iterator|iterable"
    "|sequence|mapping|args|kwargs|function|cpp_function|module_?|capsule|buffer|memoryview|weakref|ellipsis|dtype"
    "|array(?:_t<.*>)?|typed<.*>|any|callable|exception"
)
PATTERN = rf"(?:pybind11|nanobind)::(?:{_KINDS})|THPObjectPtr|THPPointer<_object>"
_HANDLE = re.compile(PATTERN)
_MEMBERS = ("m_ptr", "ptr")


class _Python:
    """Who knows the program's interpreter; until then an object is its address."""

    describe: ClassVar[Callable[[int], str]] = staticmethod(hex)


def describes_objects(describe: Callable[[int], str]) -> Callable[[int], str]:
    """Register who says in a line what the PyObject at an address is."""
    _Python.describe = staticmethod(describe)
    return describe


def describe(address: int) -> str:
    """What the PyObject at an address is; "no object" where it is null."""
    return _Python.describe(address) if address else "no object"


@shows(PATTERN)
def _object(value: gdb.Value) -> str:
    return describe(object_in(value))


def object_held(value: gdb.Value) -> int:
    """The address of the PyObject in a handle of pybind11's, nanobind's or torch's; 0 where it is none, or empty."""
    return object_in(referred(value)) if _HANDLE.fullmatch(type_name(value.type)) else 0


def object_in(value: gdb.Value) -> int:
    """The address of the PyObject that such a value holds; 0 for none."""
    names = {field.name for field in _all_fields(plain_type(value.type))}
    member = next(each for each in _MEMBERS if each in names)
    return int(value[member])


def _all_fields(kind: gdb.Type) -> Iterator[gdb.Field]:
    for field in kind.fields():
        yield field
        if field.is_base_class and field.type is not None:
            yield from _all_fields(field.type.strip_typedefs())
