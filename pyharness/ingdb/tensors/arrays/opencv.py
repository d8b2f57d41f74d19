"""OpenCV's matrices: an image has its channels as the last dimension, as in NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import gdb

from pyharness.ingdb.tensors.address import plain_type
from pyharness.ingdb.tensors.arrays.element_types import dtype_of
from pyharness.ingdb.tensors.arrays.sequences import first_of
from pyharness.ingdb.tensors.arrays.strided import MAX_DIMENSIONS, strided
from pyharness.ingdb.tensors.members import number_in
from pyharness.model.tensors.dtypes import BY_NAME

if TYPE_CHECKING:
    from pyharness.model.tensors.tensor import TensorInfo

MATRIX = "cv::Mat_?(?:<.*>)?"
SMALL = "cv::(?:Matx|Vec)<.*"
_DEPTH, _CHANNELS_AT, _CHANNELS = 7, 3, 511
"""Parts of ``Mat::flags``: what an element is, and one less than how many channels it has."""
_DEPTHS = ("uint8", "int8", "uint16", "int16", "int32", "float32", "float64", "float16")
_MAGIC, _MAGIC_MASK = 0x42FF0000, 0xFFFF0000


def matrix(value: gdb.Value) -> TensorInfo:
    """A ``cv::Mat`` or ``cv::Mat_<T>``; ``gdb.error`` for memory in which none lies yet."""
    flags = int(value["flags"]) & 0xFFFFFFFF
    count = int(value["dims"])
    if flags & _MAGIC_MASK != _MAGIC or not 0 <= count <= MAX_DIMENSIONS:
        raise gdb.error("it is not initialized")
    dtype = _DEPTHS[flags & _DEPTH]
    channels = (flags >> _CHANNELS_AT & _CHANNELS) + 1
    lengths, steps = value["size"]["p"], value["step"]["p"]
    sizes = [int(lengths[index]) for index in range(count)]
    strides = [int(steps[index]) // BY_NAME[dtype].size for index in range(count)]
    if channels > 1:
        sizes, strides = [*sizes, channels], [*strides, 1]
    if not count:
        sizes, strides = [0], [1]
    return strided(value, "cv::Mat", dtype, int(value["data"]), sizes, strides)


def small(value: gdb.Value) -> TensorInfo:
    """A ``cv::Matx`` or a ``cv::Vec``, of a size that its type says."""
    kind = plain_type(value.type)
    name = (kind.name or "").partition("<")[0]
    sizes = [number_in(kind, 1) or 0, *([number_in(kind, 2) or 0] if name == "cv::Matx" else [])]
    strides = [sizes[-1], 1][-len(sizes) :]
    return strided(value, name, dtype_of(kind.template_argument(0)), int(first_of(value["val"])), sizes, strides)
