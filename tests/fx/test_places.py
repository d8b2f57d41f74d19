"""Finding a node or a module in a source map, and reading maps."""

import pytest
from torch import fx

from pyharness.fx import Tracer, materialize
from pyharness.model.places import calls_of, find, known_names, known_ops
from pyharness.model.source_map import MappedLine, SourceMap, load, map_of, place_of


@pytest.fixture
def source_map(model):
    return materialize(fx.GraphModule(model, Tracer().trace(model))).source_map


def test_a_node(source_map):
    assert find(source_map, "relu_1").node == "relu_1"


def test_a_module_is_its_first_op(source_map):
    assert find(source_map, "blocks.1.norm").node == "norm_1"
    assert find(source_map, "blocks.0.linear").op == "call_module"


def test_its_own_ops_come_before_those_below_it(source_map):
    assert find(source_map, "blocks.0").node == "relu"


def test_a_container_stands_for_what_is_below_it(source_map):
    assert find(source_map, "blocks").node == "norm"


def test_a_prefix_of_a_name_is_no_module(source_map):
    assert find(source_map, "block") is None
    assert find(source_map, "blocks.0.nor") is None
    assert find(source_map, "blocks.") is None


def test_the_root(source_map):
    assert find(source_map, "").node == "sum_1"


def test_a_node_of_dynamos_graph_is_the_first_of_its_parts_unless_the_name_is_another_nodes():
    rows = [("mul", ("gelu",)), ("erf", ("gelu",)), ("add", ("add_1", "x")), ("gelu_1", ("gelu",)), ("y", ("x",))]
    lines = tuple(
        MappedLine(line, node, "call_function", node, f"{node}s", None, None, captured=captured)
        for line, (node, captured) in enumerate(rows, 1)
    )
    made = SourceMap("/made.py", "inductor's forward", lines)
    assert [find(made, name).node for name in ("gelu", "add_1", "x", "gelu_1")] == ["mul", "add", "y", "gelu_1"]
    assert find(made, "erfs").node == "erf"
    assert {"gelu", "add_1", "x"} <= set(known_names(made))
    assert load(made.dump()) == made


def test_known_names(source_map):
    names = known_names(source_map)
    assert {"relu_1", "blocks", "blocks.0", "blocks.1.norm", "output"} <= set(names)
    assert len(names) == len(set(names))
    assert all(find(source_map, name) for name in names)


def test_a_map_survives_json(source_map):
    assert load(source_map.dump()) == source_map


def test_an_input_shares_the_first_line_but_does_not_own_it(source_map):
    first = source_map.lines[0]
    assert first.op == "placeholder"
    assert source_map.at(first.line).op == "call_method"


def test_lines_between_statements(source_map):
    assert source_map.at(1) is None
    spread = SourceMap("f", "g", (MappedLine(3, "a", "output", "output", None, None, None, 5),))
    assert [spread.at(line) is not None for line in (2, 3, 4, 5, 6)] == [False, True, True, True, False]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"version": 2}', '{"version": 1, "file": "f"}'])
def test_a_broken_map_is_no_map(text, tmp_path):
    (tmp_path / "f.py.map.json").write_text(text)
    assert map_of(str(tmp_path / "f.py")) is None
    assert place_of(str(tmp_path / "f.py"), 3) is None


def test_every_call_of_an_op():
    def entry(line, target, op="call_function"):
        return MappedLine(line, f"n{line}", op, target, "", None, None)

    targets = ("torch.ops.aten.mul.Tensor", "torch.ops.mine.mul.default", "operator.mul", "torch.mul", "blocks.mul")
    lines = [entry(number, target) for number, target in enumerate(targets, 1)]
    found = SourceMap("f.py", "G", (*lines, entry(6, "mul", "placeholder")))
    assert [each.line for each in calls_of(found, "aten::mul")] == [1]
    assert [each.line for each in calls_of(found, "mine::mul")] == [2]
    assert [each.line for each in calls_of(found, "aten::mul.Tensor")] == [1]
    assert [each.line for each in calls_of(found, "mul")] == [1, 2, 3, 4, 5]
    assert [each.line for each in calls_of(found, "ul")] == []
    assert known_ops(found)[:3] == ("aten::mul", "mine::mul", "operator.mul")
