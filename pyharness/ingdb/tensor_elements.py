"""Reads the elements that a person looks at: the first and last few of each dimension, as torch prints them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.ingdb.dtypes import BY_NAME
from pyharness.ingdb.python_memory import Memory, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyharness.ingdb.dtypes import Number
    from pyharness.model.tensor import TensorInfo

    Nested = Number | str | list["Nested"]

ELLIPSIS = "…"
UNREADABLE = "<unreadable>"
EDGE = 3
THRESHOLD = 1000
"""As torch's print options: more elements than this are summarised."""


def summary(
    read: Callable[[int, int], bytes], info: TensorInfo, edge: int = EDGE, threshold: int = THRESHOLD
) -> Nested:
    """The elements as nested lists, the middle of a dimension left out where there are more than ``threshold``.

    ``info.unreadable`` must be ``None``; at most about ``threshold`` elements are read, whatever the sizes say.
    """
    if not info.numel:
        return []
    return _Summary(Memory(read), info, edge if info.numel > threshold else None, threshold).below(info.data, 0)


class _Summary:
    def __init__(self, memory: Memory, info: TensorInfo, edge: int | None, budget: int) -> None:
        self.memory = memory
        self.info = info
        self.width = BY_NAME[info.dtype].size
        self.edge = edge
        self.budget = max(budget, 1)

    def below(self, address: int, dimension: int) -> Nested:
        if self.budget <= 0:
            return ELLIPSIS
        if dimension == len(self.info.sizes):
            self.budget -= 1
            return self._one(address)
        size, step = self.info.sizes[dimension], self.info.strides[dimension] * self.width
        if self.edge is None or size <= 2 * self.edge:
            return [self.below(address + index * step, dimension + 1) for index in range(size)]
        first = [self.below(address + index * step, dimension + 1) for index in range(self.edge)]
        last = [self.below(address + index * step, dimension + 1) for index in range(size - self.edge, size)]
        return [*first, ELLIPSIS, *last]

    def _one(self, address: int) -> Number | str:
        try:
            return values(self.info, self.memory.read(address, self.width))[0]
        except UnreadableError:
            return UNREADABLE


def values(info: TensorInfo, raw: bytes) -> list[Number]:
    """Stored bytes as the tensor's values: conjugate and negative views resolved, quantized ones dequantized."""
    found = BY_NAME[info.dtype].decode(raw)
    if info.conjugated:
        found = [complex(value).conjugate() for value in found]
    if info.negated:
        found = [-value for value in found]
    if info.quantization:
        scale, zero_point = info.quantization.scale, info.quantization.zero_point
        found = [(value.real - zero_point) * scale for value in found]
    return found
