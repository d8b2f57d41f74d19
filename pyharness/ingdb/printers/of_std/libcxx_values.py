"""How libc++'s types of one value are shown (``std::__1``): as those of libstdc++."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import gdb

from pyharness.ingdb.printers.of_std.callables import first_argument, name_at
from pyharness.ingdb.printers.pointers import counted_text, pointee, shows_pointee
from pyharness.ingdb.printers.registry import consists_of, holds, items, only_holds, shows, text_of
from pyharness.ingdb.printers.texts import quoted
from pyharness.ingdb.tensors.address import plain_type
from pyharness.ingdb.tensors.members import address_of, base, find_base, member, number_in
from pyharness.model.tensors.text import number

if TYPE_CHECKING:
    from collections.abc import Iterator

STD = r"std::__1::"
_COUNTED = STD + r"(?:shared|weak)_ptr<.*>"
_OPTIONAL = STD + r"optional<.*>"
_FUNCTION = re.compile(r"vtable for std::__1::__function::__func<(?P<words>.*)>")


def first(pair: gdb.Value) -> gdb.Value:
    """What a ``__compressed_pair`` is kept for: the allocator or comparison beside it is empty."""
    kind = plain_type(pair.type)
    if not (kind.name or "").startswith("std::__1::__compressed_pair<"):
        return pair
    return pair[kind.fields()[0]]["__value_"]


@shows(STD + r"basic_string<.*>")
def _string(value: gdb.Value) -> str:
    text = first(member(value, "__r_", "__rep_"))
    short, long = text["__s"], text["__l"]
    mark = short.type.strip_typedefs().fields()[0]
    length = int(short["__size_"])
    if mark.name == "__is_long_":
        is_long = bool(short["__is_long_"])
    else:  # before LLVM 15, the lowest bit
        length, is_long = length >> 1, bool(length & 1)
    if is_long:
        return quoted(long["__data_"], int(long["__size_"]))
    letter = plain_type(value.type).template_argument(0)
    return quoted(address_of(short["__data_"]).cast(letter.const().pointer()), length)


@shows(STD + r"basic_string_view<.*>")
def _view(value: gdb.Value) -> str:
    return quoted(member(value, "__data_", "__data"), int(member(value, "__size_", "__size")))


@shows(r"std::__1::(?:__fs::)?filesystem::path")
def _path(value: gdb.Value) -> str:
    return _string(value["__pn_"])


@shows(_COUNTED)
def _counted(value: gdb.Value) -> str:
    pointer, counts = value["__ptr_"], value["__cntrl_"]
    return counted_text(pointer, _counts(counts) if int(counts) else None)


def _counts(counts: gdb.Value) -> tuple[int, int]:
    """Behind the vtable of a class that programs only declare; libc++ counts all but one."""
    numbers = counts.cast(gdb.lookup_type("long").pointer())
    return int(numbers[1]) + 1, int(numbers[2]) + 1


@holds(_COUNTED)
def _in_counted(value: gdb.Value) -> gdb.Value | None:
    counts = value["__cntrl_"]
    alive = not int(counts) or _counts(counts)[0] > 0
    return pointee(value["__ptr_"]) if alive else None


@shows_pointee(STD + r"unique_ptr<.*>")
def _owned(value: gdb.Value) -> gdb.Value:
    return first(value["__ptr_"])


@shows_pointee(STD + r"reference_wrapper<.*>")
def _referent(value: gdb.Value) -> gdb.Value:
    return value["__f_"]


@shows(_OPTIONAL)
def _optional(value: gdb.Value) -> str:
    held = engaged(value)
    return "nullopt" if held is None else text_of(held)


@holds(_OPTIONAL)
def engaged(value: gdb.Value) -> gdb.Value | None:
    """What an optional holds, ``None`` where it is empty."""
    inner = base(value, "std::__1::__optional_destruct_base<")
    return inner["__val_"] if inner["__engaged_"] else None


@consists_of(STD + r"tuple<.*>")
def _leaves(value: gdb.Value) -> Iterator[gdb.Value]:
    if value.type.strip_typedefs().fields():  # it has elements
        leaves = member(value, "__base_", "base_")
        yield from (_leaf(leaves[field]) for field in leaves.type.strip_typedefs().fields())


def _leaf(leaf: gdb.Value) -> gdb.Value:
    names = {field.name for field in leaf.type.strip_typedefs().fields()}
    return leaf["__value_"] if "__value_" in names else leaf  # a class without members is a base


@shows(STD + r"array<.*>")
def _array(value: gdb.Value) -> str:
    count = number_in(plain_type(value.type), 1)
    return items(address_of(value["__elems_"][0]), count) if count else "[]"


@only_holds(STD + r"atomic<.*>")
def _in_atomic(value: gdb.Value) -> gdb.Value:
    inner = base(value, "std::__1::__atomic_base<")["__a_"]
    found = find_base(inner, "std::__1::__cxx_atomic_base_impl<")
    return (inner if found is None else found)["__a_value"]


@shows(STD + r"complex<(?:float|double)>")
def _complex(value: gdb.Value) -> str:
    return number(complex(float(value["__re_"]), float(value["__im_"])))


@shows(STD + r"function<.*>")
def _function(value: gdb.Value) -> str:
    held = value["__f_"]["__f_"]
    if not int(held):
        return "empty"
    table = held.cast(gdb.lookup_type("long").pointer().pointer()).dereference()
    found = _FUNCTION.search(name_at(int(table)))
    kind = first_argument(found["words"]) if found else ""
    if "(*)(" not in kind:
        return kind or f"a callable (its type is unknown: {int(table):#x})"
    word = gdb.lookup_type("unsigned long")  # behind the vtable
    return name_at(int(held.cast(word.pointer())[1]))
