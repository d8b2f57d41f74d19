"""Puts an op, a function or a module in the place of a pattern."""

from __future__ import annotations

import inspect
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.fx import Graph, GraphModule, Node
from torch.fx.node import map_arg

from pyharness.fx import provenance
from pyharness.fx.tracing.tags import inherit, tag
from pyharness.fx.tracing.tracer import trace
from pyharness.fx.transforms.matching import MOST_SWAPPED, Match, as_written, matches_of, missing
from pyharness.fx.transforms.registry import transform
from pyharness.model.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TypeAlias

    Code: TypeAlias = Callable[..., Any] | GraphModule | Graph
    """A function that is traced, an op, a module, or a graph."""


@transform("replace")
def replace(
    module: GraphModule,
    pattern: Code,
    by: Code,
    *,
    where: str | Callable[[Mapping[str, Any]], bool] | None = None,
) -> None:
    """Replace every place where ``pattern`` is computed.

    Functions, methods, operators and modules without parameters that compute the same are the same to the pattern
    (``torch.relu(x)``, ``x.relu()``, ``F.relu(x)``, ``nn.ReLU()``), whichever way their arguments are given; operands
    of sums and products may be in either order (of the first six; of more than that as the pattern has them); modules
    with parameters match by class. An input of the pattern stands for any node or constant. A value inside that is used
    outside is no match; of two that overlap, the first counts.

    Args:
        module: the graph.
        pattern: a function of the pattern's inputs, all of which it uses; or a function of torch's or an op, which
            stands for each of its calls.
        by: a function of the same inputs; or an op (``torch.ops.pyharness.rms_norm.default``) or a module, which is
            called with them.
        where: replace only there: a pattern of module paths (``blocks.*``), or a function that is told what each input
            of the pattern is (a node or a constant, by name).

    The new nodes take the provenance of the pattern's last node, and the tag ``replaced`` with the names of all.
    Raises ``UsageError`` where nothing matches.

    """
    wanted = _pattern(pattern)
    names = [str(node.target) for node in wanted.graph.nodes if node.op == "placeholder"]
    found = [match for match in matches_of(module, wanted) if _is_meant(match, names, where)]
    if not found:
        raise _nothing(module, wanted, limited=where is not None)
    new = _by_graph(module, by, len(names))
    replaced: dict[Node, Node] = {}
    for match in found:
        _substitute(module.graph, match, new, replaced)
    if len(found[0].results) > 1:
        _sort(module.graph)


def _pattern(code: Code) -> GraphModule:
    pattern = _graph_module(code)
    nodes = [node for node in pattern.graph.nodes if node.op != "output"]
    unused = [node.name for node in nodes if not node.users]
    if unused:
        raise UsageError(
            f"The pattern does not use {', '.join(unused)}.", "Leave it out, there and in the replacement."
        )
    if not any(node.op.startswith("call_") for node in nodes):
        raise UsageError("The pattern computes nothing.", "Give a function of its inputs, such as lambda x: x.relu().")
    return pattern


def _graph_module(code: Code, inputs: int = 0) -> GraphModule:
    if isinstance(code, GraphModule):
        return code
    if isinstance(code, Graph):
        return code.owning_module or GraphModule(nn.Module(), code)
    if not callable(code):
        raise UsageError(f"{code!r} computes nothing.", "Give a function, an op, a module or a graph.")
    if isinstance(code, nn.Module) or not str(code.__module__).startswith("torch"):
        return trace(code)
    graph = Graph()  # a function of torch's, or an op: one call
    names = [f"input_{index}" for index in range(inputs or _arity(code))]
    graph.output(graph.call_function(code, tuple(map(graph.placeholder, names))))
    return GraphModule(nn.Module(), graph)


def _arity(function: Any) -> int:
    """How many arguments ``function`` needs."""
    packet = getattr(torch.ops.aten, getattr(function, "__name__", ""), None)
    schema = getattr(function, "_schema", None) or (packet and getattr(packet, packet.overloads()[0])._schema)  # noqa: SLF001
    if schema:
        return sum(not (each.has_default_value() or each.kwarg_only) for each in schema.arguments)
    parameters = inspect.signature(function).parameters.values()
    return sum(each.default is each.empty and each.kind is each.POSITIONAL_OR_KEYWORD for each in parameters)


def _by_graph(module: GraphModule, by: Code, inputs: int) -> Graph:
    """The graph to put in, its attributes in ``module``."""
    if isinstance(by, nn.Module) and not isinstance(by, GraphModule):
        name = _fresh(module, type(by).__name__.lower())
        module.add_submodule(name, by)
        graph = Graph()
        graph.output(graph.call_module(name, tuple(graph.placeholder(f"input_{index}") for index in range(inputs))))
        return graph
    made = _graph_module(by, inputs)
    count = len(made.graph.find_nodes(op="placeholder"))
    if count != inputs:
        raise UsageError(f"The pattern has {inputs} inputs and the replacement {count}.", "Give both the same.")
    for node in made.graph.nodes:
        if node.op in {"get_attr", "call_module"}:
            raise UsageError(
                f"The replacement has state of its own ({node.target}).",
                "Give a torch.nn.Module that holds it: it becomes a submodule.",
            )
    return made.graph


def _is_meant(match: Match, names: list[str], where: Any) -> bool:
    if where is None:
        return True
    if isinstance(where, str):
        return all(fnmatchcase(provenance.of(node).module or "", where) for node in match.nodes)
    return bool(where(dict(zip(names, match.inputs, strict=True))))


def _nothing(module: GraphModule, pattern: GraphModule, *, limited: bool) -> UsageError:
    absent = missing(module, pattern)
    if absent:
        return UsageError(
            f"The pattern matches nowhere: the graph has no {', '.join(absent)}.", "Write it with what the graph calls."
        )
    remedy = "Its calls are all there, but not so connected, or a value inside of it is used elsewhere, too."
    ordered = as_written(pattern)
    if ordered:
        remedy += f" Operands of {', '.join(ordered)}, after the first {MOST_SWAPPED}, must be in the graph's order."
    return UsageError("The pattern matches nowhere" + (" that `where` selects." if limited else "."), remedy)


def _substitute(graph: Graph, match: Match, new: Graph, replaced: dict[Node, Node]) -> None:
    inputs = (replaced.get(each, each) if isinstance(each, Node) else each for each in match.inputs)
    placeholders = (node for node in new.nodes if node.op == "placeholder")
    known: dict[Node, Any] = dict(zip(placeholders, inputs, strict=True))
    with graph.inserting_before(match.nodes[-1].next):
        results = _copied(graph, new, known, match)
    if len(results) != len(match.results):
        raise UsageError(
            f"The pattern returns {len(match.results)} values and the replacement {len(results)}.",
            "Return as many.",
        )
    for old, made in zip(match.results, results, strict=True):
        old.replace_all_uses_with(made)
        replaced[old] = made
    for node in reversed(match.nodes):
        graph.erase_node(node)


def _copied(graph: Graph, new: Graph, known: dict[Node, Any], match: Match) -> tuple[Any, ...]:
    for node in new.nodes:
        if node.op == "output":
            result = map_arg(node.args[0], known.__getitem__)
            return tuple(result) if isinstance(result, list | tuple) else (result,)
        if node.op != "placeholder":
            known[node] = copied = graph.node_copy(node, known.__getitem__)
            copied.meta.clear()
            inherit(copied, match.nodes[-1])
            tag(copied, replaced=", ".join(each.name for each in match.nodes))
    return ()


def _sort(graph: Graph) -> None:
    """Put each node behind what it needs, and leave the order else: of two results, one may have been used early."""
    ready: dict[Node, None] = {}
    waiting = list(graph.nodes)
    while waiting:
        node = next(each for each in waiting if all(needed in ready for needed in each.all_input_nodes))
        waiting.remove(node)
        if ready:
            next(reversed(ready)).append(node)
        ready[node] = None


def _fresh(module: nn.Module, name: str) -> str:
    names = (name if not index else f"{name}_{index}" for index in range(len(module._modules) + 1))  # noqa: SLF001
    return next(each for each in names if not hasattr(module, each))
