"""Unit vectors behind a last linear layer: they are rows of its weight, so its part of every product is free."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import torch
from torch.autograd.graph import GradientEdge

if TYPE_CHECKING:
    from torch import Tensor

    from pyharness.inspect.norms.gradient_memory import Backward
    from pyharness.inspect.variables import Variable

_FACTOR = {"AddmmBackward0": 1, "MmBackward0": 0}
"""Nodes of x @ w, and which of their edges is that of x."""


@dataclass(frozen=True)
class UnitVectors:
    """Rows of the identity for one output, as they are where the products start."""

    start: Variable
    """The output, or what goes into its linear layer."""
    count: int
    """Rows of J, those of one sample where samples are independent."""
    batch: int | None
    weight: Tensor | None
    """(in, out) of the layer that is passed by."""

    def rows(self, start: int, stop: int) -> Tensor:
        """(stop - start, *shape of the start); for independent samples the same for each of them."""
        if self.weight is not None:
            return self._weight_rows(self.weight.T, start, stop)
        tensor = self.start.tensor
        units = torch.zeros(stop - start, self.count, dtype=_real(tensor), device=tensor.device)
        units.diagonal(start).fill_(1)
        return self._of_samples(self._shaped(units))

    def mixture(self, weights: Tensor, amounts: Tensor) -> Tensor:
        """(1, *shape): Σᵢ weightsᵢ eᵢ, ``amounts`` times for each sample; ``weights`` is (count,)."""
        tensor = self.start.tensor
        weights = weights.to(tensor.device, _real(tensor))
        one = self._shaped(weights[None])[0] if self.weight is None else torch.mv(self.weight, weights)
        return (one * amounts.to(tensor.device, one.dtype).reshape(-1, *[1] * one.dim()))[None]

    def _weight_rows(self, weights: Tensor, start: int, stop: int) -> Tensor:
        if self.batch is not None:
            return self._of_samples(weights[start:stop])
        numbers = torch.arange(start, stop, device=weights.device)
        samples, columns = numbers // len(weights), numbers % len(weights)
        found = weights.new_zeros(stop - start, self.count // len(weights), weights.shape[1])
        found[torch.arange(stop - start, device=weights.device), samples] = weights[columns]
        return found

    def _shaped(self, units: Tensor) -> Tensor:
        tensor = self.start.tensor
        shape = tensor.shape[1:] if self.batch is not None else tensor.shape
        if tensor.is_complex():
            return torch.view_as_complex(units.reshape(-1, *shape, 2))
        return units.reshape(-1, *shape)

    def _of_samples(self, rows: Tensor) -> Tensor:
        return rows if self.batch is None else rows[:, None].expand(-1, self.batch, *rows.shape[1:])


def unit_vectors(output: Variable, backward: Backward, batch: int | None, *, create_graph: bool) -> UnitVectors:
    """The unit vectors of ``output``, ahead of a linear layer where there is one and one derivative is enough."""
    count = output.numbers // (batch or 1)
    edge = None if create_graph else _input_of_linear(output, backward)
    if edge is None:
        return UnitVectors(output, count, batch, None)
    node, weight = edge
    return UnitVectors(replace(output, hold=node), count, batch, weight)


def _input_of_linear(output: Variable, backward: Backward) -> tuple[GradientEdge, Tensor] | None:
    """Where x is on the graph, and w, (in, out), for an output x @ w or x @ w + b, if it depends by x alone."""
    if output.tensor.dim() != 2 or output.tensor.is_complex() or getattr(output.hold, "_backward_hooks", None):
        return None
    node: Any = output.edge.node
    name = node.name()
    if name not in _FACTOR or getattr(node, "_saved_alpha", 1) != 1:
        return None
    edges = list(node.next_functions)
    x, number = edges.pop(_FACTOR[name])
    if x not in backward.leads or x in backward.goals or any(each in backward.leads for each, _ in edges):
        return None
    try:
        weight: Tensor = node._saved_mat2.detach()  # noqa: SLF001  (torch's own name for it)
    except RuntimeError:  # the graph is gone, or w was overwritten: what runs the node tells it
        return None
    plain = weight.layout == torch.strided and weight.dtype == output.tensor.dtype
    return (GradientEdge(x, number), weight) if plain else None


def _real(tensor: Tensor) -> torch.dtype:
    return tensor.real.dtype if tensor.is_complex() else tensor.dtype
