"""What objects in an IValue are: TorchScript's, a custom class's, Python's."""

from __future__ import annotations

import struct

import gdb

from pyharness.ingdb import torch_process
from pyharness.ingdb.printers import bindings
from pyharness.ingdb.printers.pointers import pointee
from pyharness.ingdb.printers.registry import text_of
from pyharness.model.frozen import frozen
from pyharness.reading.process.libstdcxx_strings import text_at
from pyharness.reading.process.memory import UnreadableError

HEAD = 16
"""vtable and reference counts of every c10::intrusive_ptr_target."""
# Of torch 2.6 to 2.15, in a program without torch's debug information.
_TYPE, _SLOTS = 64, 80
"""ivalue::Object: behind the compilation unit, held strongly or weakly, its type, and its attributes' values."""
_NAME, _WHOLE_NAME = 32, 24
"""NamedType has its QualifiedName, in a std::optional, and that the text of the whole, behind its parts."""


@frozen
class _Class:
    """Where a ClassType has what, which the size of a std::string decides."""

    has_name: int
    attributes: int
    attribute_bytes: int


_PREFIX = "__torch__."
_MAX_NAME = 500
_ATTRIBUTE_NAME = 24


def python_object(address: int) -> str:
    """The Python value that a PyObjectHolder holds."""
    return bindings.describe(_word(address + HEAD))


def custom_class(address: int) -> str:
    """The C++ object in a capsule, as the class that it really is."""
    found = pointee(gdb.Value(address).cast(gdb.lookup_type("c10::intrusive_ptr_target").pointer()))
    if found is None:
        return "no object"
    own = [field for field in found.type.fields() if not field.is_base_class and hasattr(field, "bitpos")]
    return f"{{{', '.join(f'{field.name} = {text_of(found[field])}' for field in own)}}}"


def script_object(address: int) -> tuple[str, list[str], int]:
    """The name of an object's class, those of its attributes, and where their values lie."""
    kind = _word(address + _TYPE)
    known = next((each for each in _CLASSES if torch_process.read(kind + each.has_name, 1) == b"\1"), None)
    if known is None:
        raise UnreadableError("a class without a name")
    first, last = struct.unpack("<QQ", torch_process.read(kind + known.attributes, 16))
    count = (last - first) // known.attribute_bytes
    names = [_text(first + index * known.attribute_bytes + _ATTRIBUTE_NAME) for index in range(min(count, 100))]
    return _text(kind + _NAME + _WHOLE_NAME).removeprefix(_PREFIX), names, _word(address + _SLOTS)


def _word(address: int) -> int:
    return int(struct.unpack("<Q", torch_process.read(address, 8))[0])


def _text(address: int) -> str:
    return text_at(torch_process.read, address, _MAX_NAME)[0]


_CLASSES = (_Class(152, 224, 56), _Class(80, 152, 32))
"""Layouts with a std::string of 32 bytes, and with one of 8: the ABI before C++11."""
