"""The classes of other libraries that are arrays, each with what reads it."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from pyharness.ingdb.tensors.arrays import accessors, dlpack, eigen, eigen_tensors, opencv, xtensor

if TYPE_CHECKING:
    from collections.abc import Callable

    import gdb

    from pyharness.model.tensors.tensor import TensorInfo

    Read = Callable[[gdb.Value], TensorInfo]

_KNOWN: tuple[tuple[re.Pattern[str], Read], ...] = tuple(
    (re.compile(pattern), read)
    for pattern, read in (
        (dlpack.DLPACK, dlpack.dl_tensor),
        (accessors.ACCESSORS, accessors.accessor),
        (accessors.UNCHECKED, accessors.unchecked),
        (eigen.DENSE, eigen.dense),
        (eigen_tensors.TENSORS, eigen_tensors.tensor),
        (eigen_tensors.SPARSE, eigen_tensors.sparse),
        (xtensor.XTENSOR, xtensor.array),
        (opencv.MATRIX, opencv.matrix),
        (opencv.SMALL, opencv.small),
    )
)


@cache
def reader_of(name: str) -> Read | None:
    """What reads a value of the class ``name`` as a tensor; ``None`` for a class that is no such array."""
    return next((read for pattern, read in _KNOWN if pattern.fullmatch(name)), None)
