"""A GraphModule as data: its nodes with their provenance, its code, shapes where torch noted them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from pyharness.fx.code import files
from pyharness.fx.code.mapping import rows
from pyharness.fx.code.statements import Span, spans
from pyharness.fx.graphs.values import described, recorded
from pyharness.model.graph import Graph, GraphNode

if TYPE_CHECKING:
    from torch.fx import GraphModule, Node

    from pyharness.model.source_map import MappedLine

_NOWHERE = Span(0, 0)
_LONGEST = 400
"""Characters of an argument list that are kept."""


def snapshot(module: GraphModule) -> Graph:
    """What ``module`` is now; it is neither run nor changed (a lazy one is compiled)."""
    text = module.code
    nodes = list(module.graph.nodes)
    known = files.FILES.get(module)
    file = known.path if known and known.text == text else ""
    found = _rows(module, nodes, text)
    return Graph(files.name_of(module), text, tuple(_node(module, node, found[node.name]) for node in nodes), file)


def _rows(module: GraphModule, nodes: list[Node], text: str) -> dict[str, MappedLine]:
    """Where each node is and came from; line 0 for one without a statement."""
    line_map = getattr(module, "_lineno_map", None)
    found = [span or _NOWHERE for span in spans(text, nodes, line_map, getattr(module, "_prologue_start", 0))]
    return {row.node: row for row in rows(nodes, found, files.GENERATED)}


def _node(module: GraphModule, node: Node, row: MappedLine) -> GraphNode:
    path = "" if row.module is None and node.op == "placeholder" else row.module  # an input is the root's
    return GraphNode(
        name=node.name,
        op=node.op,
        target=row.target,
        module=path,
        line=row.line or None,
        last_line=row.last_line,
        origin_file=row.origin_file,
        origin_line=row.origin_line,
        inputs=tuple(each.name for each in node.all_input_nodes),
        arguments=_arguments(node),
        kind=_kind(module, node),
        shape=recorded(node) or _constant(module, node),
    )


def _arguments(node: Node) -> str:
    parts = [_text(each) for each in node.args] + [f"{name}={_text(each)}" for name, each in node.kwargs.items()]
    text = ", ".join(parts)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _text(value: Any) -> str:
    return described(value) if isinstance(value, torch.Tensor) else repr(value)


def _kind(module: GraphModule, node: Node) -> str:
    value = _attribute(module, node)
    return type(value).__name__ if value is not None else ""


def _constant(module: GraphModule, node: Node) -> str:
    value = _attribute(module, node) if node.op == "get_attr" else None
    return described(value) if isinstance(value, torch.Tensor) else ""


def _attribute(module: GraphModule, node: Node) -> Any:
    if node.op not in {"call_module", "get_attr"}:
        return None
    value: Any = module
    for part in str(node.target).split("."):
        value = getattr(value, part, None)
    return value
