"""Why a tensor has no gradient: what autograd knows, in words, with what to do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyharness.fx.verifying.values import storage_of
from pyharness.inspect.variables import dtype_name, requires_grad

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from torch import Tensor

    from pyharness.inspect.variables import Variable

_MOST = 1_000_000
"""Nodes of a graph that are walked."""


def why_no_gradient(variable: Variable, outputs: Sequence[Variable]) -> str:
    """Why ``outputs`` have no derivative by ``variable``: a clause that goes on after its name."""
    blocked = _why_off_graph(variable)
    return blocked or _why_not_reached(variable, outputs)


def why_no_derivative(output: Variable) -> str:
    """Why an output cannot be differentiated: a clause that goes on after its name."""
    tensor = output.tensor
    if not tensor.numel():
        return f"has no elements: its shape is {tuple(tensor.shape)}"
    if not output.is_differentiable:
        return f"is {dtype_name(tensor.dtype)}: comparing, argmax and indices have no derivative"
    if tensor.is_inference():
        return "was made in inference_mode: run it outside"
    return (
        "does not require grad: it was made under no_grad, detached, or nothing that went into it requires grad "
        "(x.requires_grad_() before the forward)"
    )


def _why_off_graph(variable: Variable) -> str:
    tensor = variable.tensor
    if not variable.is_differentiable:
        return f"is {dtype_name(tensor.dtype)}: only floating point and complex tensors have gradients"
    if tensor.is_inference():
        return "was made in inference_mode, which keeps it off every graph: make it outside, or clone() it there"
    if not requires_grad(variable):
        return "does not require grad: x.requires_grad_() before the outputs are computed from it"
    return ""


def _why_not_reached(variable: Variable, outputs: Sequence[Variable]) -> str:
    reached = _reached(each.edge.node for each in outputs if requires_grad(each))
    node = variable.edge.node
    if node in reached:
        return "has a gradient of zero everywhere: the node that used it gave none back"
    if not variable.tensor.is_leaf and (before := _reached([node])) & reached:
        if any(each.edge.node in before for each in outputs if requires_grad(each)):
            return "was computed from the outputs, not they from it: the arguments may be the wrong way round"
        return _why_beside(variable.tensor)
    if _twin(variable.tensor, reached):
        return (
            "is not what they were computed from: they reach another tensor over the same memory, such as x.detach(), "
            "x.data or a second nn.Parameter(x); differentiate by that one"
        )
    return (
        "is not reached from the outputs: they do not use it, or what they have of it is cut off (detach(), .data, "
        "item(), numpy, no_grad), or it was told to require grad only after they were computed"
    )


def _why_beside(tensor: Tensor) -> str:
    if tensor._version:  # noqa: SLF001
        return (
            "was overwritten in place after the outputs were computed from it: its place on the graph is now after "
            "them; keep the tensor from before (y = x + 1 instead of x += 1)"
        )
    return (
        "was made from what the outputs use, beside them: they do not use this tensor itself (a view or copy that was "
        "taken for this call?); compute the outputs from it"
    )


def _reached(nodes: Iterable[Any]) -> set[Any]:
    pending = [node for node in nodes if node is not None]
    seen: set[Any] = set()
    while pending and len(seen) < _MOST:
        node = pending.pop()
        if node not in seen:
            seen.add(node)
            pending += [follower for follower, _ in node.next_functions if follower is not None]
    return seen


def _twin(tensor: Tensor, reached: set[Any]) -> bool:
    """Whether a leaf of the graph lies in the same memory."""
    leaves = [node.variable for node in reached if hasattr(node, "variable")]
    address = storage_of(tensor)
    return address is not None and any(storage_of(leaf) == address for leaf in leaves if leaf is not tensor)
