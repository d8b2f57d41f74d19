"""Whether a graph shows that samples leave one another alone: no node of it brings two of them together.

Samples lie in the first dimension of outputs and inputs; in between they may be in another one, or share one with
positions or heads. Most networks of linear layers, convolutions and attention show it. What is not known here is not
shown, however harmless.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyharness.inspect.norms.gradient_memory import Backward
    from pyharness.inspect.variables import Variable

    Shape = tuple[int, ...]
    Edge = tuple[int, Shape]
    """Which argument of the op, and its shape."""
    Rule = Callable[[Any, Shape, int, list[Edge]], Iterator[int | None] | list[int | None]]
    """The dimension of each argument in which samples lie that are in this one of the result; ``None`` for none."""

_ELEMENTWISE = """
    Abs Add Atan Ceil Clamp Clone Cos Cosh Div Elu Erf Exp Expand Expm1 Floor Gelu Hardsigmoid Hardswish Hardtanh
    LeakyRelu Lerp Log Log1p LogSigmoid MaskedFill Maximum Minimum Mish Mul NativeDropout Neg Pow Reciprocal Relu Round
    Rsqrt Rsub Sigmoid Silu Sin Sinh Softplus Sqrt Sub Tan Tanh Threshold ToCopy Where
"""
_VIEWS = {"Alias", "ReshapeAlias", "Squeeze", "UnsafeView", "Unsqueeze", "View"}
_REDUCTIONS = "Amax Amin LinalgVectorNorm Logsumexp Max Mean Min Prod Std Sum Var"
_ALONG = "Cumsum LogSoftmax Softmax"
_PARTS = "Cat Slice Split SplitWithSizes"
_IMAGES = """
    AdaptiveAvgPool2D AvgPool2D Convolution MaxPool2DWithIndices NativeGroupNorm UpsampleBilinear2D UpsampleNearest2D
"""
_ATTENTION = """
    ScaledDotProductCudnnAttention ScaledDotProductEfficientAttention ScaledDotProductFlashAttention
    ScaledDotProductFlashAttentionForCpu
"""


def keeps_samples_apart(output: Variable, backward: Backward, batch: int) -> bool:
    """Whether no sample of ``output`` can depend on another sample of the inputs, as far as the graph tells."""
    start = output.edge.node, output.edge.output_nr
    try:
        apart = {start: math.prod(_shape(*start)) // batch}
        pending = [start]
        while pending:
            node, number = pending.pop()
            if node in backward.goals and apart[node, number] * batch != math.prod(_shape(node, number)):
                return False
            for each, stride in _before(node, number, apart[node, number], backward, batch):
                if each not in apart:
                    pending.append(each)
                if stride is None or apart.setdefault(each, stride) != stride:
                    return False
    except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError):
        return False  # a node that is not known; another torch, symbols, a graph that is gone, no samples
    return True


def _before(
    node: Any, number: int, stride: int, backward: Backward, batch: int
) -> Iterator[tuple[tuple[Any, int], int | None]]:
    """What a result is made of, and how far apart its samples are there; ``None`` where they do not stay apart.

    Element ``i`` of a tensor, counted row by row, belongs to sample ``i // stride % batch``.
    """
    leads = [(place, each) for place, each in enumerate(node.next_functions) if each[0] in backward.leads]
    if not leads:
        return
    shape, name = _shape(node, number), _kind(node)
    edges = [(place, _shape(*each)) for place, each in leads]
    if name in _VIEWS:  # elements keep their order
        yield from ((each, stride) for _, each in leads)
        return
    dim, inner = _dimension(shape, stride, batch)
    for (_, each), (_, of), found in zip(leads, edges, _RULES[name](node, shape, dim, edges), strict=True):
        kept = found is not None and 0 <= found < len(of) and of[found] == shape[dim]
        yield each, inner * math.prod(of[found + 1 :]) if kept and found is not None else None


def _dimension(shape: Shape, stride: int, batch: int) -> tuple[int, int]:
    """The dimension in which samples lie, and how far apart they are in it; ``KeyError`` where it is not one alone."""
    for dim in range(len(shape)):
        below = math.prod(shape[dim + 1 :])
        if below and stride % below == 0 and shape[dim] % (stride // below * batch) == 0:
            return dim, stride // below
    raise KeyError(shape)


def _shape(node: Any, number: int) -> Shape:
    return tuple(int(size) for size in node._input_metadata[number].shape)  # noqa: SLF001  (torch's only way to ask)


def _kind(node: Any) -> str:
    """``Addmm`` of an ``AddmmBackward0``; a user's Function has no number."""
    name: str = node.name()
    return name.rstrip("0123456789").removesuffix("Backward") if name[-1:].isdigit() else ""


def _elementwise(_node: Any, shape: Shape, dim: int, edges: list[Edge]) -> Iterator[int | None]:
    """Shapes are aligned at their ends."""
    return (dim - len(shape) + len(of) for _, of in edges)


def _kept(_node: Any, _shape: Shape, dim: int, edges: list[Edge]) -> list[int | None]:
    """A part of another dimension: one that stays as long as it was is whole."""
    return [dim] * len(edges)


def _rows(*places: int) -> Rule:
    """By rows of these arguments, not by what they are multiplied by."""

    def rule(_node: Any, _shape: Shape, dim: int, edges: list[Edge]) -> Iterator[int | None]:
        return (dim if place in places and dim == 0 else None for place, _ in edges)

    return rule


def _attention(_node: Any, _shape: Shape, dim: int, edges: list[Edge]) -> Iterator[int | None]:
    """Where the dimension lies in query, key and value, if it is one of the first two: batch, heads."""
    return (dim if place < 3 and dim < 2 else None for place, _ in edges)


def _along(node: Any, shape: Shape, dim: int, edges: list[Edge]) -> list[int | None]:
    """Each number by those that are along the op's dimension with it."""
    return [dim if _from_start(node._saved_dim, len(shape)) != dim else None] * len(edges)  # noqa: SLF001


def _reduction(node: Any, _shape: Shape, dim: int, edges: list[Edge]) -> list[int | None]:
    [(_, of)] = edges
    dims = node._saved_dim  # noqa: SLF001
    gone = {_from_start(each, len(of)) for each in ((dims,) if isinstance(dims, int) else dims)}
    left = [each for each in range(len(of)) if each not in gone]
    if node._saved_keepdim:  # noqa: SLF001
        return [dim if dim in left else None]
    return [left[dim] if gone else None]


def _without_dimension(node: Any, shape: Shape, dim: int, edges: list[Edge]) -> list[int | None]:
    """One place along the op's dimension is the result."""
    gone = _from_start(node._saved_dim, len(shape) + 1)  # noqa: SLF001
    return [dim + (dim >= gone)] * len(edges)


def _stack(node: Any, shape: Shape, dim: int, edges: list[Edge]) -> list[int | None]:
    new = _from_start(node._saved_dim, len(shape))  # noqa: SLF001
    return [None if dim == new else dim - (dim > new)] * len(edges)


def _transpose(node: Any, shape: Shape, dim: int, _edges: list[Edge]) -> list[int | None]:
    first, second = (_from_start(each, len(shape)) for each in (node._saved_dim0, node._saved_dim1))  # noqa: SLF001
    return [{first: second, second: first}.get(dim, dim)]


def _permute(node: Any, shape: Shape, dim: int, _edges: list[Edge]) -> list[int | None]:
    return [_from_start(node._saved_dims[dim], len(shape))]  # noqa: SLF001


def _matrix_transpose(_node: Any, shape: Shape, dim: int, _edges: list[Edge]) -> list[int | None]:
    return [len(shape) - 1 - dim]


def _batch_norm(node: Any, _shape: Shape, dim: int, edges: list[Edge]) -> Iterator[int | None]:
    """Not in training, where the whole batch has a part in each number."""
    return (dim if place == 0 and not node._saved_training else None for place, _ in edges)  # noqa: SLF001


def _layer_norm(node: Any, shape: Shape, dim: int, edges: list[Edge]) -> Iterator[int | None]:
    normalized = node._saved_normalized_shape  # noqa: SLF001
    return (dim if place == 0 and dim < len(shape) - len(normalized) else None for place, _ in edges)


def _from_start(dim: int, count: int) -> int:
    """The number of a dimension from the start; it may count from the end, or be that as an unsigned number."""
    dim = dim - (1 << 64) if dim >= 1 << 63 else dim
    return dim % count


_RULES: dict[str, Rule] = {
    **dict.fromkeys(_ELEMENTWISE.split(), _elementwise),
    **dict.fromkeys(_REDUCTIONS.split(), _reduction),
    **dict.fromkeys(_ALONG.split(), _along),
    **dict.fromkeys(_PARTS.split(), _kept),
    **dict.fromkeys(_IMAGES.split(), _rows(0)),
    **dict.fromkeys(_ATTENTION.split(), _attention),
    "Addmm": _rows(1),
    "Baddbmm": _rows(0, 1, 2),
    "Bmm": _rows(0, 1),
    "Mm": _rows(0),
    "NativeBatchNorm": _batch_norm,
    "NativeLayerNorm": _layer_norm,
    "Permute": _permute,
    "Select": _without_dimension,
    "Stack": _stack,
    "T": _matrix_transpose,
    "Transpose": _transpose,
    "Unbind": _without_dimension,
}
