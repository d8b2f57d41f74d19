"""Which nodes are meant: by name, by module path, by target, or by a function."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, TypeAlias

from torch.fx import Node

from pyharness.fx import provenance
from pyharness.fx.code.mapping import target_of
from pyharness.model.errors import UsageError, nearest
from pyharness.model.places import OPS

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch.fx import Graph

Where: TypeAlias = "str | Node | Callable[[Node], bool]"
"""A node's name or the path of the module that made it (``*`` and ``?`` as ``fnmatch`` reads them), the node, or a
function of a node."""


def nodes_at(graph: Graph, where: Where) -> list[Node]:
    """The nodes of ``graph`` that ``where`` means, in order; ``UsageError`` where there is none.

    A name comes first; else the first node that each module of that path made itself, else the first below it.
    """
    nodes = list(graph.nodes)
    if isinstance(where, str):
        found = [node for node in nodes if fnmatchcase(node.name, where)] or _first_of_modules(nodes, where)
    elif isinstance(where, Node):  # transforms work on a copy: its nodes have the same names
        found = [node for node in nodes if node.name == where.name]
    elif callable(where):
        found = [node for node in nodes if where(node)]
    else:
        raise UsageError(f"{where!r} names no node.", "Give a node, its name, a module path or a function of a node.")
    if not found:
        known = [*(node.name for node in nodes), *filter(None, map(_module, nodes)), *map(target_of, nodes)]
        if callable(where):
            raise UsageError(
                f"No node is one for {getattr(where, '__name__', 'the function')}.",
                "Print the graph to see what there is.",
            )
        raise UsageError(f"The graph has no node {str(where)!r}.", nearest(str(where), known))
    return found


def _first_of_modules(nodes: list[Node], where: str) -> list[Node]:
    first: dict[str, Node] = {}
    for node in nodes:
        if node.op in OPS and fnmatchcase(_module(node), where):
            first.setdefault(_module(node), node)
    below = (node for node in nodes if node.op in OPS and _module(node).startswith(f"{where}."))
    return list(first.values()) or list(below)[:1]


def _module(node: Node) -> str:
    return provenance.of(node).module or ""
