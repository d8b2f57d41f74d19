"""Steps that a C++ exception passes by end where it is caught, in C++ or in Python."""

from pathlib import Path

import pytest

from kit.builds import crossing as built
from kit.marks import line_of
from kit.paths import PROGRAMS, search_path

pytestmark = pytest.mark.rotated_tests(turns=6)


SOURCE = PROGRAMS / "throwing.cpp"
THROWER = "native:throwing::thrower"
OUTPUT = ["-1", "-2", "caught negative", "-1", "end"]


@pytest.fixture
def throws(debugged, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", search_path(str(built("throwing", SOURCE))))
    return debugged("throws.py")


def place(stop):
    return (stop.reason, Path(stop.frame.file).name, stop.frame.line)


def native(mark):
    return ("step", SOURCE.name, line_of(mark, SOURCE))


@pytest.mark.parametrize("leave", ["out", "over"])
def test_a_handler_of_a_caller(throws, leave):
    with throws.start() as program:
        program.run_to(THROWER if leave == "out" else f"native:{SOURCE}:{line_of('throws', SOURCE)}")
        assert place(getattr(program, leave)()) == native("caught")
        assert program.finish() == 0
    assert throws.output.splitlines() == OUTPUT


def test_into_goes_on_to_it(throws):
    with throws.start() as program:
        program.run_to(f"native:{SOURCE}:{line_of('throws', SOURCE)}")
        assert place(program.into()) == native("caught")
        assert program.finish() == 0


def test_a_handler_of_a_callee_is_passed(throws):
    with throws.start() as program:
        program.run_to("native:throwing::inside")
        assert place(program.over()) == native("behind")
        assert program.finish() == 0
    assert throws.output.splitlines() == OUTPUT


def test_a_handler_in_python(throws):
    """The C++ caller of the function that is left has none: it is left, too."""
    with throws.start() as program:
        program.run_to(throws.at("call"))
        program.run_to(THROWER)
        stop = program.out()
        assert stop.frame.language == "python"
        assert stop.frame.line in {throws.line("call"), throws.line("call") + 1, throws.line("caught")}
        assert program.finish() == 0
    assert throws.output.splitlines() == OUTPUT


def test_going_on_stops_at_no_handler(throws):
    with throws.start() as program:
        program.run_to(THROWER)
        program.out()
        assert program.finish() == 0
    assert throws.output.splitlines() == OUTPUT


@pytest.mark.parametrize("leave", ["out", "over"])
def test_a_step_that_has_ended_stops_at_no_handler(throws, leave):
    """The function that it left is over: what is caught later is none of its business."""
    with throws.start() as program:
        program.run_to("native:throwing::inside")
        assert place(program.over()) == native("behind")
        while (stop := getattr(program, leave)()).frame.language == "native":
            pass
        assert stop.frame.language == "python"
        assert place(program.run_to(throws.at("end"))) == ("breakpoint", "throws.py", throws.line("end"))
        assert program.finish() == 0
    assert throws.output.splitlines() == OUTPUT


def test_each_of_several_steps_ends_where_its_own_function_catches(throws):
    """gdb arms the next step where one has ended: what was armed for the first would be a callee's, or a caller's."""
    with throws.start() as program:
        program.run_to("native:throwing::inside")
        assert place(program.into()) == native("catches")
        assert place(program.over()) == native("caught")
        assert place(program.over())[:2] == ("step", SOURCE.name)
        stops = [program.over() for _ in range(3)]
        assert native("behind") in map(place, stops)
        assert native("caught") not in map(place, stops)
        assert program.finish() == 0
    assert throws.output.splitlines() == OUTPUT


def test_a_handler_deeper_than_a_function_that_was_returned_to_is_passed(throws):
    """Steps went on from a callee to its caller: the next one is the caller's, whose callees catch for themselves."""
    with throws.start() as program:
        program.run_to("native:throwing::first")
        for mark in ("second", "first_ends", "twice", "thrice", "last"):
            assert place(program.over()) == native(mark), mark
        assert program.finish() == 0


def test_the_step_behind_an_out_ends_where_its_own_function_catches(throws):
    """gdb arms it where the way out has ended: what was armed for that counted in callers alone."""
    with throws.start() as program:
        program.run_to("native:throwing::own")
        program.run_to("native:throwing::first")
        assert place(program.out()) == native("before")
        assert place(program.over()) == native("throws_here")
        assert place(program.over()) == native("caught_here")
        assert program.finish() == 0


def test_the_step_behind_an_out_passes_handlers_of_callees(throws):
    with throws.start() as program:
        program.run_to("native:throwing::first")
        assert place(program.out())[:2] == ("step", SOURCE.name)
        for mark in ("twice", "thrice", "last"):
            assert place(program.over()) == native(mark), mark
        assert program.finish() == 0
