"""Where a kernel computes an element: the lines that hold it, and the round of the loops, as C++."""

import pytest

from pyharness.model.errors import HarnessError
from pyharness.model.kernel_elements import as_cxx, conditions_of, nodes_of, result_of
from pyharness.model.kernel_frames import Standing
from pyharness.model.kernel_map import GraphNode, Held, KernelLine, KernelMap, KernelMaps, KernelUse


def node(name, shape, **more):
    return GraphNode(name, f"torch.ops.aten.{name}", None, None, None, shape=shape, **more)


NODES = (node("erf", (3, 20), captured="gelu"), node("mul", (3, 20), captured="gelu"), node("sum_1", (None,)))
LINES = (
    KernelLine(5, "erf", "value", "tmp1", (Held("erf", ("x0 // 20", "x0 % 20")),), (("x0", "4"),)),
    KernelLine(6, "mul", "value", "tmp2", (Held("mul", ("x0", "x1")),), (("x1", "2"),)),
    KernelLine(9, "mul", "value", "tmp3", (Held("mul", ("x0", "x1")),)),
    KernelLine(12, "sum_1", "value", "tmp4", (Held("sum_1", ("x0",)),), (("x0", "rest"),)),
    KernelLine(14, "index", "value", "tmp5", (Held("index", ("tmp0",)), Held("strange", ("f(x0)",)))),
)
USE = KernelUse(("erf", "mul", "sum_1", "index", "strange"), LINES)
MAPS = KernelMaps("2.13.0", "forward", NODES, ())
CALL = Standing(MAPS, KernelMap("cpp_fused_0", "", (USE,)), USE)


def test_each_line_that_holds_the_element_has_its_condition():
    assert conditions_of(CALL, "mul", [2, 7]) == {
        6: "(x0 == 2 && x1 == 7) || (x0 == 2 && (x1 + 1) == 7)",
        9: "(x0 == 2 && x1 == 7)",
    }


def test_a_call_of_dynamos_graph_is_its_last_node_and_indices_count_from_the_end():
    assert result_of(CALL, nodes_of(CALL, "gelu")) == "mul"
    assert conditions_of(CALL, "gelu", [-1, -20])[9] == "(x0 == 2 && x1 == 0)"


def test_lanes_whose_number_is_known_at_the_call_only_are_looked_at_as_far_as_there_are_any():
    condition = conditions_of(CALL, "sum_1", [3])[12]
    assert condition.startswith("(x0 == 3 && 0 < rest) || ((x0 + 1) == 3 && 1 < rest) || ")


@pytest.mark.parametrize(
    ("name", "element", "said"),
    [
        ("nix", [0], "No line of this kernel computes 'nix'"),
        ("mull", [0], "mul"),
        ("mul", [0], "mul has 2 dimensions"),
        ("mul", [3, 0], r"mul is \[3, 20\]: it has no element \[3, 0\]"),
        ("mul", [0, -21], "it has no element"),
        ("sum_1", [-1], "How long sum_1 is depends on the call"),
        ("strange", [0], "Where strange is computed depends on data"),
    ],
)
def test_what_no_line_computes_is_said(name, element, said):
    with pytest.raises(HarnessError, match=said):
        conditions_of(CALL, name, element)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("x0 // 20", "((x0 + 3) / 20)"),
        ("(x1 % 20)", "(x1 % 20)"),
        ("-x1 + 3*x0", "((-x1) + (3 * (x0 + 3)))"),
        ("min(x1, 5)", "(x1 < 5 ? x1 : 5)"),
    ],
)
def test_an_index_is_told_in_cxx_for_a_lane(expression, expected):
    assert as_cxx(expression, {"x0": 3}) == expected


@pytest.mark.parametrize("expression", ["x0 / 2", "f(x0)", "x0.real", "x0 +"])
def test_what_is_no_index_is_not_told_in_cxx(expression):
    with pytest.raises(ValueError, match="no index"):
        as_cxx(expression, {})
