"""gdb pretty printers for what boxed kernels get: c10::IValue and the containers made of it."""

from __future__ import annotations

import struct
from itertools import islice
from typing import TYPE_CHECKING

import gdb

from pyharness.ingdb import torch_process
from pyharness.ingdb.printers.of_torch import boxed_objects, handles
from pyharness.ingdb.printers.of_torch.boxed_objects import HEAD
from pyharness.ingdb.printers.of_torch.torch_types import device_text
from pyharness.ingdb.printers.registry import Room, enumerator, items, shows, text_of
from pyharness.ingdb.tensors.address import type_name
from pyharness.model.tensors.text import number
from pyharness.reading.process.libstdcxx_strings import text_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyharness.ingdb.printers.registry import Show

_IVALUE = "c10::IValue"
_INLINE_TUPLE = 3
_CAPSULE = "capsule"
"""The one attribute of a custom class."""


@shows(r"c10::IValue")
def _ivalue(value: gdb.Value) -> str:
    tag = enumerator(value["tag"])
    payload = value["payload"]
    if tag == "Tensor":
        return text_of(payload["as_tensor"])
    content = payload["u"]
    if tag in _PLAIN:
        return _PLAIN[tag](content)
    address = int(content["as_int"])
    if tag in _HELD:
        return _HELD[tag](address)
    return f"<{tag} at {address:#x}>"


def held_tensor(value: gdb.Value) -> gdb.Value | None:
    """The tensor in an IValue, ``None`` where that holds something else or is none."""
    if type_name(value.type) != _IVALUE or enumerator(value["tag"]) != "Tensor":
        return None
    return value["payload"]["as_tensor"]


_PLAIN: dict[str, Show] = {
    "None": lambda _content: "None",
    "Double": lambda content: repr(float(content["as_double"])),
    "Int": lambda content: str(int(content["as_int"])),
    "UInt": lambda content: str(int(content["as_uint"])),
    "Bool": lambda content: str(bool(content["as_bool"])),
    "Device": lambda content: device_text(int(content["as_device"]["type"]), int(content["as_device"]["index"])),
}


def _string(address: int) -> str:
    text, length = text_at(torch_process.read, address + HEAD, Room.characters)
    return f"{text!r}{'…' if length > Room.characters else ''}"


def list_elements(address: int) -> tuple[gdb.Value, int]:
    """The first IValue, and how many, of the ListImpl at ``address``."""
    first, last = struct.unpack("<QQ", torch_process.read(address + HEAD, 16))
    return _ivalues(first), (last - first) // gdb.lookup_type(_IVALUE).sizeof


def _tuple_elements(address: int) -> tuple[gdb.Value, int]:
    """``TupleElements``: a count of up to three that lie here, or 0 and a vector."""
    count, first, last = struct.unpack("<QQQ", torch_process.read(address + HEAD, 24))
    if 0 < count <= _INLINE_TUPLE:
        return _ivalues(address + HEAD + 8), count
    return _ivalues(first), (last - first) // gdb.lookup_type(_IVALUE).sizeof


def _tuple(address: int) -> str:
    first, count = _tuple_elements(address)
    listed = items(first, count)
    return f"({listed[1:-1]}{',' if count == 1 else ''})" if listed.startswith("[") else listed


def _ivalues(first: int) -> gdb.Value:
    return gdb.Value(first).cast(gdb.lookup_type(_IVALUE).pointer())


_ELEMENTS = {"GenericList": list_elements, "Tuple": _tuple_elements}


def elements(value: gdb.Value) -> tuple[gdb.Value, int] | None:
    """The first IValue, and how many, of a list or tuple in an IValue; ``None`` where it holds something else."""
    tag = enumerator(value["tag"])
    return _ELEMENTS[tag](int(value["payload"]["u"]["as_int"])) if tag in _ELEMENTS else None


def _object(address: int) -> str:
    name, attributes, first = boxed_objects.script_object(address)
    values = [text_of((_ivalues(first) + index).dereference()) for index in range(len(attributes[: Room.elements]))]
    if attributes == [_CAPSULE]:
        return f"{name} {values[0]}"
    said = [f"{each}={value}" for each, value in zip(attributes, values, strict=False)]
    return f"{name}({', '.join(said + ['…'] * (len(attributes) > len(said)))})"


_HELD: dict[str, Callable[[int], str]] = {
    "String": _string,
    "GenericList": lambda address: items(*list_elements(address)),
    "Tuple": _tuple,
    "GenericDict": lambda address: dict_at(gdb.Value(address)),
    "Object": _object,
    "Generator": handles.generator_at,
    "Storage": handles.storage_at,
    "Capsule": boxed_objects.custom_class,
    "PyObject": boxed_objects.python_object,
    "ComplexDouble": lambda address: number(complex(*struct.unpack("<dd", torch_process.read(address + HEAD, 16)))),
}


@shows(r"c10::List<.*>")
def _c10_list(value: gdb.Value) -> str:
    return items(*list_elements(int(value["impl_"]["target_"])))


@shows(r"c10::(?:Dict<.*>|impl::GenericDict)")
def _dict(value: gdb.Value) -> str:
    return dict_at(value["impl_"]["target_"])


def dict_at(pointer: gdb.Value) -> str:
    """The entries of a DictImpl, in the order in which they came."""
    table = pointer.cast(gdb.lookup_type("c10::detail::DictImpl").pointer()).dereference()["dict"]
    count = int(table["num_elements"])
    shown = [f"{text_of(each['first'])}: {text_of(each['second'])}" for each in islice(_entries(table), Room.elements)]
    return f"{{{', '.join(shown + ['…'] * (count > len(shown)))}}}"


def _entries(table: gdb.Value) -> Iterator[gdb.Value]:
    """torch's hash map keeps a list through its entries, which ends where it began."""
    end = table["sentinel"]
    entry = end["next"]
    while int(entry) and int(entry) != int(end):
        yield entry["value"]
        entry = entry["next"]
