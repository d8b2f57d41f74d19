"""Whether a graph shows that samples leave one another alone: every node of it does something to each row of dim 0.

Most networks of linear layers and convolutions show it. What is not known here is not shown, however harmless.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch.autograd.graph import get_gradient_edge

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyharness.inspect.gradient_memory import Backward
    from pyharness.inspect.variables import Variable

    Shape = tuple[int, ...]
    Edge = tuple[int, Shape]
    """Which argument of the op, and its shape."""

_ELEMENTWISE = """
    Abs Add Clamp Clone Cos Div Elu Erf Exp Expm1 Gelu Hardsigmoid Hardswish Hardtanh LeakyRelu Log Log1p LogSigmoid
    MaskedFill Mish Mul NativeDropout Neg Pow Reciprocal Relu Rsqrt Sigmoid Silu Sin Softplus Sqrt Sub Tanh Threshold
    ToCopy Where
"""
_VIEWS = "ReshapeAlias UnsafeView View"
_POOLS = "AdaptiveAvgPool2D AvgPool2D MaxPool2DWithIndices"


def keeps_samples_apart(output: Variable, backward: Backward, batch: int) -> bool:
    """Whether no sample of ``output`` can depend on another sample of the inputs, as far as the graph tells."""
    hold: Any = output.hold
    pending = [(get_gradient_edge(hold) if hasattr(hold, "grad_fn") else hold).node]
    seen = set(pending)
    while pending:
        node = pending.pop()
        leads = [
            (place, each, number) for place, (each, number) in enumerate(node.next_functions) if each in backward.leads
        ]
        try:
            edges = [(place, _shape(each, number)) for place, each, number in leads]
            if edges and not _is_sample_wise(node, _shape(node, 0), edges, batch):
                return False
        except (AttributeError, IndexError, RuntimeError, TypeError):  # another torch, symbols, a graph that is gone
            return False
        new = [each for _, each, _ in leads if each not in seen]
        seen.update(new)
        pending += new
    return True


def _shape(node: Any, number: int) -> Shape:
    return tuple(int(size) for size in node._input_metadata[number].shape)  # noqa: SLF001  (torch's only way to ask)


def _is_sample_wise(node: Any, shape: Shape, edges: list[Edge], batch: int) -> bool:
    rule = _RULES.get(node.name()[:-1]) if node.name()[-1:].isdigit() else None  # a user's Function has no number
    rows = all(each[:1] == (batch,) for each in (shape, *(of for _, of in edges)))
    return rule is not None and rows and rule(node, shape, edges)


def _same_shape(_node: Any, shape: Shape, edges: list[Edge]) -> bool:
    return all(of == shape for _, of in edges)


def _any_shape(_node: Any, _shape: Shape, _edges: list[Edge]) -> bool:
    return True


def _first(_node: Any, _shape: Shape, edges: list[Edge]) -> bool:
    """By what comes first alone: not by weights."""
    return [place for place, _ in edges] == [0]


def _second(_node: Any, _shape: Shape, edges: list[Edge]) -> bool:
    return [place for place, _ in edges] == [1]


def _batch_norm(node: Any, shape: Shape, edges: list[Edge]) -> bool:
    return _first(node, shape, edges) and not node._saved_training  # noqa: SLF001


def _layer_norm(node: Any, shape: Shape, edges: list[Edge]) -> bool:
    return _first(node, shape, edges) and len(node._saved_normalized_shape) < len(shape)  # noqa: SLF001


def _along_others(node: Any, _shape: Shape, edges: list[Edge]) -> bool:
    """Along dimensions that are not the first one."""
    dims, count = node._saved_dim, len(edges[0][1])  # noqa: SLF001
    return bool(dims != ()) and all(each % (1 << 64) not in {0, (1 << 64) - count} for each in _each(dims))


def _each(dims: Any) -> Iterator[int]:
    yield from (dims,) if isinstance(dims, int) else dims


_RULES: dict[str, Callable[[Any, Shape, list[Edge]], bool]] = {
    **dict.fromkeys((f"{name}Backward" for name in _ELEMENTWISE.split()), _same_shape),
    **dict.fromkeys((f"{name}Backward" for name in _VIEWS.split()), _any_shape),
    **dict.fromkeys((f"{name}Backward" for name in _POOLS.split()), _first),
    **dict.fromkeys(("LogSoftmaxBackward", "MeanBackward", "SoftmaxBackward", "SumBackward"), _along_others),
    "AddmmBackward": _second,
    "ConvolutionBackward": _first,
    "MmBackward": _first,
    "NativeBatchNormBackward": _batch_norm,
    "NativeLayerNormBackward": _layer_norm,
}
