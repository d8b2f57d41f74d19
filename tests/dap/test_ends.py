"""Terminate, restart and disconnect do what they say, wherever the program is."""

import pytest
from debugging import Debugging
from states import says

pytestmark = pytest.mark.rotated_tests(turns=5)


PLACES = [
    pytest.param({}, id="running"),
    pytest.param({"marks": ("works",)}, id="standing in Python"),
    pytest.param({"native": ("scaled",)}, id="standing in native code"),
]


def begun(dap, place, *words):
    program = Debugging(dap.stdio(), "ends_tidily.py")
    program.launch(*place.get("marks", ()), native=place.get("native", ()), args=list(words))
    says(program.client, "works")
    if place:
        program.stood()
    return program


def clear(program):
    program.set_lines(program.script, [])
    program.set_lines(program.extension, [])


@pytest.mark.rotated
@pytest.mark.parametrize("place", PLACES)
def test_terminate_lets_the_program_tidy_up(dap, place):
    program = begun(dap, place)
    clear(program)  # it may come there once more before it hears
    program.client.request("terminate")
    says(program.client, "tidied")
    assert program.run_out() == 5
    program.leave()


@pytest.mark.rotated
@pytest.mark.parametrize("place", PLACES)
def test_a_program_that_stays_is_ended_by_disconnect(dap, place):
    program = begun(dap, place, "stays")
    clear(program)
    program.client.request("terminate")
    says(program.client, "asked")
    assert program.client.request("threads")["threads"]
    program.leave()
    assert not dap.wait_gone()


def test_restart_runs_the_same_again_with_its_breakpoints(dap):
    program = Debugging(dap.stdio(), "core_crossing.py").launch("held", native=("scaled",))
    first = program.run_on(program.stood())
    assert first.function == "crossing::scaled"
    program.client.request("restart")
    second = program.stood()
    assert (second.function, program.at(second)) == ("main", "held")
    assert second.thread != first.thread
    assert program.run_on(second).function == "crossing::scaled"
    program.leave()


def test_restart_after_the_end(dap):
    program = Debugging(dap.stdio(), "plain_lines.py").launch("print")
    assert program.run_out(program.stood()) == 3
    program.client.request("restart")
    assert program.at(program.stood()) == "print"
    program.leave()


def test_what_ends_by_itself_is_told_with_its_code(dap):
    program = Debugging(dap.stdio(), "plain_lines.py").launch()
    assert program.run_out() == 3
    assert program.output() == "total -3\n"
    assert "No program is being debugged" in program.client.refused("threads")
    program.leave()
