"""Which values of two runs can be the same, without looking at every pair of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torch.fx import Node

    from pyharness.fx.verifying.execution import Execution
    from pyharness.fx.verifying.values import Leaf


class Marks:
    """Mean and largest size of the tensors of a result: values whose means are far apart need no closer look."""

    def __init__(self) -> None:
        self._known: dict[Node, list[tuple[float, float]]] = {}

    def of(self, execution: Execution, node: Node) -> list[tuple[float, float]]:
        """The marks of each tensor that ``node`` gave."""
        if node not in self._known:
            values = [leaf.value for leaf in execution.steps[node].result if isinstance(leaf.value, torch.Tensor)]
            self._known[node] = [_mark(each) for each in values]
        return self._known[node]

    def may(self, here: list[tuple[float, float]], execution: Execution, other: Node) -> bool:
        """Whether the two can be equal; a NaN leaves it open."""
        pairs = zip(here, self.of(execution, other), strict=True)
        return not any(abs(one[0] - two[0]) > 1e-3 + 0.02 * two[1] for one, two in pairs)


def _mark(tensor: torch.Tensor) -> tuple[float, float]:
    if tensor.layout is not torch.strided or tensor.is_quantized or tensor.is_meta or not tensor.numel():
        return math.nan, math.nan
    wide = tensor.to(torch.complex128 if tensor.is_complex() else torch.float64).abs()
    return float(wide.mean()), float(wide.max())


def keys(result: Iterable[Leaf]) -> list[object]:
    """What values that may be equal have in common; none for a value that many nodes may have."""
    found = [leaf.value for leaf in result if isinstance(leaf.value, torch.Tensor)]
    telling = any(each.numel() > 1 and bool((each != each.reshape(-1)[0]).any()) for each in found if not each.is_meta)
    return [tuple((each.shape, each.dtype) for each in found)] if telling else []
