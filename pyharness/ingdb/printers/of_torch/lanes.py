"""How ``at::vec::Vectorized<T>`` is shown: by its lanes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.ingdb.printers.registry import address_of, listed, shows
from pyharness.ingdb.tensors.address import plain_type

if TYPE_CHECKING:
    import gdb

_MEMBERS = ("values", "value")
_MAX_LANES = 64


@shows(r"at::vec::(?:\w+::)*Vectorized<.*>")
def _vectorized(value: gdb.Value) -> str:
    kind = plain_type(value.type)
    element = kind.template_argument(0)
    held = next(value[field] for field in kind.fields() if field.name in _MEMBERS)
    count = held.type.sizeof // element.sizeof
    lanes = held.reinterpret_cast(element.vector(count - 1)) if held.address is None else _in_memory(held, element)
    return listed((lanes[index] for index in range(min(count, _MAX_LANES))), count)


def _in_memory(held: gdb.Value, element: gdb.Type) -> gdb.Value:
    return address_of(held).cast(element.pointer())
