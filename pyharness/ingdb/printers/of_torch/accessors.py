"""How a kernel's accessors are shown: element type, shape, strides and where the elements lie."""

from __future__ import annotations

import gdb

from pyharness.ingdb.printers.registry import address_of, items, number_in, shows
from pyharness.ingdb.tensors.address import plain_type

_ACCESSOR = r"(?:at|c10|torch)::(?:\w+::)*\w*TensorAccessor(?:Base)?<.*>"


@shows(_ACCESSOR)
def _accessor(value: gdb.Value) -> str:
    dimensions = _dimensions(plain_type(value.type))
    sizes, strides, data = (value[member] for member in ("sizes_", "strides_", "data_"))
    element = plain_type(data.type.strip_typedefs().target())
    shape = items(_first(sizes), dimensions)
    return f"{element} {shape} strides {items(_first(strides), dimensions)} at {int(data):#x}"


def _dimensions(kind: gdb.Type) -> int:
    """The template argument that is a number: which one it is differs between versions of torch."""
    for index in range(len(kind.name or "")):
        found = number_in(kind, index)
        if found is not None:
            return found
    raise gdb.error(f"{kind} has no number of dimensions")


def _first(member: gdb.Value) -> gdb.Value:
    """A pointer to the first, of a pointer or an array."""
    return member if plain_type(member.type).code == gdb.TYPE_CODE_PTR else address_of(member[0])
