"""Two graphs compared, as data: what is the same under other names, what moved; graphs chosen; widths of terminals."""

import pytest
from hostile_graph import graph_of_size

from pyharness.model.errors import UsageError
from pyharness.model.graph import Graph, GraphNode, MadeGraph, select
from pyharness.model.results.graph_diff import compare
from pyharness.report.graph_code import code_table
from pyharness.report.graph_diff_text import side_by_side
from pyharness.report.graph_rails import drawing
from pyharness.report.graph_table import table


def graph(*lines):
    """Lines such as ``y = torch.relu(x)``; ``x`` alone is an input."""
    nodes = []
    for line in lines:
        name, _, call = line.partition(" = ")
        target, _, arguments = call.rstrip(")").partition("(")
        names = [each.name for each in nodes]
        used = [word for word in arguments.replace(",", " ").split() if word in names]
        op = "placeholder" if not call else "output" if target == "output" else "call_function"
        inputs = tuple(dict.fromkeys(used))
        nodes.append(GraphNode(name, op, target or name, "", None, None, None, None, inputs, arguments))
    return Graph("Model", "", tuple(nodes))


BASE = ("x", "a = relu(x)", "b = neg(a)", "c = add(a, b)", "out = output(c)")


def changes(before, after):
    return [(row.change, (row.after or row.before).name) for row in compare(graph(*before), graph(*after)).rows]


def test_the_same():
    found = compare(graph(*BASE), graph(*BASE))
    assert found.same
    assert found.counts == {"same": 5}


def test_other_names_are_no_change():
    after = ("y", "a_1 = relu(y)", "b_1 = neg(a_1)", "c_1 = add(a_1, b_1)", "out = output(c_1)")
    found = compare(graph(*BASE), graph(*after))
    assert found.same
    assert found.counts == {"renamed": 4, "same": 1}


def test_swapped_operands_and_another_target():
    after = ("x", "a = relu(x)", "b = abs(a)", "c = add(b, a)", "out = output(c)")
    found = compare(graph(*BASE), graph(*after))
    assert [(row.after.name, row.parts) for row in found.rows if row.change == "changed"] == [
        ("b", ("target",)),
        ("c", ("arguments",)),
    ]


def test_added_and_removed_stand_where_they_are():
    after = ("x", "n = abs(x)", "a = relu(n)", "c = add(a, a)", "out = output(c)")
    assert changes(BASE, after) == [
        ("same", "x"),
        ("added", "n"),
        ("changed", "a"),
        ("removed", "b"),
        ("changed", "c"),
        ("same", "out"),
    ]


def test_what_only_moved():
    before = ("x", "a = relu(x)", "b = neg(x)", "c = add(a, b)")
    after = ("x", "b = neg(x)", "a = relu(x)", "c = add(a, b)")
    assert sorted(change for change, _ in changes(before, after)) == ["moved", "same", "same", "same"]


def test_names_in_text_and_keywords_are_no_inputs():
    before = ("x", "y = einsum('x,x', x, x=x)")
    after = ("z", "y = einsum('x,x', z, x=z)")
    found = compare(graph(*before), graph(*after))
    assert not [row for row in found.rows if row.parts and row.after.op == "call_function"]


@pytest.mark.parametrize("width", [None, 60, 10])
def test_columns_side_by_side(width):
    after = ("x", "a = relu(x)", "b = abs(a)", "c = add(a, b)", "out = output(c)")
    lines = list(side_by_side(compare(graph(*BASE), graph(*after)), ("one", "two"), width=width, whole=True))
    assert [line.style for line in lines].count("current") == 1
    assert lines[-1].text == "1 changed, 4 the same."
    if width == 60:
        assert all(len(line.text) <= 60 for line in lines)


def test_empty_graphs():
    found = compare(graph(), graph())
    assert found.same
    assert list(side_by_side(found, ("one", "two"), width=None, whole=False))[-1].text == "Both graphs are empty."


def made(*names, versions=1):
    return [MadeGraph(number, name, "torch.fx", (graph("x"),) * versions) for number, name in enumerate(names, 1)]


@pytest.mark.parametrize(
    ("which", "message"),
    [("", "Which graph"), ("Modle", "Did you mean Model"), ("Model@2", "has only version 1|no version 2")],
)
def test_a_graph_that_is_not_there(which, message):
    with pytest.raises(UsageError, match=message):
        select(made("Model", "Other"), which)


def test_versions_that_were_not_kept():
    several = MadeGraph(
        1, "Model", "torch.fx", tuple(graph("x", f"a = f{number}(x)") for number in (1, 9, 10)), dropped=7
    )
    assert [several.version(number).nodes[1].target for number in (1, 9, 10)] == ["f1", "f9", "f10"]
    with pytest.raises(UsageError, match="versions 1 and 9 to 10"):
        several.version(5)
    assert select([several], "@9").title == "Model@9"
    assert select(made("Model"), "1").title == "Model"


@pytest.mark.parametrize("view", [table, code_table, drawing])
@pytest.mark.parametrize("width", [120, 100, 72])
def test_no_view_is_wider_than_its_terminal(view, width):
    lines = [line.text for line in view(graph_of_size(60), width)]
    assert len(lines) >= 60
    assert max(map(len, lines)) <= width
    assert all("blocks.0" in line or "…" in line for line in lines if "node_5 " in line)
