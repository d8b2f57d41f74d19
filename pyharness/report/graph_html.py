"""Graphs as one HTML page, drawn in layers and grouped by module."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyharness.model.text.source_line import short_path, source_line
from pyharness.report.graph_table import origin_text
from pyharness.report.single_page import single_page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyharness.model.graph import Graph, GraphNode

_SCRIPTS = (
    "page/units.js",
    "graph_page/graphs.js",
    "graph_page/groups.js",
    "graph_page/links.js",
    "graph_page/size.js",
    "graph_page/layers.js",
    "graph_page/place.js",
    "graph_page/layout.js",
    "graph_page/view.js",
    "graph_page/map.js",
    "graph_page/cull.js",
    "graph_page/draw.js",
    "graph_page/details.js",
    "graph_page/choose.js",
    "graph_page/search.js",
    "graph_page/pointer.js",
    "graph_page/keys.js",
    "page/keyboard.js",
    "graph_page/main.js",
)
"""In the order of loading."""


def graph_page(graphs: Sequence[tuple[str, str, Graph]], program: str) -> str:
    """The whole file; ``graphs``: of each its title, its maker and itself."""
    return single_page(
        "graph_page",
        ["page/page.css", "graph_page/graph.css"],
        _SCRIPTS,
        title=f"{program} · pyharness fx",
        search="node, op, module, line",
        data={"program": program, "graphs": [_graph(*each) for each in graphs]},
    )


def _graph(title: str, maker: str, graph: Graph) -> dict[str, Any]:
    numbers = {node.name: number for number, node in enumerate(graph.nodes)}
    nodes = [_node(graph, node, numbers) for node in graph.nodes]
    return {"title": title, "maker": maker, "file": short_path(graph.file) if graph.file else "", "nodes": nodes}


def _node(graph: Graph, node: GraphNode, numbers: dict[str, int]) -> dict[str, Any]:
    return {
        "name": node.name,
        "op": node.op,
        "target": node.target,
        "kind": node.kind,
        "module": node.module,
        "shape": node.shape,
        "line": node.line,
        "code": graph.statement(node),
        "origin": origin_text(node),
        "source": source_line(node.origin_file, node.origin_line),
        "inputs": [numbers[name] for name in node.inputs if name in numbers],
    }
