"""Which graph node each loop of inductor's is made for, and whose part of a fused loop runs while it is traced.

A graph node is lowered to a ``Loops`` object with a function that computes one element. Fusion calls the function of
one object within that of another. So each function is wrapped when its object is made, and the innermost that runs
names the node.
"""

from __future__ import annotations

import functools
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pyharness.fx.inductor.private import replaced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from torch.fx import Node

    from pyharness.fx.inductor.private import Private

_MAKER = "pyharness_maker"
"""The attribute of a ``Loops`` object, and of a buffer that another kernel fills."""
_CHANGED = "pyharness_changed"
"""The attribute of a buffer: the node that changes it."""
_STORES = ("store_output", "store_reduction")


@dataclass(eq=False)
class Maker:
    """For whom a loop is: one graph node, and those whose whole value it computes."""

    node: Node
    elementwise: bool
    """Whether its function computes an element of its result, not one to be reduced."""
    whole: list[str] = field(default_factory=list)


class Running(threading.local):
    """What runs in this thread: nodes that are lowered, and the loops whose functions are traced."""

    def __init__(self) -> None:
        self.lowered: list[Node] = []
        self.makers: list[Maker] = []


class Lowering:
    """Follows the lowering of graphs."""

    def __init__(self, private: Private, computed: Callable[[Any, Maker, Sequence[Any]], None]) -> None:
        self.running = Running()
        self._private = private
        self._computed = computed

    def install(self) -> None:
        """Wrap the functions of torch's that lower nodes and make loops."""
        private = self._private
        replaced(private.graph.GraphLowering, "run_node", self._run_node)
        replaced(private.graph.GraphLowering, "call_function", self._call_function)
        replaced(private.graph.GraphLowering, "mark_buffer_mutated", self._mutated)
        replaced(private.ir.Loops, "__post_init__", self._made)
        replaced(private.ir.Buffer, "__post_init__", self._buffer)
        for cls in (private.ir.Loops, *_below(private.ir.Loops)):
            for name in _STORES:
                if name in vars(cls):
                    replaced(cls, name, self._stored)

    @staticmethod
    def maker_of(loops: Any) -> Maker | None:
        """For whom ``loops`` was made; a buffer's is that of its loop, if it has one."""
        found: Maker | None = getattr(getattr(loops, "data", None), _MAKER, None) or getattr(loops, _MAKER, None)
        return found

    def _run_node(self, original: Callable[..., Any], graph: Any, node: Node) -> Any:
        """The result may be a copy with other strides, which torch makes beside the one that the lowering made."""
        self.running.lowered.append(node)
        try:
            result = original(graph, node)
            if node.op == "call_function":
                self._claim(result)
        finally:
            self.running.lowered.pop()
        return result

    def _call_function(self, original: Callable[..., Any], graph: Any, *args: Any) -> Any:
        result = original(graph, *args)
        if self.running.lowered:
            self._claim(result)
        return result

    def _claim(self, result: Any) -> None:
        """Note that a loop or a buffer is the whole value of the node that is lowered."""
        node = self.running.lowered[-1]
        value = self._unboxed(result)
        maker = self.maker_of(value)
        changed_by_itself = getattr(value, _CHANGED, None) is node
        if maker is not None and node.name not in maker.whole and not changed_by_itself:
            maker.whole.append(node.name)

    def _mutated(self, original: Callable[..., Any], graph: Any, name: str) -> Any:
        """A buffer gets other values than those of the loop that it was made by."""
        buffer = graph.name_to_buffer.get(name)
        if buffer is not None and self.running.lowered:
            object.__setattr__(buffer, _CHANGED, self.running.lowered[-1])
        return original(graph, name)

    def _unboxed(self, result: Any) -> Any:
        """The loop or buffer that is the very value of a node; ``None`` behind a view, whose indices are others."""
        while isinstance(result, self._private.ir.MutableBox):
            result = result.data
        return None if isinstance(result, self._private.ir.BaseView) else result

    def _made(self, original: Callable[..., Any], loops: Any) -> None:
        original(loops)
        if not self.running.lowered:
            return
        ir = self._private.ir  # what scatters computes an element of what it scatters
        elementwise = isinstance(loops, ir.Pointwise) and not isinstance(loops, ir.Scatter)
        maker = Maker(self.running.lowered[-1], elementwise)
        object.__setattr__(loops, _MAKER, maker)
        object.__setattr__(loops, "inner_fn", self._tagged(loops.inner_fn, maker))
        if inner := getattr(loops, "inner_fns", None):
            object.__setattr__(loops, "inner_fns", tuple(self._tagged(each, maker) for each in inner))

    def _buffer(self, original: Callable[..., Any], buffer: Any) -> None:
        original(buffer)
        if self.running.lowered:
            object.__setattr__(buffer, _MAKER, Maker(self.running.lowered[-1], elementwise=False))

    def _stored(self, original: Callable[..., Any], loops: Any, *args: Any, **named: Any) -> Any:
        maker = self.maker_of(loops)
        if maker is None:
            return original(loops, *args, **named)
        with self._within(maker):
            return original(loops, *args, **named)

    def _tagged(self, function: Callable[..., Any], maker: Maker) -> Callable[..., Any]:
        @functools.wraps(function)
        def element(*index: Any, **named: Any) -> Any:
            with self._within(maker):
                result = function(*index, **named)
            if maker.elementwise and index:
                self._computed(result, maker, index[0])
            return result

        return element

    @contextmanager
    def _within(self, maker: Maker) -> Iterator[None]:
        self.running.makers.append(maker)
        try:
            yield
        finally:
            self.running.makers.pop()


def _below(cls: Any) -> Iterator[Any]:
    for each in cls.__subclasses__():
        yield each
        yield from _below(each)
