"""The page of a graph, without a browser: what it holds, and that no name in it is markup."""

import base64
import hashlib
import re

from hostile_graph import HOSTILE, graph_of_size, hostile_graph
from test_page import Parts

from pyharness.report.graph_html import graph_page


def test_every_node_is_there_with_its_inputs():
    graph = graph_of_size(40)
    data = Parts(graph_page([("Model", "torch.fx", graph)], "script.py")).data
    nodes = data["graphs"][0]["nodes"]
    assert [node["name"] for node in nodes] == [node.name for node in graph.nodes]
    for node, row in zip(graph.nodes, nodes, strict=True):
        assert tuple(nodes[index]["name"] for index in row["inputs"]) == node.inputs
        assert all(nodes[index] is not row for index in row["inputs"])
    assert {row["module"] for row in nodes} >= {"blocks.0", "blocks.1", None}


def test_the_page_needs_nothing_from_anywhere():
    parts = Parts(graph_page([("Model", "torch.fx", graph_of_size(5))], "script.py"))
    for _, attributes in parts.tags:
        assert not {"src", "href", "action", "onclick", "onload"} & set(attributes)
    script = parts.scripts[1]
    addresses = set(re.findall(r"https?://[^\"']*", script))
    assert addresses == {"http://www.w3.org/2000/svg"}  # the name of a language, which nobody fetches
    assert not [word for word in ("import(", "fetch(", "eval(", "innerHTML") if word in script]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in parts.policy


def test_names_are_never_markup():
    harmless = [tag for tag, _ in Parts(graph_page([("Model", "torch.fx", graph_of_size(5))], "script.py")).tags]
    parts = Parts(graph_page([(HOSTILE, HOSTILE, hostile_graph())], HOSTILE))
    assert [tag for tag, _ in parts.tags] == harmless
    assert parts.data["graphs"][0]["title"] == HOSTILE
    assert parts.data["graphs"][0]["nodes"][1]["module"] == HOSTILE


def test_two_thousand_nodes_stay_small():
    assert len(graph_page([("Model", "torch.fx", graph_of_size(2000))], "script.py").encode()) < 800_000
