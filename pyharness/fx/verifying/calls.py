"""Runs whole modules on copies of the inputs, and says what came out and what was changed."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import torch
from torch.fx import GraphModule
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils import _pytree as pytree

from pyharness.fx.tracing.tracer import Tracer
from pyharness.fx.verifying.differences import differences, is_same
from pyharness.fx.verifying.values import Leaf, copied, leaves, mapped, snapshot, tensors
from pyharness.model.errors import UsageError
from pyharness.model.results.verdict import Difference

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from torch.fx import Graph, Node

    from pyharness.fx.verifying.differences import Tolerance


@dataclass(frozen=True)
class Outcome:
    """What one call gave, and what it left behind."""

    result: tuple[Leaf, ...]
    inputs: tuple[Leaf, ...]
    state: Mapping[str, torch.Tensor]
    """Parameters and buffers that it changed, by name."""
    names: Collection[str]
    """The names of all parameters and buffers."""
    error: Exception | None = None


def outcome(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any], names: Mapping[str, torch.Tensor]
) -> Outcome:
    """Call ``function`` on copies; ``names`` are its parameters and buffers."""
    args, kwargs = copied((args, dict(kwargs)))
    before = {name: tensor.detach().clone() for name, tensor in names.items()}
    result, error = None, None
    try:
        if isinstance(function, GraphModule):  # its own __call__ prints a traceback first
            result = torch.nn.Module.__call__(function, *args, **kwargs)
        else:
            result = function(*args, **kwargs)
    except Exception as raised:  # noqa: BLE001  (the user's code)
        error = raised
    changed = {name: tensor.detach().clone() for name, tensor in names.items() if not is_same(before[name], tensor)}
    return Outcome(snapshot(result), snapshot((args, dict(kwargs))), changed, names.keys(), error)


def compared(expected: Outcome, actual: Outcome, tolerance: Tolerance) -> Iterator[Difference]:
    """What differs between two calls: results, inputs changed in place, parameters and buffers changed."""
    if actual.error is not None:
        yield Difference("", "error", f"it raises {described(actual.error)}")
        return
    yield from differences(expected.result, actual.result, tolerance)
    for found in differences(expected.inputs, actual.inputs, tolerance):
        yield replace(found, path=f"inputs{found.path}", symptom="state", message=f"after the call, {found.message}")
    for name in dict.fromkeys((*expected.state, *actual.state)):
        if name in expected.names and name in actual.names:
            yield from _of_state(name, expected.state.get(name), actual.state.get(name), tolerance)


def _of_state(
    name: str, one: torch.Tensor | None, other: torch.Tensor | None, tolerance: Tolerance
) -> Iterator[Difference]:
    if one is None or other is None:
        yield Difference(name, "state", f"{name} is {'not ' if other is None else ''}changed by the call")
        return
    for found in differences((Leaf("", one),), (Leaf("", other),), tolerance):
        yield replace(found, path=name, symptom="state", message=f"after the call, {found.message}")


def described(error: Exception) -> str:
    """Type and first line of an error."""
    text = str(error).strip().split("\n")[0]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def tensors_of(function: Any) -> dict[str, torch.Tensor]:
    """Parameters and buffers by name; none where it is no module."""
    if not isinstance(function, torch.nn.Module):
        return {}
    return {**dict(function.named_parameters()), **dict(function.named_buffers())}


def graph_module(function: Any, leaves_of: Collection[str] | None = None) -> GraphModule:
    """``function`` itself where it is a GraphModule, otherwise traced.

    ``leaves_of`` are module paths that stay calls; every other module is traced into, a GraphModule too.
    """
    if isinstance(function, GraphModule) and leaves_of is None:
        return function
    tracer = Tracer() if leaves_of is None else _Into(leaves_of)
    graph = tracer.trace(function)
    root = function if isinstance(function, torch.nn.Module) else torch.nn.Module()
    return GraphModule(root, graph, type(function).__name__)


def observed(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> GraphModule:
    """The ATen ops that ``function`` runs for these very inputs, for one that cannot be traced with symbolic ones.

    It takes the tensors among the inputs one by one.
    """

    def flat_call(*given: torch.Tensor) -> Any:
        rest = iter(given)
        here, named = mapped((args, dict(kwargs)), lambda leaf: next(rest) if isinstance(leaf, torch.Tensor) else leaf)
        return [leaf.value for leaf in leaves(function(*here, **named)) if isinstance(leaf.value, torch.Tensor)]

    module: GraphModule = make_fx(flat_call, pre_dispatch=True, _error_on_data_dependent_ops=False)(
        *tensors((args, dict(kwargs)))
    )
    module.meta[_FLAT] = True
    return module


def is_observed(module: GraphModule) -> bool:
    """Whether ``observed`` made it."""
    return bool(module.meta.get(_FLAT))


_FLAT = "pyharness takes and gives the tensors one by one"


class _Into(Tracer):
    """Keeps those modules whole whose paths are given, and no other."""

    def __init__(self, paths: Collection[str]) -> None:
        super().__init__()
        self._paths = paths

    def is_leaf_module(self, m: torch.nn.Module, module_qualified_name: str) -> bool:
        del m
        return module_qualified_name in self._paths


def bound(module: GraphModule, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[Node, Any]:
    """The value of each placeholder when ``module`` is called so; ``UsageError`` where it cannot be."""
    inputs = [node for node in module.graph.nodes if node.op == "placeholder"]
    if module.meta.get(_FLAT):
        return dict(zip(inputs, tensors((args, dict(kwargs))), strict=True))
    if has_pytree(module.graph):
        values = pytree.tree_leaves((args, dict(kwargs))) if kwargs else module.graph.process_inputs(*args)
        if len(values) != len(inputs):
            raise UsageError(
                f"The graph takes {len(inputs)} values, not {len(values)}.", "Give one for each placeholder."
            )
        return dict(zip(inputs, values, strict=True))
    try:
        call = inspect.signature(module.forward).bind(*args, **kwargs)
    except TypeError as error:
        raise UsageError(
            f"The graph cannot be called with these inputs: {error}.", "Give what its forward takes."
        ) from error
    call.apply_defaults()
    return {node: call.arguments[str(node.target).lstrip("*")] for node in inputs}


def has_pytree(graph: Graph) -> bool:
    """Whether the graph takes and gives flat lists, which its generated code packs and unpacks."""
    return getattr(graph._codegen, "pytree_info", None) is not None  # noqa: SLF001


def flat(found: Sequence[Leaf]) -> tuple[Leaf, ...]:
    """The leaves by their number alone, for a result that one graph nests and another does not."""
    return tuple(Leaf(f"[{index}]", leaf.value) for index, leaf in enumerate(found))
