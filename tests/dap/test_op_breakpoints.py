"""Function breakpoints on ops that eager Python calls and on autograd nodes, through a client."""

import pytest
from debugging import Debugging, line_of

from kit import builds
from kit.paths import PROGRAMS

pytestmark = pytest.mark.rotated_tests(turns=5)


def test_at_an_op_into_its_kernel_and_at_a_node(dap):
    program = Debugging(dap.stdio(), "op_eager.py")
    names = ("op:walk::weighted when max(in0) > 1", "node:MulBackward0", "op:aten::mul when nan(outt)")
    program.launch(functions=names, args=[str(builds.op_kernel())], crashes=False)
    op, node, wrong = program.breakpoints
    assert (op["verified"], node["verified"], wrong["verified"]) == (True, True, False)
    assert "Did you mean out" in wrong["message"]
    stood = program.stood()
    assert (stood.reason, stood.function) == ("breakpoint", "walk::weighted")
    assert stood.body["hitBreakpointIds"] == [op["id"]]
    frames = [frame for frame in program.stack(stood.thread) if "source" in frame]
    python = next(frame for frame in frames if frame["source"].get("path") == program.script)
    assert python["name"].endswith("forward")  # with its class from Python 3.11 on
    assert python["line"] == line_of("weighted", program.script)
    stood = program.into(stood)
    assert (stood.function, stood.file) == ("walk::weighted", str(PROGRAMS / "op_kernel.cpp"))
    stood = program.run_on(stood)
    assert (stood.function, stood.body["hitBreakpointIds"]) == ("MulBackward0", [node["id"]])
    program.client.request("setFunctionBreakpoints", breakpoints=[])
    assert program.run_out(stood) == 0
    program.leave()


def test_a_condition_at_an_op_is_of_its_tensors_or_pythons(dap):
    program = Debugging(dap.stdio(), "core_graph.py")
    add = {"name": "op:aten::add", "condition": "sum(in0) > 5"}
    relu = {"name": "op:relu", "condition": "len(add) > 3"}
    program.launch(functions=(add, relu), crashes=False)
    first, _python = program.breakpoints
    stood = program.stood()
    assert (stood.reason, stood.function) == ("breakpoint", "aten::add")
    assert stood.body["hitBreakpointIds"] == [first["id"]]
    assert program.evaluate("in0.shape", stood.frame) == "[3, 2]"
    program.client.request("setFunctionBreakpoints", breakpoints=[relu])
    stood = program.run_on(stood)
    assert "[fx relu]" in stood.function
    assert program.evaluate("len(add)", stood.frame) == "4"
    assert program.run_out(stood) == 0
    program.leave()


def test_a_kind_with_nothing_behind_it_is_no_place(dap):
    program = Debugging(dap.stdio(), "core_graph.py")
    names = ("op:", "native:", "fx: ", "node:")
    program.launch(functions=names, crashes=False)
    for name, answered in zip(names, program.breakpoints, strict=True):
        assert not answered["verified"]
        assert f"{name.strip()!r} is not a place to stop at." in answered["message"]
    program.client.event("terminated")
    program.leave()
