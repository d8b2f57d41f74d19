"""Comparisons that rounding turns: eager mode compares rounded numbers, a loop those that it has not rounded yet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.fx import Node

from pyharness.fx.verifying.kernels.judging import COMPARISONS
from pyharness.fx.verifying.kernels.reference import name_of

if TYPE_CHECKING:
    from pyharness.fx.verifying.differences import Tolerance
    from pyharness.fx.verifying.kernels.judging import Judge


def flipped(node: Node, where: torch.Tensor, judge: Judge, tolerance: Tolerance) -> str | None:
    """What to say where ``node`` compares numbers that are equal but for rounding, at each element of ``where``."""
    if name_of(node.target) not in COMPARISONS or len(node.args) != 2:
        return None
    sides = [_side(each, judge) for each in node.args]
    if any(each is None for each in sides):
        return None
    (one, least), (other, also) = sides  # type: ignore[misc]
    dtypes = [value.dtype for value in (least, also) if value is not None]
    rtol, atol = tolerance.of(*dtypes) if dtypes else (0.0, 0.0)
    apart = (one - other).abs().expand(where.shape)[where]
    size = torch.maximum(one.abs(), other.abs()).expand(where.shape)[where]
    if bool((apart > atol + rtol * size).any()):
        return None
    count = int(where.sum())
    return (
        f"node {node.name} compares numbers that only rounding makes differ: {count:,} of {where.numel():,} elements "
        "come out the other way, which is no error"
    )


def _side(value: Any, judge: Judge) -> tuple[torch.Tensor, torch.Tensor | None] | None:
    """A side of a comparison in float64, and as it is."""
    if isinstance(value, (int, float)):
        return torch.tensor(float(value), dtype=torch.float64), None
    found = judge.given(value) if isinstance(value, Node) else None
    return (found[1].double(), found[0]) if found is not None and found[0].is_floating_point() else None
