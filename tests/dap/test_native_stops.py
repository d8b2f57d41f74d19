"""Stops that the program's own C++ tests for, through a client: the first NaN, native breakpoints, and no others."""

import pytest
from debugging import Debugging

from kit import builds

pytestmark = pytest.mark.rotated_tests(turns=5)


def test_at_the_first_nan_with_its_tensors_and_the_merged_stack(dap):
    program = Debugging(dap.stdio(), "surveyed.py")
    program.launch(args=[str(builds.survey()), "stop"], crashes=False)
    stood = program.stood()
    assert (stood.reason, stood.function) == ("breakpoint", "torch::autograd::CppNode<survey::Distance>")
    names = [frame["name"] for frame in program.stack(stood.thread)]
    assert names.index("torch::autograd::Engine::execute") < names.index("step")
    step = next(frame for frame in program.stack(stood.thread) if frame["name"] == "step")
    assert step["line"] == program.line("backward")
    assert "[nan, nan]" in program.evaluate("out", stood.frame)
    tensors = program.children(program.scopes(stood.frame)["Tensors"])
    assert [each["name"] for each in tensors] == ["in0", "out0", "out1"]
    assert ["nan" in each["value"] for each in tensors] == [False, True, True]
    assert "statistics" in [each["name"] for each in program.children(tensors[1])]
    stood = program.out(stood)
    assert (stood.function, stood.line) == ("step", program.line("after"))
    assert program.run_out(stood) == 0
    program.leave()


def test_what_is_evaluated_at_a_stop_hits_nothing(dap):
    """A hover over an expression that runs the op: its breakpoint would wait for gdb, and gdb for the evaluation."""
    program = Debugging(dap.stdio(), "op_actions.py")
    program.launch("mul", functions=("op:aten::mul",), args=["log"], crashes=False)
    stood = program.stood()
    assert program.at(stood) == "mul"
    assert program.evaluate("(y * 5).tolist()", stood.frame) == "[10.0, 10.0]"
    stood = program.run_on(stood)
    assert (stood.function, stood.body["hitBreakpointIds"]) == ("aten::mul", [program.breakpoints[1]["id"]])
    program.client.request("setFunctionBreakpoints", breakpoints=[])
    assert program.run_out(stood) == 0
    assert "1 hit\n" in program.output()
    program.leave()


def test_a_breakpoint_of_the_programs_own_that_stops_in_python(dap):
    program = Debugging(dap.stdio(), "op_actions.py")
    program.launch(args=["debugpy"], crashes=False)
    stood = program.stood()
    assert (stood.function, program.at(stood)) == ("work", "after")
    assert program.evaluate("(z * 5).tolist()", stood.frame) == "[20.0, 20.0]"
    assert program.at(program.over(stood)) != "after"
    assert program.run_out(stood) == 0
    assert "1 hit\n" in program.output()
    program.leave()
