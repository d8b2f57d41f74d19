"""Looks at values while a graph runs: calls a function before a node, or stops a debugger there."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from torch import nn
from torch.fx import GraphModule, Node, Proxy
from torch.fx.node import map_aggregate

from pyharness.fx import provenance
from pyharness.fx.tracing.tags import inherit
from pyharness.fx.transforms.nodes import nodes_at
from pyharness.fx.transforms.registry import transform
from pyharness.fx.transforms.stopping import stop_in_caller
from pyharness.model.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pyharness.fx.transforms.nodes import Where

_INPUTS = frozenset({"placeholder", "get_attr"})


@dataclass(frozen=True)
class Probed:
    """What a probe saw: the arguments of a node that is about to run."""

    node: str
    module: str
    """Path of the module that made the node; empty for the root."""
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any] = field(default_factory=dict)

    @property
    def value(self) -> Any:
        """The first argument: what flows into the node."""
        return next(iter((*self.args, *self.kwargs.values())), None)


class Probe(nn.Module):
    """Stands in a graph before a node and is called with its arguments; dead-code elimination leaves it alone."""

    _is_impure = True  # what torch asks a module

    def __init__(self, node: str, module: str, callback: Callable[[Probed], object]) -> None:
        super().__init__()
        self.node = node
        self.module = module
        self.callback = callback

    def forward(self, *args: Any, **kwargs: Any) -> None:
        """Call the callback; while a graph is traced, become a node of it instead."""
        proxy = _proxy((args, kwargs))
        if proxy is None:
            self.callback(Probed(self.node, self.module, args, kwargs))
        else:
            tracer: Any = proxy.tracer
            tracer.create_proxy("call_module", tracer.path_of_module(self), args, kwargs)

    def extra_repr(self) -> str:
        """For ``print(module)``."""
        return f"before {self.node}"


class Breakpoint(Probe):
    """Stops the debugger that is there on the line of the node."""

    def forward(self, *args: Any, **kwargs: Any) -> None:
        """Stop in the frame of the generated code, where the condition holds."""
        if _proxy((args, kwargs)) is not None:
            super().forward(*args, **kwargs)
        elif self.callback(Probed(self.node, self.module, args, kwargs)):
            stop_in_caller()


@transform("probe")
def probe(module: GraphModule, where: Where, callback: Callable[[Probed], object]) -> None:
    """Call ``callback`` with what flows into a node, each time before the node runs.

    The call is a ``call_module`` node of its own (``probe_relu``): it is seen in the code, is copied with the graph,
    and is pickled where the callback can be. Before an input it stands behind the last input, before the output it
    sees what is returned.

    Args:
        module: the graph.
        where: a node's name, or the path of the module that made it, ``*`` and ``?`` for any; a node; or a function of
            a node. A path means the first node that the module made itself.
        callback: gets a ``Probed``; what it returns is not used. An exception goes through to the caller.

    Raises ``UsageError`` where there is no such node.

    """
    _insert(module, where, callback, Probe, "probe")


@transform("breakpoint")
def breakpoint_before(module: GraphModule, where: Where, condition: Callable[[Probed], object] | None = None) -> None:
    """Stop the debugger on the generated line of a node, before it runs; only where ``condition`` holds, if given.

    That debugger is whatever ``breakpoint()`` means in the program: debugpy where an IDE or the harness runs it, else
    pdb; ``PYTHONBREAKPOINT`` is obeyed. ``materialize`` the result to see a real file there.
    """
    _insert(module, where, condition or _always, Breakpoint, "breakpoint")


def _always(_probed: Probed) -> bool:
    return True


def _insert(module: GraphModule, where: Where, callback: Any, kind: type[Probe], name: str) -> None:
    if not callable(callback):
        raise UsageError(f"{callback!r} cannot be called.", "Give a function of one argument, a Probed.")
    for node in nodes_at(module.graph, where):
        path = provenance.of(node).module or ""
        target = f"{name}_{node.name}"
        while hasattr(module, target):
            target += "_"
        module.add_submodule(target, kind(node.name, path, callback))
        args, kwargs = ((node,), {}) if node.op in _INPUTS else (node.args, node.kwargs)
        with module.graph.inserting_before(_place(node)):
            inherit(module.graph.call_module(target, args, kwargs), node)


def _place(node: Node) -> Node:
    """``node``, but inputs stay together at the head; one is seen behind all of them."""
    if node.op == "get_attr":
        return node.next
    while node.op == "placeholder":
        node = node.next
    return node


def _proxy(arguments: Any) -> Proxy | None:
    found: list[Proxy] = []
    map_aggregate(arguments, lambda each: found.append(each) if isinstance(each, Proxy) else None)
    return found[0] if found else None
