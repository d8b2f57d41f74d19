"""Into, in an extension with so many functions that where to stop in each is not known before a step."""

import pytest

from kit.builds import many_functions
from kit.marks import line_of
from kit.paths import PROGRAMS, search_path

pytestmark = pytest.mark.rotated_tests(turns=6)


SOURCE = PROGRAMS / "many_functions.c"


@pytest.fixture
def many(debugged, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", search_path(str(many_functions())))
    return debugged("many_calls.py")


def test_into_stops_where_the_parameters_can_be_read(many):
    with many.start() as program:
        program.run_to(many.at("call"))
        stop = program.into()
        assert (stop.frame.function, stop.frame.line) == ("call", line_of("call", SOURCE))
        assert program.evaluate("(long)PyLong_AsLong(argument)") == "7"
        assert program.out().frame.line == many.line("after")
        assert program.finish() == 0


def test_into_passes_functions_of_others(many):
    """The function that the interpreter calls has its source among a library's headers."""
    with many.start() as program:
        program.run_to(many.at("through"))
        stop = program.into()
        assert (stop.frame.function, stop.frame.line) == ("inner", line_of("inner", SOURCE))
        assert program.finish() == 0


def test_into_comes_again_to_what_it_has_seen(many):
    with many.start() as program:
        program.run_to(many.at("again"))
        for _ in range(2):
            assert program.into().frame.function == "call"
            program.out()
            program.run_to(many.at("again"))
        assert program.finish() == 0


def test_into_from_a_native_line(many):
    with many.start() as program:
        program.run_to(f"native:{SOURCE}:{line_of('calls', SOURCE)}")
        assert program.into().frame.function == "f5"
        assert program.finish() == 0


def test_a_recursion_stops_again(many):
    with many.start() as program:
        program.run_to(many.at("recursive"))
        depths = []
        for _ in range(3):
            assert program.into().frame.function == "recursive"
            depths.append(program.evaluate("(long)PyLong_AsLong(argument)"))
            program.over()
            program.over()
        assert depths == ["3", "2", "1"]
        assert program.finish() == 0
