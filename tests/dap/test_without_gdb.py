"""Without gdb a place in C++ is refused with the reason, and the program runs on."""

import pytest
from debugging import Debugging

LACKS = "gdb was not found ('/nowhere/gdb' is not an executable on PATH)."


@pytest.fixture
def program(dap, monkeypatch):
    """A program of which no gdb can be had."""
    monkeypatch.setenv("PYHARNESS_GDB", "/nowhere/gdb")
    return Debugging(dap.stdio(), "core_crossing.py")


def refused(program, index):
    """What becomes of a breakpoint."""
    number = program.breakpoints[index]["id"]
    return program.client.event("breakpoint", lambda body: body["breakpoint"]["id"] == number)["breakpoint"]


def test_a_line_and_a_function_of_native_code(program):
    program.launch("print", native=("fail",), functions=("held",))
    for index in (1, 2):
        breakpoint_ = refused(program, index)
        assert (breakpoint_["verified"], breakpoint_["reason"]) == (False, "failed")
        assert LACKS in breakpoint_["message"]
    stood = program.stood()
    assert program.at(stood) == "print"
    assert program.output("important").count(LACKS) == 1
    assert program.run_out(stood) == 7


def test_one_that_comes_later(program):
    stood = program.launch("print").stood()
    (answer,) = program.set_lines(program.extension, [program.native_line("fail")])
    assert (answer["verified"], answer["reason"]) == (False, "failed")
    assert LACKS in answer["message"]
    assert program.run_out(stood) == 7
