"""Values that lie one after another (arrays, vectors, torch's views): any element is found without the others."""

from __future__ import annotations

import re
import struct
from typing import TYPE_CHECKING

import gdb

from pyharness.ingdb.printers.of_std.methods import span_count
from pyharness.ingdb.printers.of_std.wrapped import valarray_length
from pyharness.ingdb.printers.of_torch import iterators, ivalues
from pyharness.ingdb.printers.of_torch.torch_types import engaged
from pyharness.ingdb.printers.registry import MAX_LENGTH
from pyharness.ingdb.tensors.address import plain_type
from pyharness.ingdb.tensors.members import member
from pyharness.model.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Callable

    Find = Callable[[gdb.Value], "Run | None"]


@frozen
class Run:
    """``length`` values from the pointer ``first`` on."""

    first: gdb.Value
    length: int
    plain: bool = False
    """Whether C++ indexes it with ``[]`` in gdb, too."""

    def at(self, index: int) -> gdb.Value:
        """An element."""
        return (self.first + index).dereference()


def run_of(value: gdb.Value) -> Run | None:
    """The elements of a value, ``None`` where it has none or where they do not lie one after another."""
    kind = plain_type(value.type)
    if kind.code == gdb.TYPE_CODE_ARRAY:
        return _array(value, kind)
    name = kind.name or ""
    find = next((find for pattern, find in _KINDS if pattern.fullmatch(name)), None)
    if find is None:
        return None
    try:
        run = find(value)
    except (gdb.error, OSError, struct.error):
        return None
    return run if run is not None and 0 <= run.length < MAX_LENGTH else None


def _array(value: gdb.Value, kind: gdb.Type) -> Run | None:
    if value.address is None:
        return None
    low, high = kind.range()
    return Run(value.address.cast(kind.target().pointer()), max(0, min(high - low + 1, MAX_LENGTH - 1)), plain=True)


def _vector(value: gdb.Value) -> Run:
    first, last = value["_M_impl"]["_M_start"], value["_M_impl"]["_M_finish"]
    return Run(first, (int(last) - int(first)) // first.dereference().type.sizeof)


def _libcxx_vector(value: gdb.Value) -> Run:
    first, last = value["__begin_"], value["__end_"]
    return Run(first, (int(last) - int(first)) // first.dereference().type.sizeof)


def _libcxx_array(value: gdb.Value) -> Run | None:
    elements = value["__elems_"]
    found = _array(elements, plain_type(elements.type))
    return Run(found.first, found.length) if found else None


def _std_array(value: gdb.Value) -> Run:
    elements = value["_M_elems"]
    if plain_type(elements.type).code != gdb.TYPE_CODE_ARRAY:  # std::array<T, 0> has none
        return Run(gdb.Value(0).cast(value.type.template_argument(0).pointer()), 0)
    found = _array(elements, plain_type(elements.type))
    if found is None:
        raise gdb.error("an array that is in no memory")
    return Run(found.first, found.length)


def _array_ref(value: gdb.Value) -> Run:
    return Run(value["Data"], int(value["Length"]))


def _small_vector(value: gdb.Value) -> Run:
    element = plain_type(value.type).template_argument(0)
    return Run(value["BeginX"].cast(element.pointer()), int(value["Size"]))


def _list(value: gdb.Value) -> Run:
    """``c10::List``: a vector of IValues behind a pointer."""
    return Run(*ivalues.list_elements(int(value["impl_"]["target_"])))


def _ivalue(value: gdb.Value) -> Run | None:
    found = ivalues.elements(value)
    return Run(*found) if found else None


def _operands(value: gdb.Value) -> Run:
    loop = iterators.loop_of(value)
    return Run(loop.operands, loop.count)


def _optional(value: gdb.Value) -> Run | None:
    """The run of elements in a ``std::optional``."""
    inner = engaged(value)
    return run_of(inner) if inner is not None else None


_KINDS: tuple[tuple[re.Pattern[str], Find], ...] = (
    (re.compile(r"std::vector<(?!bool[,>]).*>"), _vector),
    (re.compile(r"std::array<.*>"), _std_array),
    (re.compile(r"std::span<.*>"), lambda value: Run(value["_M_ptr"], span_count(value))),
    (
        re.compile(r"std::(?:__1::)?valarray<.*>"),
        lambda value: Run(member(value, "_M_data", "__begin_"), valarray_length(value)),
    ),
    (re.compile(r"std::__1::vector<(?!bool[,>]).*>"), _libcxx_vector),
    (re.compile(r"std::__1::array<.*>"), _libcxx_array),
    (re.compile(r"(?:c10|at)::(?:HeaderOnly)?ArrayRef<.*>"), _array_ref),
    (re.compile(r"(?:c10|llvm)::SmallVector(?:Impl)?<.*>"), _small_vector),
    (re.compile(r"c10::List<.*>"), _list),
    (re.compile(r"c10::IValue"), _ivalue),
    (re.compile(r"at::TensorIterator(?:Base)?"), _operands),
    (re.compile(r"std::optional<(?:c10|at|std|torch::stable)::.*>"), _optional),
    (re.compile(r"c10::OptionalArrayRef<.*>"), lambda value: _optional(value["wrapped_opt_array_ref"])),
)
