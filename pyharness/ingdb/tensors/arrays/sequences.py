"""A few numbers that a library keeps of an array, its sizes or strides, and its elements, in whichever container."""

from __future__ import annotations

import gdb

from pyharness.ingdb.tensors.address import plain_type, referred
from pyharness.ingdb.tensors.arrays.strided import MAX_DIMENSIONS
from pyharness.ingdb.tensors.members import member

_WRAPPED = ("_M_impl", "_M_elems", "__elems_", "values")
"""Members that are the container: ``std::vector``'s, ``std::array``'s, that of Eigen's own array."""
_ENDS = (("_M_start", "_M_finish"), ("__begin_", "__end_"), ("p_begin", "p_end"), ("m_begin", "m_end"))
"""Members where the elements begin and end: of ``std::vector``, of xtensor's ``uvector`` and ``svector``."""
_BUFFER = ("p_data", "m_size")
"""The members of xtensor's buffers that belong to somebody else."""


def numbers(value: gdb.Value) -> list[int]:
    """The numbers in an array or a container; ``gdb.error`` for more than an array can have dimensions."""
    first, count = _run(referred(value))
    if not 0 <= count <= MAX_DIMENSIONS:
        raise gdb.error(f"{count} dimensions")
    return [int((first + index).dereference()) for index in range(count)]


def first_of(value: gdb.Value) -> gdb.Value:
    """A pointer to the first element of an array or a container."""
    return _run(referred(value))[0]


def _run(value: gdb.Value) -> tuple[gdb.Value, int]:
    """A pointer to the first element, and how many there are."""
    kind = plain_type(value.type)
    if kind.code == gdb.TYPE_CODE_ARRAY:
        low, high = kind.range()
        pointer = kind.target().pointer()
        return gdb.Value(0).cast(pointer) if value.address is None else value.address.cast(pointer), high - low + 1
    for name in _WRAPPED:
        if (inner := _member(value, name)) is not None:
            return _run(inner)
    for begin, end in _ENDS:
        first, last = _member(value, begin), _member(value, end)
        if first is not None and last is not None:
            return first, int(last - first)
    first, count = (_member(value, name) for name in _BUFFER)
    if first is None or count is None:
        raise gdb.error(f"{kind} is no container that is known")
    return first, int(count)


def _member(value: gdb.Value, name: str) -> gdb.Value | None:
    try:
        return member(value, name)
    except gdb.error:
        return None
