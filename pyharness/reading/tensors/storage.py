"""The storage of a Python tensor, from memory: where it lies, and the tensor's type and shape."""

from __future__ import annotations

import math
import struct
from typing import TYPE_CHECKING

from pyharness.model.frozen import frozen
from pyharness.model.tensors.dtypes import DTYPES
from pyharness.reading.process.memory import Memory, UnreadableError

if TYPE_CHECKING:
    from pyharness.reading.tensors.layout import TensorLayout

TENSOR_BASE = ("torch._C.TensorBase", "_TensorBase", "torch._C._TensorBase")
"""The type that every tensor of Python descends from, by its names in the versions of torch."""
_MAX_RANK = 64


@frozen
class Stored:
    """A tensor and its storage."""

    data: int
    """The address of the storage's first byte; 0 for none."""
    size: int
    """Bytes of the storage."""
    dtype: str
    sizes: tuple[int, ...]

    element: int = 0
    """Bytes of an element."""

    def __str__(self) -> str:
        whole = math.prod(self.sizes) * self.element
        of_storage = f", a view of a storage of {self.size} bytes" if whole < self.size else ""
        return f"{self.dtype} {list(self.sizes)}{of_storage}"


def stored(memory: Memory, impl: int, layout: TensorLayout) -> Stored:
    """The tensor whose TensorImpl is at ``impl``; `UnreadableError` where there is none with a storage."""
    storage = memory.pointer(impl + layout.storage)
    rank, index = memory.unsigned(impl + layout.rank), memory.unsigned(impl + layout.dtype, 2)
    if not storage or rank > _MAX_RANK or index >= len(DTYPES):
        raise UnreadableError(f"no tensor with a storage at {impl:#x}")
    sizes = impl + layout.dims if rank <= layout.inline_rank else memory.pointer(impl + layout.dims)
    return Stored(
        memory.pointer(storage + layout.storage_data),
        memory.unsigned(storage + layout.storage_bytes),
        DTYPES[index].name,
        struct.unpack(f"<{rank}q", memory.read(sizes, 8 * rank)) if rank else (),
        DTYPES[index].size,
    )
