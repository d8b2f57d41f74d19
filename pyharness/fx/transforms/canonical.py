"""One way to write each call: ``torch.relu(x)``, ``x.relu()``, ``F.relu(x)`` and ``nn.ReLU()(x)`` become the same.

Only copies of graphs are written so, to be compared; each of their nodes stands for one node of the original.
"""

from __future__ import annotations

import inspect
import operator
from typing import TYPE_CHECKING, Any

import torch
from torch._ops import OpOverload, OpOverloadPacket
from torch.fx import Graph, GraphModule, Node

from pyharness.fx.code.mapping import target_of
from pyharness.fx.tracing.tracer import CannotTraceError, Tracer

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import nn

_OPERATORS: dict[Any, Callable[..., Any]] = {
    operator.add: torch.add,
    operator.sub: torch.sub,
    operator.mul: torch.mul,
    operator.truediv: torch.div,
    operator.pow: torch.pow,
    operator.neg: torch.neg,
    operator.matmul: torch.matmul,
}
_IN_PLACE = {f"operator.i{name}" for name in ("add", "sub", "mul", "truediv", "floordiv", "pow", "matmul", "mod")}
_DROPPED = {"inplace": False, "_stacklevel": 3}
"""Arguments of torch.nn.functional that its functions ignore where they have these values."""


def canonical(module: GraphModule) -> dict[Node, Node]:
    """A copy of the graph with every call written in one way: the copied nodes, in order, each with its original."""
    graph = Graph(module)
    known: dict[Node, Node] = {}
    for node in module.graph.nodes:
        known[node] = copied = graph.node_copy(node, known.__getitem__)
        _rewrite(copied, module)
    return {copied: node for node, copied in known.items()}


def is_in_place(node: Node) -> bool:
    """Whether ``node`` changes its first argument: ``x.add_(1)``, ``x += 1``, ``relu(x, inplace=True)``."""
    name = target_of(node).removeprefix("torch.ops.").split(".")
    last = name[1] if len(name) == 3 else name[-1]
    named = (last.endswith("_") and not last.endswith("__")) or target_of(node) in _IN_PLACE
    return node.op in {"call_function", "call_method"} and (named or node.kwargs.get("inplace") is True)


def _rewrite(node: Node, module: GraphModule) -> None:
    if node.op == "call_module":
        _lower(node, module.get_submodule(str(node.target)))
    if node.op == "call_method" and callable(getattr(torch, str(node.target), None)):
        node.op, node.target = "call_function", getattr(torch, str(node.target))
    if node.op == "call_function":
        node.target = _function(node.target)
        node.kwargs = {name: value for name, value in node.kwargs.items() if _DROPPED.get(name, ...) != value}
        _name_arguments(node)


def _lower(node: Node, called: nn.Module) -> None:
    """A module of torch's without parameters that is one call becomes that call."""
    has_state = any(True for _ in (*called.parameters(), *called.buffers(), *called.children()))
    if has_state or not type(called).__module__.startswith("torch.nn."):
        return
    try:
        nodes = list(Tracer(inline=called).trace(torch.nn.Sequential(called)).nodes)
    except (CannotTraceError, TypeError):
        return
    if len(nodes) == 3 and nodes[1].op in {"call_function", "call_method"} and len(node.args) == 1:
        argument = node.args[0]
        node.op, node.target = nodes[1].op, nodes[1].target
        node.args = torch.fx.node.map_arg(nodes[1].args, lambda _: argument)
        node.kwargs = dict(nodes[1].kwargs)


def _function(target: Any) -> Any:
    if isinstance(target, OpOverloadPacket) and hasattr(target, "default"):
        target = target.default
    if isinstance(target, OpOverload):
        packet = target.overloadpacket
        home = str(packet).partition(".")[0]
        return getattr(torch, packet.__name__, target) if home == "aten" else target
    if getattr(target, "__module__", None) in {"torch.nn.functional", "torch._C._nn"}:
        return getattr(torch, target.__name__, target)
    return _OPERATORS.get(target, target)


def _name_arguments(node: Node) -> None:
    """All arguments by name, without those that have their default."""
    names = _python_names(node) or _schema_names(node)
    if names is not None:
        node.args, node.kwargs = (), {name: names[name] for name in sorted(names)}


def _python_names(node: Node) -> dict[str, Any] | None:
    if not inspect.isfunction(node.target):
        return None
    try:
        signature = inspect.signature(node.target)
        bound = signature.bind(*node.args, **node.kwargs).arguments
    except (TypeError, ValueError):
        return None
    if any(each.kind in {each.VAR_POSITIONAL, each.VAR_KEYWORD} for each in signature.parameters.values()):
        return None
    default = {name: each.default for name, each in signature.parameters.items()}
    return {name: value for name, value in bound.items() if isinstance(value, Node) or value is not default[name]}


def _schema_names(node: Node) -> dict[str, Any] | None:
    """By the first overload of the op of that name that takes these arguments, whatever their types."""
    packet = getattr(torch.ops.aten, getattr(node.target, "__name__", ""), None)
    if packet is None or getattr(torch, packet.__name__, None) is not node.target:
        return None
    for overload in packet.overloads():
        found = _bound(getattr(packet, overload)._schema.arguments, node)  # noqa: SLF001  (torch's own matcher reads it)
        if found is not None:
            return found
    return None


def _bound(arguments: list[Any], node: Node) -> dict[str, Any] | None:
    positional = [each for each in arguments if not each.kwarg_only]
    given = {
        "self" if name == "input" and arguments[0].name == "self" else name: each for name, each in node.kwargs.items()
    }
    if len(node.args) > len(positional) or any(each.is_out for each in arguments):
        return None
    found = dict(zip((each.name for each in positional), node.args, strict=False)) | given
    known = {each.name: each for each in arguments}
    required = {each.name for each in arguments if not each.has_default_value()}
    if not required <= set(found) <= set(known) or len(found) != len(node.args) + len(given):
        return None
    listed = {name: _listed(known[name], value) for name, value in found.items()}
    return {name: value for name, value in listed.items() if not _is_default(known[name], value)}


def _listed(argument: Any, value: Any) -> Any:
    """``dim=-1`` where the op takes a list of dimensions."""
    return [value] if isinstance(value, int) and "List[int]" in str(argument.type) else value


def _is_default(argument: Any, value: Any) -> bool:
    if isinstance(value, Node) or not argument.has_default_value():
        return False
    return type(value) is type(argument.default_value) and bool(value == argument.default_value)
