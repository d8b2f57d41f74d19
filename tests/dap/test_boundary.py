"""Breakpoints and steps across the boundary of the languages, on an extension that is not ours."""

import pytest
from debugging import EXTENSION, Debugging

pytestmark = pytest.mark.rotated_tests(turns=5)


def test_into_over_and_out_of_native_code(dap):
    program = Debugging(dap.stdio(), "core_crossing.py").launch("held", crashes=False)
    stood = program.stood()
    assert (stood.reason, stood.function, program.at(stood)) == ("breakpoint", "main", "held")
    assert stood.body["hitBreakpointIds"] == [program.breakpoints[0]["id"]]
    stood = program.into(stood)
    assert (stood.reason, stood.function, stood.file) == ("step", "crossing::held", EXTENSION)
    stood = program.into(stood)
    assert (stood.reason, stood.function, program.at(stood)) == ("step", "crossing::scaled", "scaled")
    assert program.at(program.over(stood)) == "scaled_return"
    stood = program.out(stood)
    assert stood.function == "crossing::held"
    stood = program.out(stood)
    assert (stood.reason, stood.function, program.at(stood)) == ("step", "main", "released")
    program.leave()


def test_breakpoints_in_both_languages_are_met_in_the_order_of_the_program(dap):
    program = Debugging(dap.stdio(), "core_crossing.py").launch("held", "local", native=("call", "call_return", "tick"))
    stood, met = program.stood(), []
    while stood.function != "crossing::tick":  # its breakpoint moves to the line that has code
        met.append(program.at(stood))
        stood = program.run_on(stood)
    assert met == ["held", "call", "local", "call_return"]
    stack = [frame["name"] for frame in program.stack(stood.thread)]
    assert stack[:2] == ["crossing::tick", "crossing::repeat"]
    assert "main" in stack[2:]
    program.set_lines(EXTENSION, [])
    assert program.run_out(stood) == 7
    assert program.output().startswith("3 7 ")
    program.leave()


def test_a_callback_is_left_into_the_native_code_that_called(dap):
    program = Debugging(dap.stdio(), "core_crossing.py").launch("local")
    stack = program.stack(program.stood().thread)
    names = [frame["name"] for frame in stack]
    assert names[0] == "local"
    assert names.index("crossing::call") < names.index("main")
    program.leave()


def test_each_frame_shows_its_own_variables(dap):
    program = Debugging(dap.stdio(), "core_crossing.py").launch(native=("scaled_return",))
    stood = program.stood()
    assert program.variables(stood.frame)["result"]["value"] == "2"
    assert program.evaluate("value * 10 + factor", stood.frame) == "12"
    assert program.evaluate("(&value)[0:1]", stood.frame) == "[1]"
    caller = program.stack(stood.thread)[1]
    assert caller["name"] == "crossing::held"
    assert program.evaluate("value", caller["id"]) == "1"
    program.leave()


def test_a_python_frame_is_read_while_native_code_holds_the_gil(dap):
    program = Debugging(dap.stdio(), "core_crossing.py").launch("print", native=("held_return",))
    stood = program.run_on(program.run_on(program.stood()))  # the comprehension's second
    python = next(frame for frame in program.stack(stood.thread) if frame["name"] == "main")
    values = program.variables(python["id"])
    assert (values["a"]["value"], values["b"]["value"]) == ("3", "7")
    program.leave()


def test_what_is_gone_is_said_to_be(dap):
    program = Debugging(dap.stdio(), "core_crossing.py").launch("held")
    stood = program.stood()
    assert "There is no frame 99" in program.client.refused("scopes", frameId=99)
    assert "variables 99" in program.client.refused("variables", variablesReference=99)
    assert "is not stopped" in program.client.refused("next", threadId=1)
    program.over(stood)
    assert program.client.refused("evaluate", expression="1", frameId=99)
    program.leave()
