"""Puts the nodes of a module in the place of its call."""

from __future__ import annotations

import inspect
import operator
import sys
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.fx import GraphModule, Node
from torch.fx._symbolic_trace import PH
from torch.fx.node import map_arg

from pyharness.fx.provenance import KEY, of, user_place
from pyharness.fx.tracing.leaves import ModuleRules, is_leaf
from pyharness.fx.tracing.tags import FIELD, inherit, tags_of
from pyharness.fx.tracing.tracer import Tracer
from pyharness.fx.transforms.registry import TransformError, transform
from pyharness.model.errors import UsageError, nearest

if TYPE_CHECKING:
    from torch.fx import Graph

    from pyharness.fx.tracing.leaves import Given

_HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


@transform("inline")
def inline(module: GraphModule, where: Given, *, leaves: Given = ()) -> None:
    """Put the nodes of every submodule that ``where`` names in the place of its call, and of those that come with them.

    A GraphModule gives its own nodes; another module is traced with what it is called with here: what is a node is
    symbolic, and ``None``, numbers and flags decide branches as they would in the call. Its mode (training or not) is
    fixed by that, as in every trace. Parameters and buffers keep their path (``block.weight``), and are shared.

    Args:
        module: the graph, with ``call_module`` nodes.
        where: rules as for ``Tracer(leaves=...)``: a class, a path or a pattern of paths, a predicate, a module.
        leaves: modules that stay whole, wherever they are; the closer rule wins, as in ``Tracer``.

    Raises ``UsageError`` where nothing is called that ``where`` names, ``TransformError`` for a module with hooks,
    which would not run any more, ``CannotTraceError`` for one that cannot be traced.

    """
    wanted, kept = ModuleRules.of(where), ModuleRules.of(leaves)
    kept.check_paths(module)
    calls = _calls(module, wanted, kept)
    if not calls:
        raise _nothing(module, wanted)
    while calls:  # what is inlined may call what is to be inlined
        for node in calls:
            _inline_call(module, node, kept)
        calls = _calls(module, wanted, kept)


def _calls(module: GraphModule, wanted: ModuleRules, kept: ModuleRules) -> list[Node]:
    calls = [(node, str(node.target)) for node in module.graph.nodes if node.op == "call_module"]
    return [node for node, path in calls if is_leaf(kept, wanted, module.get_submodule(path), path) is False]


def _nothing(module: GraphModule, wanted: ModuleRules) -> UsageError:
    called = [str(node.target) for node in module.graph.nodes if node.op == "call_module"]
    said = ", ".join(str(getattr(rule, "__name__", rule)) for rule in wanted.rules)
    remedy = nearest(said, called) or f"It calls {', '.join(called) or 'no modules'}."
    return UsageError(f"The graph calls no module {said!r}.", remedy)


def _inline_call(module: GraphModule, call: Node, kept: ModuleRules) -> None:
    path = str(call.target)
    called = module.get_submodule(path)
    if any(not _only_checks(hook) for name in _HOOKS for hook in (getattr(called, name, None) or {}).values()):
        raise TransformError(
            f"{path} (node {call.name}) has hooks, which would not run any more.", "Remove the hooks first."
        )
    if isinstance(called, GraphModule):
        result = _copy_graph(called.graph, _bound(called, call), path, call)
    else:
        traced = _traced(module, call, kept)
        inputs = [node for node in traced.nodes if node.op == "placeholder"]
        result = _copy_graph(traced, dict(zip(inputs, call.all_input_nodes, strict=True)), "", call)
    _replace(call, result)


# --- a GraphModule ----------------------------------------------------------------------------------------------------


def _bound(called: GraphModule, call: Node) -> dict[Node, Any]:
    """What each input of the inner graph is in this call."""
    inputs = [node for node in called.graph.nodes if node.op == "placeholder"]
    try:
        bound = inspect.signature(called.forward).bind(*call.args, **call.kwargs)
        bound.apply_defaults()
        values = called.graph.process_inputs(*bound.arguments.values())  # flat, where the graph has packed inputs
        return dict(zip(inputs, values, strict=True))
    except (TypeError, ValueError) as error:
        raise TransformError(
            f"{call.name} does not call {call.target} as it is defined: {error}.", "Leave that call out."
        ) from error


def _only_checks(hook: Any) -> bool:
    """An exported program's hook looks at its inputs and changes nothing."""
    return str(getattr(hook, "__module__", "")).startswith("torch.export.")


# --- another module ---------------------------------------------------------------------------------------------------


class _Caller(nn.Module):
    """Has the submodules of the graph's module, under their paths, and makes one call."""

    def __init__(self, module: GraphModule, call: Node) -> None:
        super().__init__()
        self.__dict__ = dict(vars(module))
        self.__dict__["_call"] = call

    def forward(self, values: list[Any]) -> Any:
        call: Node = vars(self)["_call"]
        known = dict(zip(call.all_input_nodes, values, strict=True))
        called = self.get_submodule(str(call.target))
        return called(*map_arg(call.args, known.__getitem__), **map_arg(call.kwargs, known.__getitem__))


def _traced(module: GraphModule, call: Node, kept: ModuleRules) -> Graph:
    """The call's graph: its inputs are the nodes that it is called with, its attributes those of ``module``."""
    called = module.get_submodule(str(call.target))
    tracer = Tracer(leaves=lambda each, path: kept.rank(each, path) is not None, inline=called)
    caller = _Caller(module, call)
    graph = tracer.trace(caller, {"values": [PH] * len(call.all_input_nodes)})
    outside = user_place(sys._getframe())  # noqa: SLF001
    for node in graph.nodes:
        if node.op == "get_attr":
            _adopt(module, caller, str(node.target))
        found = of(node)
        if (found.file, found.line) == outside:  # no line of the user's made it: the line that made the call did
            node.meta[KEY] = (found.module, *of(call)[1:])
    return graph


def _adopt(module: GraphModule, caller: nn.Module, name: str) -> None:
    """Take over a constant that tracing found."""
    if "." not in name and not hasattr(module, name):
        value = getattr(caller, name)
        if isinstance(value, torch.Tensor):
            module.register_buffer(name, value, persistent=False)
        else:
            setattr(module, name, value)


# --- both -------------------------------------------------------------------------------------------------------------


def _copy_graph(inner: Graph, known: dict[Node, Any], path: str, call: Node) -> Any:
    """Copy the nodes of ``inner`` before ``call``; what it returns, as a structure of nodes."""
    *nodes, output = inner.nodes
    with call.graph.inserting_before(call):
        for node in nodes:
            if node not in known:
                known[node] = copied = call.graph.node_copy(node, known.__getitem__)
                _place_below(copied, path, call)
    return inner.process_outputs(map_arg(output.args[0], known.__getitem__))


def _place_below(copied: Node, path: str, call: Node) -> None:
    """A node of the module at ``path``: its attributes and its provenance are seen from the root."""
    if path and copied.op in {"get_attr", "call_module"}:
        copied.target = f"{path}.{copied.target}"
    own = copied.meta.get(KEY)
    if own is None:
        inherit(copied, call)
        return
    module = ".".join(part for part in (path, own[0]) if part)
    copied.meta[KEY] = (module, *own[1:])
    copied.meta[FIELD] = {**tags_of(call), **tags_of(copied), KEY: copied.meta[KEY]}


def _replace(call: Node, result: Any) -> None:
    """Let everyone who used ``call`` use ``result``: an item of a tuple, a list or a dict is that item's own node."""
    for user in list(call.users):
        if not isinstance(result, Node) and _is_item(user, call):
            _replace(user, result[user.args[1]])
        else:
            user.args = map_arg(user.args, lambda node: result if node is call else node)
            user.kwargs = map_arg(user.kwargs, lambda node: result if node is call else node)
    call.graph.erase_node(call)


def _is_item(user: Node, call: Node) -> bool:
    return user.target is operator.getitem and user.args[0] is call and not isinstance(user.args[1], Node)
