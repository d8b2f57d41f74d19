"""Frames in which nothing can stop run untraced, on the Pythons where a debugger's trace function slows each one."""

import pytest

import pyharness
from kit import needs

pytestmark = [needs.TRACE_FUNCTIONS, pytest.mark.rotated_tests(turns=2)]
QUIET = "plain False False\nplaced False False False False\ncaught False\nhere False\n"
PLACED = "plain False False\nplaced True False True False\ncaught False\nhere False\n"
LOOKED = "plain False False\nplaced False False False False\ncaught False\nhere True\n"
NUMBERS = "rest 1\n"
OWN = "own True True False\n"


def test_without_a_place_no_frame_is_traced(debugged):
    program = debugged("traced_frames.py")
    with program.start() as it:
        assert it.resume() is None
    assert program.output == f"{QUIET}{NUMBERS}{QUIET}module False\n{OWN}end\n"


def test_only_the_frames_with_a_place_are_traced(debugged):
    program = debugged("traced_frames.py")
    with program.start() as it:
        it.set_breakpoint(program.at("placed"))
        stop = it.resume()
        assert (stop.frame.line, stop.frame.function) == (program.line("placed"), "placed")
        assert program.output == f"{PLACED}{NUMBERS}{PLACED}module False\n{OWN}"
        stop = it.resume()  # beneath 50,000 frames, more than the C stack has room for
        assert (stop.frame.line, stop.frame.function) == (program.line("placed"), "placed")
        assert it.resume() is None
    assert program.output.endswith("end\n")


def test_an_exception_beneath_a_place_leaves_nothing_traced(debugged):
    """The interpreter asks for a trace function at each exception, and has its switch on from there."""
    program = debugged("traced_frames.py")
    with program.start() as it:
        it.set_breakpoint(program.at("down"))
        assert it.resume().frame.line == program.line("down")
        assert program.output == f"{QUIET}{NUMBERS}{QUIET}module True\n{OWN}"
        assert it.resume() is None


def test_what_was_stepped_through_is_untraced_when_the_program_goes_on(debugged):
    program = debugged("traced_frames.py")
    with program.start() as it:
        assert it.run_to(program.at("first")).frame.line == program.line("first")
        assert it.run_to(program.at("looked")).frame.line == program.line("looked")
        it.out()
        it.over()
        assert it.over().frame.line == program.line("second")
        assert it.resume() is None
    assert program.output == f"{LOOKED}{NUMBERS}{QUIET}module False\n{OWN}end\n"


def test_a_place_in_a_frame_that_runs_already_and_in_a_generator_that_waits(debugged):
    program = debugged("traced_frames.py")
    with program.start() as it:
        it.run_to(program.at("looked"))
        number, second = it.set_breakpoint(program.at("number")), it.set_breakpoint(program.at("second"))
        stop = it.resume()
        assert (stop.frame.line, stop.frame.function) == (program.line("number"), "numbers")
        it.clear_breakpoint(number)
        assert it.resume().frame.line == program.line("second")
        it.clear_breakpoint(second)
        assert it.resume() is None
    assert program.output == f"{LOOKED}{NUMBERS}{QUIET}module False\n{OWN}end\n"


def test_two_files_of_one_text_are_two(tmp_path):
    """Python takes code of equal text for equal, whatever file it is of."""
    for name in ("first", "second"):
        (tmp_path / f"{name}.py").write_text("def half(a):\n    b = a\n    return b\n")
    script = tmp_path / "both.py"
    script.write_text("import first, second\nfirst.half(1)\nsecond.half(2)\n")
    with pyharness.debug(str(script)) as program:
        program.run_to(f"py:{tmp_path / 'second.py'}:3")
        assert program.evaluate("a") == "2"


def test_code_that_torch_makes_while_it_stands_where_frames_begin(debugged):
    """Compiled code has places from then on: pyharness stands where frames begin before torch does."""
    program = debugged("traced_compiled.py")
    with program.start() as it:
        it.set_breakpoint("fx:mul")
        assert it.resume().frame.fx.node == "mul"
        assert it.resume().frame.fx.node == "mul"
        assert it.resume() is None
    assert program.output == "compiles False\nruns False\nafter False\n" * 2
