"""``vjp``: a vector-Jacobian product through ``torch.autograd.grad``, checked first and explained where it fails."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import torch

from pyharness.inspect.nesting import leaves, mapped
from pyharness.inspect.norms.unused import why_no_derivative, why_no_gradient
from pyharness.inspect.variables import Variable, dtype_name, requires_grad, structure, variables
from pyharness.model.errors import HarnessError, UsageError, nearest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

Unused = Literal["raise", "zero", "none"]
_UNUSED = ("raise", "zero", "none")


def vjp(
    outputs: Any,
    inputs: Any,
    v: Any = None,
    *,
    create_graph: bool = False,
    retain_graph: bool | None = None,
    unused: Unused = "raise",
) -> Any:
    """vᵀJ, J the Jacobian of ``outputs`` by ``inputs``: in the structure of ``inputs``, each of its tensor's shape.

    ``outputs`` are already computed, ``inputs`` are tensors that they were computed from; both may be nested, or be
    records of ``capture(model, detach=False)``. ``v`` has the structure, shapes, dtypes and devices of ``outputs``
    (without those that have no derivative, such as indices); it may be left out where they are one number.
    ``create_graph`` makes the result differentiable; ``retain_graph`` keeps the graph for another call
    (``create_graph`` does as well). ``unused`` says what becomes of inputs without a gradient: an error that tells of
    each why, zeros, or ``None``.

    Raises ``UsageError`` for what does not fit, ``HarnessError`` where the backward pass fails.
    """
    if unused not in _UNUSED:
        raise UsageError(f"There is no unused={unused!r}.", nearest(str(unused), _UNUSED) or f"One of {_UNUSED}.")
    ends, vectors = _ends(variables(outputs, "outputs"), v)
    starts = variables(inputs, "inputs")
    usable = [each for each in starts if requires_grad(each) and each.is_differentiable]
    found = _gradients(ends, usable, vectors, create_graph=create_graph, retain_graph=retain_graph)
    by_tensor = {id(each.tensor): gradient for each, gradient in zip(usable, found, strict=True)}
    missing = [each for each in starts if by_tensor.get(id(each.tensor)) is None]
    if missing and unused == "raise":
        raise _unused(missing, ends)
    for each in missing:
        by_tensor[id(each.tensor)] = torch.zeros_like(each.tensor) if unused == "zero" else None
    return mapped(structure(inputs), lambda tensor: by_tensor[id(tensor)])


def _ends(outputs: list[Variable], v: Any) -> tuple[list[Variable], list[Tensor]]:
    """The outputs to start from, and the vector of each."""
    given = dict(leaves(structure(v))) if v is not None else None
    usable = [each for each in outputs if requires_grad(each) and each.is_differentiable]
    for each in outputs:
        if each not in usable and ((given is not None and each.path in given) or not usable):
            raise UsageError(f"{each.name} {why_no_derivative(each)}.", "Leave it out of the outputs, and of v.")
    if given is None:
        return usable, [_one(each) for each in usable]
    known = {each.path for each in outputs}
    for path in given:
        if path not in known:
            raise UsageError(
                f"v{path} belongs to no output.",
                nearest(path, known - {""}) or f"v has the structure of outputs: {', '.join(sorted(known)) or 'one'}.",
            )
    return usable, [_fitting(each, given.get(each.path)) for each in usable]


def _one(output: Variable) -> Tensor:
    if output.tensor.numel() != 1:
        raise UsageError(
            f"{output.name} has the shape {_shape(output.tensor)}: a vjp needs v, with as many numbers.",
            "v = torch.ones_like(output) sums over all outputs; one row of J is v with a single 1.",
        )
    return torch.ones_like(output.tensor, requires_grad=False)


def _fitting(output: Variable, v: Tensor | None) -> Tensor:
    name = f"v{output.path}"
    tensor = output.tensor
    if v is None:
        raise UsageError(f"v has nothing for {output.name}.", "torch.zeros_like(output) leaves it out of the product.")
    if v.shape != tensor.shape:
        same = v.numel() == tensor.numel()
        raise UsageError(
            f"{name} has the shape {_shape(v)}, but {output.name} has {_shape(tensor)}: v weighs every output.",
            f"{name}.reshape({_shape(tensor)})" if same else f"{name} = torch.ones({_shape(tensor)}), say.",
        )
    if v.dtype != tensor.dtype:
        raise UsageError(
            f"{name} is {dtype_name(v.dtype)}, but {output.name} is {dtype_name(tensor.dtype)}.",
            f"{name}.to({tensor.dtype})",
        )
    if v.device != tensor.device:
        raise UsageError(f"{name} is on {v.device}, {output.name} on {tensor.device}.", f"{name}.to({tensor.device!r})")
    return v


def _gradients(
    ends: Sequence[Variable],
    starts: Sequence[Variable],
    vectors: Sequence[Tensor],
    *,
    create_graph: bool,
    retain_graph: bool | None,
) -> Sequence[Tensor | None]:
    if not starts:
        return []
    outputs: list[Any] = [each.hold for each in ends]
    inputs: list[Any] = [each.hold for each in starts]
    try:
        return torch.autograd.grad(
            outputs,
            inputs,
            list(vectors),
            retain_graph=retain_graph,
            create_graph=create_graph,
            allow_unused=True,
        )
    except RuntimeError as error:
        raise explained(error) from error


def explained(error: RuntimeError) -> HarnessError:
    """What torch says of a backward pass, with what to do about it."""
    text = str(error)
    if "second time" in text:
        return HarnessError(
            "The graph is gone: an earlier backward pass or vjp went through it.",
            "retain_graph=True in the earlier one; or compute the outputs again.",
        )
    if "modified by an inplace operation" in text:
        return HarnessError(
            f"A tensor that backward needs was overwritten in place: {text.splitlines()[0]}",
            "pyharness.inspect.capture names the modules whose outputs were (record.overwritten).",
        )
    return HarnessError(f"The backward pass failed: {text}", "pyharness step SCRIPT --at node:NAME stops in a node.")


def _unused(missing: Sequence[Variable], ends: Sequence[Variable]) -> UsageError:
    reasons = [f"{each.name} {why_no_gradient(each, ends)}." for each in missing]
    return UsageError("\n".join(reasons), "unused='zero' or 'none' goes on without.")


def _shape(tensor: Tensor) -> tuple[int, ...]:
    return tuple(tensor.shape)
