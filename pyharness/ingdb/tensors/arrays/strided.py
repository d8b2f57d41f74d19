"""An array in memory as what a tensor is told as, whatever library it is of."""

from __future__ import annotations

import re
from math import prod
from typing import TYPE_CHECKING

from pyharness.model.tensors.dtypes import BY_NAME
from pyharness.model.tensors.tensor import TensorInfo

if TYPE_CHECKING:
    from collections.abc import Sequence

    import gdb

MAX_DIMENSIONS = 64
_IN_A_LINE = 16
_NUMBERS = re.compile(r"(?<=array = )\{[^{}]*\}")
_MAX_ELEMENTS = 1 << 44
"""More than a machine has: sizes beyond were never written, as in a variable whose constructor has yet to run."""


def strided(
    value: gdb.Value, kind: str, dtype: str, data: int, sizes: Sequence[int], strides: Sequence[int]
) -> TensorInfo:
    """The array ``value``, called ``kind``, whose first element is at ``data``; ``strides`` are in elements.

    It has the state ``corrupt`` where it cannot be what memory says.
    """
    if value.address is None and not data:
        return _in_registers(value, kind, dtype, sizes)
    address = int(value.address) if value.address is not None else 0
    numel = prod(sizes) if len(sizes) <= MAX_DIMENSIONS and min(sizes, default=0) >= 0 else -1
    if not 0 <= numel < _MAX_ELEMENTS or (numel and not data):
        problem = f"its sizes are {list(sizes)}, its elements at {data:#x}"
        return TensorInfo(address, state="corrupt", kind=kind, is_of_torch=False, problem=problem)
    return TensorInfo(
        address,
        kind=kind,
        is_of_torch=False,
        dtype=dtype,
        sizes=tuple(sizes),
        strides=tuple(strides),
        numel=numel,
        device="",
        data=data,
        unreadable=None if dtype in BY_NAME else f"elements of {dtype}",
    )


def _in_registers(value: gdb.Value, kind: str, dtype: str, sizes: Sequence[int]) -> TensorInfo:
    """An array whose elements are a part of it, and that optimized code keeps in no memory, or not whole."""
    text = value.format_string(raw=True, max_elements=_IN_A_LINE)
    found = _NUMBERS.findall(text)
    elements = f"in registers: {found[-1]}" if found else "in registers"
    numel = prod(sizes)
    return TensorInfo(
        0, kind=kind, is_of_torch=False, dtype=dtype, sizes=tuple(sizes), numel=numel, device="", unreadable=elements
    )


def row_major(sizes: Sequence[int]) -> list[int]:
    """The strides of an array without gaps whose last dimension runs fastest."""
    return [prod(sizes[index + 1 :]) for index in range(len(sizes))]


def column_major(sizes: Sequence[int]) -> list[int]:
    """The strides of an array without gaps whose first dimension runs fastest."""
    return [prod(sizes[:index]) for index in range(len(sizes))]
