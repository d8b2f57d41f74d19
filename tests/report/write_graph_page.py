"""Writes a page of a graph for the browser's test. usage: write_graph_page.py NODES|hostile|two|kernels|... FILE"""

import sys
from pathlib import Path

from hostile_graph import HOSTILE, compiled_graph, fused_graph, graph_of_size, hostile_graph

from pyharness.model.graph import Graph
from pyharness.report.graph_html import graph_page

what, file = sys.argv[1:]
graphs = {
    "hostile": [hostile_graph()],
    "compiled": [compiled_graph()],
    "kernels": [fused_graph()],
    "two": [graph_of_size(30), graph_of_size(60), Graph("Empty", "", ())],
}
shown = graphs[what] if what in graphs else [graph_of_size(int(what))]
names = [HOSTILE if what == "hostile" else f"Model-{number}" for number in range(1, len(shown) + 1)]
page = graph_page([(name, "torch.fx", graph) for name, graph in zip(names, shown, strict=True)], names[0])
Path(file).write_text(page, encoding="utf-8")
