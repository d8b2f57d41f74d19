"""Whether numbers that were compiled are those of a node, as far as rounding lets them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from pyharness.fx.verifying.kernels.reference import SAMPLES, Rounded, Run, UnknownError, Wide, dtype_of, name_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from torch.fx import GraphModule, Node

    from pyharness.fx.verifying.differences import Tolerance

TIMES = 4
"""How much farther off than rounding at random was seen to be: of a kernel, whose inputs are given."""
COMPARISONS = {"eq", "ne", "lt", "le", "gt", "ge"}
_MOST = 1 << 16
"""Elements that the usual rounding of a tensor is taken from."""


@dataclass(frozen=True)
class Expected:
    """What a node is."""

    eager: torch.Tensor
    wide: torch.Tensor
    """What it is in float64, with nothing rounded."""
    samples: tuple[torch.Tensor, ...]
    dtype: torch.dtype

    def wrong(self, actual: torch.Tensor, tolerance: Tolerance, times: float = TIMES) -> torch.Tensor:
        """For each element whether it is none that rounding makes of the node's."""
        if not actual.is_floating_point() or not self.wide.is_floating_point():
            known = (self.eager, self.wide, *self.samples)
            return torch.stack([actual != each.to(actual.dtype) for each in known]).all(0)
        actual = actual.double()
        rtol, atol = tolerance.of(self.dtype)
        allowed = atol + rtol * self.wide.abs() + times * self.rounding()
        near = (actual - self.wide).abs() <= allowed
        eager = self.eager.double()
        near |= (actual - eager).abs() <= atol + rtol * eager.abs()
        near |= (actual == self.wide) | (actual == eager)
        return ~(near | (actual.isnan() & (self.wide.isnan() | eager.isnan())))

    def rounding(self) -> torch.Tensor:
        """How far off rounding alone puts each element: its own, or what is usual in the tensor."""
        own = torch.stack([(each.double() - self.wide).abs() for each in (self.eager, *self.samples)]).amax(0)
        own = own.nan_to_num(nan=0.0, posinf=0.0)
        flat = own.reshape(-1)
        flat = flat[:: max(1, flat.numel() // _MOST)]
        if not flat.numel():
            return own
        usual = flat.kthvalue(max(1, int(0.9 * flat.numel())) if flat.numel() > 16 else flat.numel()).values
        return own.clamp(min=float(usual))


class Judge:
    """Computes what nodes are from values that are known."""

    def __init__(self, module: GraphModule, known: Mapping[Node, Any]) -> None:
        self._runs = [Run(module, known), Wide(module, known)]
        self._runs += [Rounded(module, known, seed) for seed in range(SAMPLES)]

    def expected(self, node: Node) -> Expected | None:
        """``None`` where the node is no tensor, or cannot be told."""
        dtype = dtype_of(node)
        if dtype is None:
            return None
        try:
            eager, wide, *samples = (run.of(node) for run in self._runs)
        except UnknownError:
            return None
        if not all(isinstance(each, torch.Tensor) for each in (eager, wide, *samples)):
            return None
        return Expected(eager, wide, tuple(samples), dtype)

    def turned(self, made: Mapping[Node, torch.Tensor]) -> Iterator[tuple[Node, torch.Tensor, torch.Tensor]]:
        """Comparisons that rounding turns: as eager mode has them, and as a kernel has or can have them.

        They were computed on the way; ``made`` is what the kernel has.
        """
        eager, *others = (run.computed() for run in self._runs)
        for node, value in eager.items():
            if name_of(node.target) in COMPARISONS and isinstance(value, torch.Tensor):
                known = [made[node]] if node in made else [each[node] for each in others if node in each]
                for other in known:
                    if bool((value != other).any()):
                        yield node, value, other
                        break

    def given(self, node: Node) -> tuple[torch.Tensor, torch.Tensor] | None:
        """What a node is taken to be where others are computed from it: eagerly, and in float64."""
        try:
            found = tuple(run.given(node) for run in self._runs[:2])
        except UnknownError:
            return None
        return (found[0], found[1]) if all(isinstance(each, torch.Tensor) for each in found) else None
