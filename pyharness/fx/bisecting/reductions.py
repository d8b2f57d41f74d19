"""Ways to make a graph smaller; each gives a new case, and leaves the old one as it is."""

from __future__ import annotations

import operator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch
from torch.fx import Graph

from pyharness.fx.bisecting.cases import Case, computes, with_graph
from pyharness.fx.bisecting.checks import copied

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

    from torch.fx import Node

_IN_PLACE = {getattr(operator, name) for name in dir(operator) if name.startswith("i") and name[1:] in dir(operator)}


def end_after(case: Case, last: str) -> Case:
    """The graph up to the node ``last``; its outputs are what the rest would have used."""
    graph, nodes = _copy(case)
    position = {node: index for index, node in enumerate(graph.nodes)}
    end = position[nodes[last]]
    ends = [
        node
        for node in graph.nodes
        if node.op != "placeholder"
        and position[node] <= end
        and (node.name == last or any(position[user] > end for user in node.users))
    ]
    return _finish(case, _with_output(graph, ends))


def only_output(case: Case, names: Sequence[str]) -> Case:
    """The graph with these nodes as its outputs, and what they need."""
    graph, nodes = _copy(case)
    return _finish(case, _with_output(graph, [nodes[name] for name in names]))


def feed(case: Case, names: Container[str]) -> Case:
    """The graph with the nodes of these names replaced by inputs, or constants, of the values that they had."""
    graph, nodes = _copy(case)
    inputs = dict(case.inputs)
    constants: dict[str, torch.Tensor] = {}
    first = next(iter(graph.nodes))
    for node in [node for node in nodes.values() if node.name in names and node.name in case.seen]:
        value = copied(case.seen[node.name])
        if inputs:
            inputs[node.name] = value
            node.op, node.target = "placeholder", node.name
        elif isinstance(value, torch.Tensor):
            constants[f"_value_of_{node.name}"] = value
            node.op, node.target = "get_attr", f"_value_of_{node.name}"
        else:
            continue
        node.args, node.kwargs = (), {}
        if node is not first:
            first.prepend(node)
    return _finish(case, graph, inputs, constants)


def bypass(case: Case, name: str) -> Iterator[Case]:
    """The graph without one node, an input of the same shape and dtype in its place."""
    like = case.seen.get(name)
    for source in {each.name for each in _node(case, name).all_input_nodes}:
        if _alike(like, case.seen.get(source, case.inputs.get(source))):
            graph, nodes = _copy(case)
            nodes[name].replace_all_uses_with(nodes[source])
            graph.erase_node(nodes[name])
            yield _finish(case, graph)


def without(case: Case, name: str) -> Case:
    """The graph without a node that nothing uses."""
    graph, nodes = _copy(case)
    graph.erase_node(nodes[name])
    return _finish(case, graph)


def without_attribute(case: Case, name: str) -> Case:
    """The module without a parameter, buffer or submodule of the root."""
    module = with_graph(case.module, case.module.graph, case.module)
    delattr(module, name)
    return replace(case, module=module)


def narrower(case: Case) -> Iterator[Case]:
    """Half of a dimension, in all inputs that have it in common: counted from the first, or from the last."""
    tensors = [value for value in case.inputs.values() if isinstance(value, torch.Tensor)]
    sizes = {
        (dim - start, value.shape[dim]) for value in tensors for start in (0, value.dim()) for dim in range(value.dim())
    }
    for dim, size in sorted(sizes, key=lambda each: (each[0] < 0, each[0], -each[1])):
        if size > 1:
            yield replace(case, inputs={name: _narrowed(value, dim, size) for name, value in case.inputs.items()})


def _narrowed(value: Any, dim: int, size: int) -> Any:
    if isinstance(value, torch.Tensor) and -value.dim() <= dim < value.dim() and value.shape[dim] == size:
        return value.detach().narrow(dim, 0, size // 2).clone().requires_grad_(value.requires_grad)
    return value


def _alike(one: Any, other: Any) -> bool:
    if not isinstance(one, torch.Tensor) or not isinstance(other, torch.Tensor):
        return False
    return one.shape == other.shape and one.dtype == other.dtype


def _node(case: Case, name: str) -> Node:
    found: Node = next(node for node in case.module.graph.nodes if node.name == name)
    return found


def _copy(case: Case) -> tuple[Graph, dict[str, Node]]:
    """A copy of the graph, and its nodes by the names that they had."""
    graph = Graph()
    copies: dict[Node, Node] = {}
    graph.output(graph.graph_copy(case.module.graph, copies))
    graph._codegen = case.module.graph._codegen  # noqa: SLF001  (graph_copy leaves it behind)
    return graph, {old.name: new for old, new in copies.items()}


def _with_output(graph: Graph, ends: Sequence[Node]) -> Graph:
    [output] = [node for node in graph.nodes if node.op == "output"]
    output.args = (ends[0] if len(ends) == 1 else tuple(ends),)
    return graph


def _finish(
    case: Case, graph: Graph, inputs: dict[str, Any] | None = None, constants: dict[str, torch.Tensor] | None = None
) -> Case:
    """The case of a changed graph, without the nodes and inputs that nothing needs."""
    _drop_unused(case, graph)
    module = case.module
    if constants:
        module = with_graph(module, module.graph, module)
        for name, value in constants.items():
            module.register_buffer(name, value)
    kept = dict(case.inputs if inputs is None else inputs)
    if kept:
        placeholders = [node for node in graph.nodes if node.op == "placeholder"]
        for node in [node for node in placeholders if not node.users]:
            graph.erase_node(node)
        kept = {node.name: kept[node.name] for node in graph.nodes if node.op == "placeholder"}
    return case.with_graph(graph, kept, module)


def _drop_unused(case: Case, graph: Graph) -> None:
    for node in reversed(list(graph.nodes)):
        if not node.users and (node.op == "get_attr" or (computes(node) and not has_effect(case, node))):
            graph.erase_node(node)


def has_effect(case: Case, node: Node) -> bool:
    """Whether a call may do more than give a value, by torch's naming: ``add_``, ``operator.iadd``, ``out=``."""
    if node.op == "call_module":
        return bool(getattr(case.module.get_submodule(str(node.target)), "inplace", False))
    if isinstance(node.target, torch._ops.OpOverload):  # noqa: SLF001  (its only name)
        return bool(node.target._schema.is_mutable)  # noqa: SLF001
    if node.target in _IN_PLACE or "out" in node.kwargs or node.kwargs.get("inplace"):
        return True
    name = node.target if isinstance(node.target, str) else getattr(node.target, "__name__", "")
    return name.endswith("_") and not name.endswith("__")
