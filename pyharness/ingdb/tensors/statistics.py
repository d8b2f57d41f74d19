"""Statistics of a tensor from its bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.ingdb.tensors.blocks import raw_blocks
from pyharness.model.tensors.dtypes import BY_NAME
from pyharness.model.tensors.elements import leading, values
from pyharness.model.tensors.statistics import DEFAULT_LIMIT, Statistics

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyharness.model.tensors.tensor import TensorInfo

_PART = 1 << 16


def statistics(read: Callable[[int, int], bytes], info: TensorInfo, limit: int = DEFAULT_LIMIT) -> Statistics:
    """Statistics of the first ``limit`` elements or so; `UnreadableError` where they are not in memory."""
    found = Statistics(total=info.numel)
    part = _PART * BY_NAME[info.dtype].size
    for block in raw_blocks(read, info, leading(info.sizes, limit)):
        for start in range(0, len(block), part):
            found.add(values(info, block[start : start + part]))
    return found
