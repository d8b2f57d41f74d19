"""What a kernel reads an array by: torch's accessors, and pybind11's ``unchecked_reference``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import gdb

from pyharness.ingdb.tensors.address import plain_type
from pyharness.ingdb.tensors.arrays.element_types import dtype_of, size_of
from pyharness.ingdb.tensors.arrays.sequences import numbers
from pyharness.ingdb.tensors.arrays.strided import MAX_DIMENSIONS, strided
from pyharness.ingdb.tensors.members import address_of, number_in

if TYPE_CHECKING:
    from pyharness.model.tensors.tensor import TensorInfo

ACCESSORS = r"(?:at|c10|torch)::(?:\w+::)*\w*TensorAccessor(?:Base)?<.*"
UNCHECKED = "pybind11::detail::unchecked_(?:mutable_)?reference<.*"


def accessor(value: gdb.Value) -> TensorInfo:
    """An accessor of torch's, packed or not."""
    kind = plain_type(value.type)
    name = (kind.name or "").partition("<")[0].rpartition("::")[2]
    count = _dimensions(kind)
    sizes, strides = ([int(_first(value[part])[index]) for index in range(count)] for part in ("sizes_", "strides_"))
    data = value["data_"]
    return strided(value, name, dtype_of(data.type.strip_typedefs().target()), int(data), sizes, strides)


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


def unchecked(value: gdb.Value) -> TensorInfo:
    """What ``py::array_t::unchecked()`` gives, whose strides are in bytes."""
    kind = plain_type(value.type)
    element = kind.template_argument(0)
    fixed = number_in(kind, 1)
    if fixed is not None and fixed >= 0:
        sizes, strides = numbers(value["shape_"]), numbers(value["strides_"])
    else:
        count = int(value["dims_"])
        if not 0 <= count <= MAX_DIMENSIONS:
            raise gdb.error(f"{count} dimensions")
        sizes, strides = ([int(value[part][index]) for index in range(count)] for part in ("shape_", "strides_"))
    steps = [stride // size_of(element) for stride in strides]
    return strided(value, "unchecked_reference", dtype_of(element), int(value["data_"]), sizes, steps)
