"""How ``at::vec::Vectorized<T>`` is shown: by its lanes."""

from __future__ import annotations

import re

import gdb

from pyharness.ingdb.printers.registry import listed, shows
from pyharness.ingdb.tensors.address import plain_type
from pyharness.ingdb.tensors.members import address_of

_MEMBERS = ("values", "value")
_MAX_LANES = 64


@shows(r"at::vec::(?:\w+::)*Vectorized<.*>")
def _vectorized(value: gdb.Value) -> str:
    lanes = lanes_of(value)
    return listed(iter(lanes[:_MAX_LANES]), len(lanes))


def lanes_of(value: gdb.Value) -> list[gdb.Value]:
    """The lanes of a ``Vectorized``, of a ``VectorizedN`` or of a ``VecMask``; empty for what is no vector."""
    name = plain_type(value.type).name or ""
    if re.fullmatch(r"at::vec::(?:\w+::)*Vectorized<.*>", name):
        return _lanes(value)
    if re.fullmatch(r"at::vec::(?:\w+::)*VectorizedN<.*>", name):
        held = value["values"]["_M_elems"]
        low, high = plain_type(held.type).range()
        return [lane for index in range(low, high + 1) for lane in lanes_of(held[index])]
    if re.fullmatch(r"at::vec::(?:\w+::)*VecMask<.*>", name):
        return [gdb.Value(bool(lane)) for lane in lanes_of(value["mask_"])]
    return []


def _lanes(value: gdb.Value) -> list[gdb.Value]:
    kind = plain_type(value.type)
    element = kind.template_argument(0)
    held = _held(value)
    if held is None:
        raise gdb.error(f"{kind} has no lanes that are known")
    count = held.type.sizeof // element.sizeof
    lanes = held.reinterpret_cast(element.vector(count - 1)) if held.address is None else _in_memory(held, element)
    return [as_number(lanes[index]) for index in range(count)]


def as_number(value: gdb.Value) -> gdb.Value:
    """A value, where that is a byte as a number: ``int8`` and ``uint8`` of torch's are characters to C++."""
    kind = plain_type(value.type)
    is_byte = kind.code == gdb.TYPE_CODE_INT and kind.sizeof == 1
    return value.cast(gdb.lookup_type("int")) if is_byte else value


def _held(value: gdb.Value) -> gdb.Value | None:
    """The register of a vector: its class has it, or, for whole numbers and bfloat16, the base class."""
    fields = plain_type(value.type).fields()
    own = next((value[field] for field in fields if field.name in _MEMBERS and not field.is_base_class), None)
    bases = (_held(value[field]) for field in fields if field.is_base_class)
    return own if own is not None else next((each for each in bases if each is not None), None)


def _in_memory(held: gdb.Value, element: gdb.Type) -> gdb.Value:
    return address_of(held).cast(element.pointer())
