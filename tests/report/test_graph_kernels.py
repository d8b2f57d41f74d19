"""Where the nodes of a graph stand beside the kernels that compute them."""

from test_page import Parts

from pyharness.model.graph import Graph, GraphNode, KernelBox, KernelNode
from pyharness.report.graph_html import graph_page
from pyharness.report.graph_kernels import placed


def node(name, *inputs, op="call_function"):
    return GraphNode(name, op, f"torch.ops.aten.{name}.default", "", None, None, None, None, inputs, "")


def box(name, *nodes, stored):
    return KernelBox(
        name, f"/cache/{name}.cpp", 1, 1, tuple(KernelNode(each, each in stored, (7, 8)) for each in nodes)
    )


def graph(kernels):
    """A sine that both kernels need, a product between them, and a view between two nodes of the first."""
    nodes = (
        node("x", op="placeholder"),
        node("sin", "x"),
        node("mul", "sin"),
        node("view", "mul"),
        node("mm", "x"),
        node("exp", "view"),
        node("add", "sin", "mm"),
        node("output", "exp", "add", op="output"),
    )
    return Graph("Model", "", nodes, kernels=kernels)


FIRST = box("cpp_fused_0", "sin", "mul", "exp", stored={"exp"})


def rows(kernels):
    """Where each node is and what it uses: ``name@box``."""

    def said(each):
        return each.node.name if each.box is None else f"{each.node.name}@{each.box}"

    return [(said(each), [said(value) for value in each.inputs]) for each in placed(graph(kernels))]


def test_boxes_have_all_that_a_kernel_computes_and_what_lies_between():
    found = rows((FIRST, box("cpp_fused_1", "sin", "add", stored={"add"})))
    assert found == [
        ("x", []),
        ("sin@0", ["x"]),
        ("mul@0", ["sin@0"]),
        ("view@0", ["mul@0"]),
        ("exp@0", ["view@0"]),
        ("mm", ["x"]),
        ("sin@1", ["x"]),
        ("add@1", ["sin@1", "mm"]),
        ("output", ["exp@0", "add@1"]),
    ]


def test_a_value_in_memory_is_that_of_the_kernel_that_stored_it():
    kernels = (box("cpp_fused_0", "sin", "mul", stored={"mul"}), box("cpp_fused_1", "sin", "exp", stored={"sin"}))
    assert ("add", ["sin@1", "mm"]) in rows(kernels)


def test_no_value_runs_against_the_order_where_a_box_must_come_in_parts():
    found = rows((box("cpp_fused_0", "sin", "add", stored={"sin", "add"}), box("cpp_fused_1", "mul", "mm", stored={})))
    assert [name for name, _ in found] == ["x", "sin@0", "mul@1", "mm@1", "view", "exp", "add@0", "output"]


def test_the_page_draws_such_a_graph_by_module_and_by_kernel():
    by_module, by_kernel = Parts(graph_page([("Net", "AOT forward", graph((FIRST,)))], "script.py")).data["graphs"]
    assert (by_module["title"], by_kernel["title"]) == ("Net", "Net by kernel")
    assert by_module["kernels"] is None
    assert by_kernel["kernels"] == [{"title": "cpp_fused_0", "file": "/cache/cpp_fused_0.cpp"}]
    assert {(each["name"], each["lines"]) for each in by_kernel["nodes"] if each["kernel"] == 0} == {
        *((name, "7-8") for name in ("sin", "mul", "exp")),
        ("view", ""),
    }
