"""Stepping into what ``loss.backward()`` runs, and out again on the next line."""

import pytest

from kit import needs

pytestmark = [needs.debug_information(), pytest.mark.rotated_tests(turns=5)]


def at(stop):
    return stop.frame.language, stop.frame.function


def test_into_every_kind_of_backward_and_out(debugged):
    backward = debugged("core_backward.py")
    with backward.start() as program:
        program.run_to(backward.at("python"))
        stop = program.into()
        assert (*at(stop), stop.frame.line) == ("python", "backward", backward.line("python_backward"))
        assert program.evaluate("gradient.shape") == "torch.Size([4])"
        stack = [frame for frame in program.stack() if frame.file == backward.script]
        assert [frame.function.split(".")[-1] for frame in stack] == ["backward", "python_function", "<module>"]
        stop = program.out()
        assert (*at(stop), stop.frame.line) == ("python", "python_function", backward.line("python"))

        program.run_to(backward.at("hooked"))
        stop = program.into()
        assert (*at(stop), stop.frame.line) == ("python", "hook", backward.line("hook"))
        stop = program.out()
        assert (*at(stop), stop.frame.line) == ("python", "python_hook", backward.line("hooked"))

        program.run_to(backward.at("cpp"))
        stop = program.into()
        assert stop.frame.language == "native"
        assert stop.frame.file.endswith("csrc/ops/rms_norm.cpp")
        stack = program.stack()
        assert "cpp_function" in [frame.function for frame in stack if frame.language == "python"]
        assert any(frame.autograd for frame in stack)
        while stop.frame.language == "native":
            stop = program.out()
        assert (*at(stop), stop.frame.line) == ("python", "cpp_function", backward.line("after_cpp"))
        assert program.finish() == 0
    assert backward.output == "done\n"


def test_a_node_of_a_backward_within_one_is_not_the_outer_frames(debugged):
    with debugged("reentrant_backward.py").start() as program:
        assert program.run_to("node:MulBackward0").frame.function == "MulBackward0"
        runs = [frame.function for frame in program.stack() if frame.autograd and frame.autograd.name == "MulBackward0"]
        assert not [function for function in runs if "PyNode" in function]
        assert program.finish() == 0
