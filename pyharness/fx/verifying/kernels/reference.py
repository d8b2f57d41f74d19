"""What nodes of a graph are for values that are given: in their own dtypes, without rounding, and rounded at random.

Within a loop inductor rounds less than eager mode does, and it adds in another order. So a number of a kernel's is
held against three kinds of runs: eager mode's, one in float64 that rounds nothing, and some that round each result at
random as its dtype could. How far these are apart is how much rounding alone can do.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import torch
from torch.fx.node import map_arg

from pyharness.fx.verifying.values import copied, mapped, storage_of, tensors

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torch.fx import GraphModule, Node

_CONVERSIONS = {"convert_element_type", "_to_copy", "to"}
_OF_BITS = {"view_element_type", "bitcast", "_fused_dropout"}
SAMPLES = 3
"""Runs that round at random."""


class UnknownError(Exception):
    """The value of a node cannot be told: it depends on random numbers that a kernel drew."""


def dtype_of(node: Node) -> torch.dtype | None:
    """The dtype of a node's tensor; ``None`` where it is none."""
    value = node.meta.get("val")
    return value.dtype if isinstance(value, torch.Tensor) else None


def name_of(target: Any) -> str:
    """``mul`` of ``aten.mul.Tensor``."""
    if isinstance(target, torch._ops.OpOverload):  # noqa: SLF001
        return str(target.overloadpacket.__name__)
    return str(getattr(target, "__name__", target))


def is_random(node: Node) -> bool:
    """Whether it draws random numbers, or gives what was in memory."""
    tags = getattr(node.target, "tags", ())
    return torch.Tag.nondeterministic_seeded in tags or name_of(node.target).startswith("empty")


class Run:
    """Nodes as they are for values that are known; each is computed once, and only if it is asked for."""

    def __init__(self, module: GraphModule, known: Mapping[Node, Any]) -> None:
        self._module = module
        self._values: dict[Node, Any] = {}
        self._known = known
        self._asked: dict[Node, Any] = {}

    def of(self, node: Node) -> Any:
        """The value of a node, computed from its inputs even where it is known itself."""
        for each in self._needed(node):
            self._values[each] = self._taken(self._known[each], each) if each in self._known else self._computed(each)
        self._asked[node] = self._computed(node)
        return self._asked[node]

    def computed(self) -> dict[Node, Any]:
        """What has been computed so far, asked for or on the way to others."""
        values = {node: value for node, value in self._values.items() if node not in self._known}
        return {**values, **self._asked}

    def given(self, node: Node) -> Any:
        """What ``node`` is where others are computed from it."""
        return self._taken(self._known[node], node) if node in self._known else self.of(node)

    def _needed(self, wanted: Node) -> list[Node]:
        """What is computed from, in the order of the graph, up to what is known."""
        found: set[Node] = set()
        open_nodes = list(wanted.all_input_nodes)
        while open_nodes:
            node = open_nodes.pop()
            if node not in found and node not in self._values:
                found.add(node)
                if node not in self._known:
                    open_nodes.extend(node.all_input_nodes)
        return [node for node in self._module.graph.nodes if node in found]

    def _computed(self, node: Node) -> Any:
        if node.op == "get_attr":
            return self._taken(operator.attrgetter(str(node.target))(self._module), node)
        if node.op != "call_function" or is_random(node):
            raise UnknownError(node.name)
        args, named = map_arg((node.args, node.kwargs), self._values.__getitem__)
        schema = getattr(node.target, "_schema", None)
        if getattr(schema, "is_mutable", False):
            args, named = copied((args, named))
        return self._called(node, args, named)

    def _called(self, node: Node, args: Any, named: Any) -> Any:
        target: Any = node.target
        return target(*args, **named)

    def _taken(self, value: Any, node: Node) -> Any:
        """A known value as it is here; a number that a loop has not rounded is, as eager mode would."""
        dtype = dtype_of(node)
        if isinstance(value, torch.Tensor) and dtype is not None and value.dtype != dtype:
            return value.to(dtype)
        return value


class Wide(Run):
    """In float64, without what rounds."""

    def _called(self, node: Node, args: Any, named: Any) -> Any:
        name = name_of(node.target)
        if name in _CONVERSIONS and args and _is_float(args[0]) and _is_float_type(dtype_of(node)):
            return args[0]
        if name in _OF_BITS or str(node.target).endswith("view.dtype"):
            return self._narrow(node, args, named)
        try:
            result = super()._called(node, args, named)
        except (RuntimeError, TypeError, NotImplementedError):  # one that is not for float64
            return self._narrow(node, args, named)
        return mapped(result, _widened)

    def _narrow(self, node: Node, args: Any, named: Any) -> Any:
        """Once in the dtypes that the graph has."""
        narrow = {each: super(Wide, self)._taken(self._values[each], each) for each in node.all_input_nodes}
        args, named = map_arg((node.args, node.kwargs), narrow.__getitem__)
        return mapped(super()._called(node, args, named), _widened)

    def _taken(self, value: Any, node: Node) -> Any:
        del node
        return mapped(value, _widened)


class Rounded(Wide):
    """In float64, each result off by as much as rounding it to the node's dtype could be, at random.

    What is computed of many numbers, a sum for one, is computed of numbers that are off so, too: it rounds on its way.
    """

    def __init__(self, module: GraphModule, known: Mapping[Node, Any], seed: int) -> None:
        super().__init__(module, known)
        self._numbers = torch.Generator().manual_seed(seed)

    def _called(self, node: Node, args: Any, named: Any) -> Any:
        dtype = dtype_of(node)
        if not _is_float_type(dtype):
            return super()._called(node, args, named)
        eps = torch.finfo(dtype).eps  # type: ignore[arg-type]
        if torch.Tag.pointwise not in getattr(node.target, "tags", ()):
            args, named = mapped((args, named), lambda leaf: self._off(leaf, eps))
        result = super()._called(node, args, named)
        given = {storage_of(each) for each in tensors((args, named))}
        return result if not isinstance(result, torch.Tensor) or storage_of(result) in given else self._off(result, eps)

    def _off(self, value: Any, eps: float) -> Any:
        if not _is_float(value):
            return value
        return value * (1 + eps * (torch.rand(value.shape, generator=self._numbers, dtype=value.dtype) * 2 - 1))


def _is_float(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.is_floating_point()


def _is_float_type(dtype: torch.dtype | None) -> bool:
    return dtype is not None and dtype.is_floating_point


def _widened(leaf: Any) -> Any:
    return leaf.double() if _is_float(leaf) else leaf
