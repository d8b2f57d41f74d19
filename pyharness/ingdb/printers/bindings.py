"""How C++ handles of Python objects are shown: by the Python value, from memory."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar

import gdb

from pyharness.ingdb.printers.registry import shows
from pyharness.ingdb.tensors.address import plain_type, referred, type_name
from pyharness.ingdb.tensors.members import address_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_KINDS = (
    "handle|object|dict|list|tuple|set|frozenset|str|bytes|bytearray|int_|float_|bool_|none|type|type_object|slice|iterator|iterable"
    "|sequence|mapping|args|kwargs|function|cpp_function|module_?|capsule|buffer|memoryview|weakref|ellipsis|dtype"
    "|array(?:_t<.*>)?|typed<.*>|any|callable|exception"
)
_OF_RUST = r"pyo3::instance::(?:Py|Bound|Borrowed)<.*>"
PATTERN = rf"(?:pybind11|nanobind)::(?:{_KINDS})|THPObjectPtr|THPPointer<_object>|{_OF_RUST}"
_HANDLE = re.compile(PATTERN)
_REFERENCE = re.compile(r"pyo3::types::(?:\w+::)*Py\w+|pyo3_ffi::(?:\w+::)*Py\w*Object|pyo3::pycell::PyCell<.*>")
"""What a reference of PyO3's refers to, which is an object of Python's."""
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
    """The address of the PyObject in a handle of pybind11's, nanobind's, PyO3's or torch's; 0 where there is none."""
    kind = plain_type(value.type)
    if kind.code == gdb.TYPE_CODE_PTR:
        target = type_name(kind.target())
        if re.fullmatch(_OF_RUST, target):
            return object_in(value.dereference()) if int(value) else 0
        return int(value) if _REFERENCE.fullmatch(target) else 0
    return object_in(referred(value)) if _HANDLE.fullmatch(kind.name or "") else 0


def object_in(value: gdb.Value) -> int:
    """The address of the PyObject that such a value holds; 0 for none."""
    if re.fullmatch(_OF_RUST, plain_type(value.type).name or ""):
        return int(address_of(value).cast(gdb.lookup_type("unsigned long").pointer()).dereference())
    names = {field.name for field in _all_fields(plain_type(value.type))}
    member = next(each for each in _MEMBERS if each in names)
    return int(value[member])


def _all_fields(kind: gdb.Type) -> Iterator[gdb.Field]:
    for field in kind.fields():
        yield field
        if field.is_base_class and field.type is not None:
            yield from _all_fields(field.type.strip_typedefs())
