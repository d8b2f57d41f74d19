"""numpy's arrays, from memory alone: where the elements lie, how many, and of what type.

The head of an array and of its dtype are part of numpy's C API (``PyArrayObject_fields``, ``PyArray_Descr``).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pyharness.model.tensors.dtypes import BY_NAME
from pyharness.model.tensors.tensor import TensorInfo

if TYPE_CHECKING:
    from pyharness.reading.process.memory import Memory

NDARRAY = "numpy.ndarray"
_DATA, _DIMENSIONS, _SHAPE, _STRIDES, _DESCR = 16, 24, 32, 40, 56
_TYPE = 25
"""Where a dtype has its letter; one for the order of its bytes is behind it."""
_MAX_DIMENSIONS = 64
_DTYPES = {
    "?": "bool",
    "b": "int8",
    "B": "uint8",
    "h": "int16",
    "H": "uint16",
    "i": "int32",
    "I": "uint32",
    "l": "int64",
    "L": "uint64",
    "q": "int64",
    "Q": "uint64",
    "e": "float16",
    "f": "float32",
    "d": "float64",
    "F": "complex64",
    "D": "complex128",
}


def array_at(memory: Memory, address: int) -> TensorInfo | None:
    """The array at ``address`` as a tensor would be told; ``None`` where its elements are no plain numbers."""
    count = memory.signed(address + _DIMENSIONS, 4)
    descr = memory.pointer(address + _DESCR)
    code, order = map(chr, memory.read(descr + _TYPE, 2))
    dtype = _DTYPES.get(code, "")
    if dtype not in BY_NAME or order == ">" or not 0 <= count <= _MAX_DIMENSIONS:
        return None
    shape, steps = (memory.pointer(address + each) for each in (_SHAPE, _STRIDES))
    sizes = tuple(memory.signed(shape + 8 * index) for index in range(count))
    strides = tuple(memory.signed(steps + 8 * index) for index in range(count))
    size = BY_NAME[dtype].size
    if any(stride % size for stride in strides) or any(each < 0 for each in sizes):
        return None
    return TensorInfo(
        address,
        dtype=dtype,
        sizes=sizes,
        strides=tuple(stride // size for stride in strides),
        numel=math.prod(sizes),
        data=memory.pointer(address + _DATA),
    )
