"""Tensors of DLPack, from memory alone: what libraries that know nothing of each other hand on.

Layout: ``dlpack.h`` (DLTensor, DLManagedTensor, DLManagedTensorVersioned), the same in each of its versions.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pyharness.model.tensors.dtypes import BY_NAME
from pyharness.model.tensors.tensor import DLTENSOR, TensorInfo

if TYPE_CHECKING:
    from pyharness.reading.process.memory import Memory

_DEVICE, _DEVICE_NUMBER, _DIMENSIONS, _DTYPE, _SHAPE, _STRIDES, _OFFSET = 8, 12, 16, 20, 24, 32, 40
_MAX_DIMENSIONS = 64
_DEVICES = {
    1: "cpu",
    2: "cuda",
    3: "cuda_host",
    4: "opencl",
    7: "vulkan",
    8: "metal",
    9: "vpi",
    10: "rocm",
    11: "rocm_host",
    13: "cuda_managed",
    14: "oneapi",
    15: "webgpu",
    16: "hexagon",
    17: "maia",
    18: "trainium",
}
_ON_HOST = frozenset({"cpu", "cuda_host", "rocm_host"})
_CODES = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 5: "complex", 6: "bool", 18: "bcomplex"}
_FLOATS = {10: "e4m3fn", 11: "e4m3fnuz", 12: "e5m2", 13: "e5m2fnuz", 14: "e8m0fnu"}
"""Codes of the floats of 8 bits."""


def dl_tensor_at(memory: Memory, address: int) -> TensorInfo:
    """The DLTensor at ``address``, told as a tensor of torch's is; strides are in elements.

    One that holds nothing has the state ``undefined``, and what is none ``corrupt``.

    Raises:
        UnreadableError: There is no memory at ``address``.

    """
    data = memory.pointer(address)
    device, number = memory.signed(address + _DEVICE, 4), memory.signed(address + _DEVICE_NUMBER, 4)
    count, shape, steps = (
        memory.signed(address + _DIMENSIONS, 4),
        *map(memory.pointer, (address + _SHAPE, address + _STRIDES)),
    )
    if not data and not shape and not count:
        return TensorInfo(address, state="undefined", kind=DLTENSOR, is_of_torch=False)
    if device not in _DEVICES or not 0 <= count <= _MAX_DIMENSIONS:
        problem = f"device type {device}, {count} dimensions"
        return TensorInfo(address, state="corrupt", kind=DLTENSOR, is_of_torch=False, problem=problem)
    sizes = tuple(memory.signed(shape + 8 * index) for index in range(count))
    strides = tuple(memory.signed(steps + 8 * index) for index in range(count)) if steps else _contiguous(sizes)
    place = _DEVICES[device]
    dtype = _dtype(memory, address + _DTYPE)
    return TensorInfo(
        address,
        kind=DLTENSOR,
        is_of_torch=False,
        dtype=dtype,
        sizes=sizes,
        strides=strides,
        numel=math.prod(sizes),
        device="cpu" if place == "cpu" else f"{place}:{number}",
        data=data + memory.unsigned(address + _OFFSET),
        unreadable=_obstacle(dtype, place),
    )


def _obstacle(dtype: str, place: str) -> str | None:
    """Why the elements cannot be read; ``None`` where they can."""
    if place not in _ON_HOST:
        return f"on {place}"
    return None if dtype in BY_NAME else f"elements of {dtype}"


def _contiguous(sizes: tuple[int, ...]) -> tuple[int, ...]:
    """The strides that a DLTensor without any means."""
    return tuple(math.prod(sizes[index + 1 :]) for index in range(len(sizes)))


def _dtype(memory: Memory, address: int) -> str:
    """The dtype as torch names it; in DLPack's words where torch has none."""
    code, bits, lanes = (memory.unsigned(address + at, size) for at, size in ((0, 1), (1, 1), (2, 2)))
    if code in _FLOATS and bits == 8:
        name = f"float8_{_FLOATS[code]}"
    else:
        kind = _CODES.get(code, f"code {code}, ")
        name = "bool" if kind == "bool" else f"{kind}{bits}"
    return name if lanes == 1 else f"{name} of {lanes} lanes"
