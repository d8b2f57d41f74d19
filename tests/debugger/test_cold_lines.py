"""Lines that an optimizing compiler puts before their function: gdb would stop where the function begins, or never."""

import pytest

from kit.builds import library
from kit.looking import looking
from kit.marks import line_of
from kit.paths import PROGRAMS

SOURCE = PROGRAMS / "cold_lines.cpp"
FUNCTIONS = {
    "asks": "(anonymous namespace)::checked",
    "throws": "(anonymous namespace)::checked",
    "counts": "look",
}


def place(mark):
    return f"native:{SOURCE.name}:{line_of(mark, SOURCE)}"


@pytest.fixture
def program(tmp_path):
    with looking(library(SOURCE, "-O2"), tmp_path) as beginning:
        yield beginning


@pytest.mark.parametrize("mark", FUNCTIONS)
def test_each_line_is_where_the_program_stops(program, mark):
    stop = program.run_to(place(mark))
    assert (stop.frame.function, stop.frame.line) == (FUNCTIONS[mark], line_of(mark, SOURCE))


def test_a_line_without_code_slides_to_the_next_that_has_some(program):
    assert program.run_to(place("returns")).frame.line == line_of("returns", SOURCE) + 1


def test_the_line_of_a_catch_whose_code_begins_no_statement(program):
    program.set_breakpoint(place("catches"))
    assert [stop.frame.line for stop in iter(program.resume, None)] == [line_of("catches", SOURCE)] * 3


def test_it_stops_there_each_time_and_nowhere_else(program):
    program.set_breakpoint(place("throws"))
    program.set_breakpoint(f"{place('counts')} hits >= 2")
    throws, counts = line_of("throws", SOURCE), line_of("counts", SOURCE)
    assert [stop.frame.line for stop in iter(program.resume, None)] == [throws, throws, counts, throws, counts]


def test_a_condition_is_tested_there(program):
    stop = program.run_to(f"{place('asks')} if numbers[1] == -2")
    assert stop.frame.line == line_of("asks", SOURCE)
    assert program.evaluate("numbers[1]") == "-2"
