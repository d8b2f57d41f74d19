"""How standard types are shown that only wrap others: arrays, tuples, atomics, complex numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import gdb

from pyharness.ingdb.printers.of_std.methods import span_count
from pyharness.ingdb.printers.registry import consists_of, holds, items, only_holds, shows, text_of
from pyharness.ingdb.tensors.address import plain_type
from pyharness.ingdb.tensors.members import address_of, member
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


@shows(r"std::(?:__1::)?valarray<.*>")
def _valarray(value: gdb.Value) -> str:
    length = valarray_length(value)
    return f"std::valarray of length {length} = {items(member(value, '_M_data', '__begin_'), length)}"


def valarray_length(value: gdb.Value) -> int:
    """The elements of a ``std::valarray``: libstdc++ counts them, libc++ has a pointer behind the last one."""
    names = {field.name for field in value.type.strip_typedefs().fields()}
    return int(value["_M_size"] if "_M_size" in names else value["__end_"] - value["__begin_"])


_EXPECTED = r"std::expected<.*>"


@shows(_EXPECTED)
def _expected(value: gdb.Value) -> str:
    held = _of_expected(value)
    text = "void" if held is None else text_of(held)
    return text if value["_M_has_value"] else f"unexpected: {text}"


@holds(_EXPECTED)
def _of_expected(value: gdb.Value) -> gdb.Value | None:
    if not value["_M_has_value"]:
        return value["_M_unex"]
    is_void = plain_type(value.type).template_argument(0).strip_typedefs().code == gdb.TYPE_CODE_VOID
    return None if is_void else value["_M_val"]


@only_holds(r"std::atomic<(?!std::(?:shared|weak)_ptr<).*>|std::atomic_\w+")
def _held(value: gdb.Value) -> gdb.Value:
    for name in _MEMBERS:
        try:
            held = value[name]
        except gdb.error:
            continue
        kind = held.type.strip_typedefs()
        return _held(held) if kind.code == gdb.TYPE_CODE_STRUCT and name in {"_M_base", "_M_b"} else held
    raise gdb.error(f"no member {' or '.join(_MEMBERS)}")


@shows(r"std::complex<(?:float|double)>")
def _complex(value: gdb.Value) -> str:
    if value.address is None:
        return str(value["_M_value"])
    part = value.type.strip_typedefs().template_argument(0).pointer()
    first = value.address.cast(part)
    return number(complex(float(first[0]), float(first[1])))
