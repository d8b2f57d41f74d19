"""What is differentiated by what: a function that is called here, tensors that are there, or captured records."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from pyharness.inspect.nesting import mapped
from pyharness.inspect.norms.unused import why_no_derivative, why_no_gradient
from pyharness.inspect.record import Record
from pyharness.inspect.variables import Variable, requires_grad, variables
from pyharness.model.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@dataclass(frozen=True)
class Differentiated:
    """Outputs and inputs on one graph; those without derivatives are left out."""

    outputs: Sequence[Variable]
    inputs: Sequence[Variable]
    notes: tuple[str, ...]


@contextmanager
def differentiated(f: Any, x: Any, *, create_graph: bool) -> Iterator[Differentiated]:
    """The graph, which is gone afterwards where it was made here; ``UsageError`` where there is none."""
    with ExitStack() as stack:
        stack.enter_context(torch.inference_mode(mode=False))
        stack.enter_context(torch.enable_grad())
        if callable(f) and not isinstance(f, (Tensor, Record)):
            if isinstance(x, Record):
                raise UsageError(
                    "A function cannot be called with a record.", f"jacobian_norm(f, record.output), at {x.name}."
                )
            variables(x, "x")
            x = mapped(x, lambda tensor: _fresh(tensor, create_graph=create_graph), once=False)
            f = f(*x) if type(x) is tuple else f(x)
        yield _checked(variables(f, "outputs"), variables(x, "x"))


def _fresh(tensor: Tensor, *, create_graph: bool) -> Tensor:
    """A variable of its own, so that a tensor that stands in two places of ``x`` is still one input."""
    if not (tensor.is_floating_point() or tensor.is_complex()):
        return tensor
    if tensor.is_inference():
        tensor = tensor.clone()
    if create_graph and tensor.requires_grad:
        return tensor.view_as(tensor)
    return tensor.detach().requires_grad_()


def _checked(outputs: list[Variable], inputs: list[Variable]) -> Differentiated:
    usable = [each for each in outputs if each.is_differentiable and requires_grad(each) and each.tensor.numel()]
    wanted = [each for each in inputs if each.is_differentiable and requires_grad(each)]
    notes = [f"{each.name} is a constant: it {why_no_gradient(each, usable)}." for each in inputs if each not in wanted]
    notes += [f"{each.name} is a constant: it {why_no_derivative(each)}." for each in outputs if each not in usable]
    if not wanted:
        reasons = "\n".join(f"{each.name} {why_no_gradient(each, usable)}." for each in inputs)
        raise UsageError(reasons, "Nothing is left to differentiate by.")
    if not usable:
        reasons = "\n".join(f"{each.name} {why_no_derivative(each)}." for each in outputs)
        raise UsageError(reasons, "Nothing is left to differentiate.")
    return Differentiated(usable, wanted, tuple(notes))
