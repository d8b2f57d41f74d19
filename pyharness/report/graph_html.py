"""Graphs as one HTML page, drawn in layers and grouped by module, those of inductor by kernel as well."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyharness.model.text.ranges import in_ranges
from pyharness.model.text.source_line import short_path, source_line
from pyharness.report.graph_kernels import placed
from pyharness.report.graph_table import origin_text
from pyharness.report.single_page import single_page

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyharness.model.graph import Graph, GraphNode

BY_KERNEL = "by kernel"
"""Behind the title of a graph that is drawn in boxes of its kernels."""
_SCRIPTS = (
    "page/units.js",
    "page/theme.js",
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
        data={"program": program, "graphs": [drawing for each in graphs for drawing in _drawings(*each)]},
    )


def _drawings(title: str, maker: str, graph: Graph) -> Iterator[dict[str, Any]]:
    """By module, and by kernel where there are kernels."""
    head = {"maker": maker, "file": short_path(graph.file) if graph.file else ""}
    numbers = {node.name: number for number, node in enumerate(graph.nodes)}
    nodes = [_node(graph, node, [numbers[name] for name in node.inputs if name in numbers]) for node in graph.nodes]
    yield {"title": title, **head, "kernels": None, "nodes": nodes}
    if graph.kernels:
        boxes = [{"title": each.title, "file": short_path(each.file or "")} for each in graph.kernels]
        yield {"title": f"{title} {BY_KERNEL}", **head, "kernels": boxes, "nodes": list(_in_kernels(graph))}


def _in_kernels(graph: Graph) -> Iterator[dict[str, Any]]:
    nodes = placed(graph)
    numbers = {each: number for number, each in enumerate(nodes)}
    lines = [{node.name: in_ranges(node.lines, ", ") for node in box.nodes} for box in graph.kernels]
    for each in nodes:
        kernel = {"kernel": each.box, "lines": "" if each.box is None else lines[each.box].get(each.node.name, "")}
        yield {**_node(graph, each.node, [numbers[value] for value in each.inputs]), **kernel}


def _node(graph: Graph, node: GraphNode, inputs: list[int]) -> dict[str, Any]:
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
        "inputs": inputs,
    }
