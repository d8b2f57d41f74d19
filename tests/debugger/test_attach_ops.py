"""Stops at ops and autograd nodes in a program that ran before any debugger was there."""

import pytest

import pyharness
from pyharness.model.errors import UsageError

HOW = [pytest.param({"handle": "trainer"}, id="by handle"), pytest.param({}, id="by pid")]


@pytest.mark.rotated
@pytest.mark.parametrize("how", HOW)
def test_at_ops_and_nodes_of_a_loop_that_runs(running, how):
    trainer = running("attach_ops.py", **how)
    with pyharness.attach(how.get("handle") or trainer.pid) as program:
        stop = program.run_to("op:aten::mul when max(in1) >= 5 and requires_grad(in0)")
        assert stop.frame.function == "aten::mul"
        assert stop.note.endswith(f"called from {trainer.script}:{program_line(trainer, 'mul')}")
        number = int(program.evaluate("number"))
        assert number >= 5
        assert program.evaluate("in0") == "Tensor float32 [2] cpu requires_grad [3.0, 3.0]"
        assert [frame.function for frame in program.stack() if not frame.plumbing] == ["aten::mul", "step", "<module>"]
        node = program.run_to("node:MulBackward0")
        assert (node.frame.function, node.thread) == ("MulBackward0", stop.thread)
        assert any(frame.function == "torch::autograd::Engine::execute" for frame in program.stack())
        assert int(program.evaluate("number")) >= number
        with pytest.raises(UsageError, match=r"Did you mean nan"):
            program.run_to("op:aten::mul when nann(in0)")
        assert program.over().frame.language == "python"
    trainer.ends_free()


def program_line(program, mark):
    return int(program.at(mark).rpartition(":")[2])
