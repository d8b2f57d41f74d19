"""Code that torch.compile made, through a client: by node, and by line in a file of an earlier run."""

from pathlib import Path

import pytest
from debugging import Debugging

from kit import builds

PROGRAM = "compiled_training.py"


@pytest.mark.rotated_tests(turns=3, number=1)
def test_breakpoints_bind_before_compiled_code_runs_and_steps_enter_its_kernel(dap):
    kernel = str(builds.op_kernel())
    first = Debugging(dap.stdio(), PROGRAM).launch(functions=["fx:weighted_1"], args=[kernel], crashes=False)
    backward = first.stood()
    assert (backward.function, backward.reason) == ("forward [fx weighted_1 of second]", "breakpoint")
    assert "_1_0_backward_" in Path(backward.file).name
    first.leave()

    # the same program again: its files have the names that they had, so an editor's breakpoints in them stay
    program = Debugging(dap.stdio(), PROGRAM)
    program.initialize()
    launched = program.client.post("launch", program=program.script, args=[kernel], crashes=False)
    program.client.event("initialized")
    program.set_lines(backward.file, [backward.line])
    program.configure()
    assert program.client.response(launched)["success"]
    stood = program.stood()
    assert (stood.file, stood.line) == (backward.file, backward.line)
    assert stood.body["hitBreakpointIds"] == [program.breakpoints[0]["id"]]
    assert program.evaluate("list(tanh_backward.shape)", stood.frame) == "[3, 4]"
    stood = program.into(stood)
    assert (stood.function, Path(stood.file).name) == ("walk::weighted", "op_kernel.cpp")
    stood = program.out(stood)
    assert (stood.file, stood.line) == (backward.file, backward.line + 1)
    program.leave()
