"""Outputs and inputs of a derivative: tensors in any structure, or what a capture kept on the graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.autograd.graph import get_gradient_edge

from pyharness.inspect.nesting import leaves
from pyharness.inspect.record import Record
from pyharness.model.errors import UsageError

if TYPE_CHECKING:
    from torch.autograd.graph import GradientEdge


@dataclass(frozen=True, eq=False)
class Variable:
    """One tensor, and where autograd takes hold of it."""

    name: str
    """The name as a person writes it: ``outputs['logits']``."""
    path: str
    """The part of the name that says where in the structure."""
    tensor: Tensor
    hold: Tensor | GradientEdge
    """The tensor itself; of a captured one the edge that it had then, which later in-place operations do not move."""

    @property
    def is_differentiable(self) -> bool:
        """Whether its type has derivatives."""
        return self.tensor.is_floating_point() or self.tensor.is_complex()

    @property
    def edge(self) -> GradientEdge:
        """Where on the graph it is."""
        return get_gradient_edge(self.hold) if isinstance(self.hold, Tensor) else self.hold

    @property
    def numbers(self) -> int:
        """Real numbers in it; a complex one counts as two."""
        return self.tensor.numel() * (2 if self.tensor.is_complex() else 1)


def variables(value: Any, name: str) -> list[Variable]:
    """Every tensor of ``value``, which is called ``name`` in messages; ``UsageError`` where there is none."""
    if isinstance(value, Record):
        return _captured(value)
    found = [Variable(f"{name}{path}", path, tensor, tensor) for path, tensor in leaves(value)]
    if not found:
        raise UsageError(f"{name} has no tensor: {type(value).__name__}.", "Tensors may stand in tuples, lists, dicts.")
    return found


def structure(value: Any) -> Any:
    """What the tensors of ``variables(value, ...)`` stand in."""
    return value.output if isinstance(value, Record) else value


def _captured(record: Record) -> list[Variable]:
    tensors = {path: each for path, each in record.leaves.items() if isinstance(each, Tensor)}
    if not tensors:
        raise UsageError(
            f"{record.name} holds no tensors: it has {'statistics only' if record.leaves else 'no output'}.",
            "capture(model, detach=False) keeps the graph.",
        )
    if not record.edges:
        raise UsageError(
            f"What was captured of {record.name} is not on the graph.",
            "capture(model, detach=False), and something that requires grad: a parameter, or the model's input.",
        )
    return [
        Variable(f"{record.name}{path}", path, tensor, record.edges.get(path, tensor.detach()))
        for path, tensor in tensors.items()
    ]


def requires_grad(variable: Variable) -> bool:
    """Whether it is on a graph."""
    return not isinstance(variable.hold, Tensor) or variable.hold.requires_grad


def dtype_name(dtype: torch.dtype) -> str:
    """``float32``."""
    return str(dtype).removeprefix("torch.")
