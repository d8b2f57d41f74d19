"""Which elements of a tensor a person looks at: the first and last few of each dimension, as torch prints them."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from pyharness.model.tensors.dtypes import BY_NAME

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyharness.model.tensors.dtypes import Number
    from pyharness.model.tensors.tensor import TensorInfo

    Nested = Number | str | list["Nested"]
    Element = Callable[[int], Number | str]
    """The element that lies so many elements after the first in memory, or a placeholder."""

ELLIPSIS = "…"
UNREADABLE = "<unreadable>"
EDGE = 3
THRESHOLD = 1000
"""The number of elements beyond which a tensor is summarised, as in torch's print options."""


def nested(element: Element, sizes: Sequence[int], strides: Sequence[int], edge: int, threshold: int) -> Nested:
    """The elements as nested lists, the middle of a dimension left out where there are more than ``threshold``.

    At most about ``threshold`` elements are asked for, whatever the sizes say.
    """
    if not prod(sizes):
        return []
    return _Walk(element, sizes, strides, edge if prod(sizes) > threshold else None, threshold).below(0, 0)


class _Walk:
    def __init__(
        self, element: Element, sizes: Sequence[int], strides: Sequence[int], edge: int | None, budget: int
    ) -> None:
        self.element = element
        self.sizes = sizes
        self.strides = strides
        self.edge = edge
        self.budget = max(budget, 1)

    def below(self, offset: int, dimension: int) -> Nested:
        if self.budget <= 0:
            return ELLIPSIS
        if dimension == len(self.sizes):
            self.budget -= 1
            return self.element(offset)
        size, step = self.sizes[dimension], self.strides[dimension]
        if self.edge is None or size <= 2 * self.edge:
            return [self.below(offset + index * step, dimension + 1) for index in range(size)]
        first = [self.below(offset + index * step, dimension + 1) for index in range(self.edge)]
        last = [self.below(offset + index * step, dimension + 1) for index in range(size - self.edge, size)]
        return [*first, ELLIPSIS, *last]


def leading(sizes: Sequence[int], limit: int) -> tuple[int, ...]:
    """Sizes of the first part, whole in its trailing dimensions, that has at most ``limit`` elements (or one)."""
    part = list(sizes)
    for dimension in range(len(part)):
        if prod(part) <= limit:
            break
        part[dimension] = max(1, limit // max(1, prod(part[dimension + 1 :])))
    return tuple(part)


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
