"""How standard types are shown that only wrap others: arrays, tuples, atomics, complex numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import gdb

from pyharness.ingdb.printers.of_std.methods import span_count
from pyharness.ingdb.printers.registry import consists_of, items, only_holds, shows
from pyharness.ingdb.tensors.members import address_of
from pyharness.model.tensors.text import number

if TYPE_CHECKING:
    from collections.abc import Iterator

_MEMBERS = ("_M_i", "_M_base", "_M_b", "_M_p", "_M_fp")


@shows(r"std::array<.*>")
def _array(value: gdb.Value) -> str:
    elements = value["_M_elems"]
    kind = elements.type.strip_typedefs()
    if kind.code != gdb.TYPE_CODE_ARRAY:
        return "[]"  # of no elements
    low, high = kind.range()
    return items(address_of(elements[low]), high - low + 1)


@shows(r"std::span<.*>")
def _span(value: gdb.Value) -> str:
    """A span; GCC's printer has gdb evaluate an expression, which takes seconds in a function with a long name."""
    count = span_count(value)
    return f"std::span of length {count} = {items(value['_M_ptr'], count)}"


@consists_of(r"std::tuple<.*>")
def _heads(value: gdb.Value) -> Iterator[gdb.Value]:
    """The elements: each head is a base class beside the one that has the rest."""
    for field in value.type.strip_typedefs().fields():
        if field.is_base_class and (field.name or "").startswith("std::_Head_base<"):
            part = value[field]
            names = [each.name for each in part.type.strip_typedefs().fields()]
            yield part["_M_head_impl"] if "_M_head_impl" in names else part
    for field in value.type.strip_typedefs().fields():
        if field.is_base_class and (field.name or "").startswith("std::_Tuple_impl<"):
            yield from _heads(value[field])


@only_holds(r"std::atomic<.*>|std::atomic_\w+")
def _held(value: gdb.Value) -> gdb.Value:
    for member in _MEMBERS:
        try:
            held = value[member]
        except gdb.error:
            continue
        kind = held.type.strip_typedefs()
        return _held(held) if kind.code == gdb.TYPE_CODE_STRUCT and member in {"_M_base", "_M_b"} else held
    return value


@shows(r"std::complex<(?:float|double)>")
def _complex(value: gdb.Value) -> str:
    if value.address is None:
        return str(value["_M_value"])
    part = value.type.strip_typedefs().template_argument(0).pointer()
    first = value.address.cast(part)
    return number(complex(float(first[0]), float(first[1])))
