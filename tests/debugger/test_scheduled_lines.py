"""Lines that an optimizing compiler has mixed: gdb slides from each to a later one, or to another function."""

import pytest

from kit.builds import library
from kit.looking import looking
from kit.marks import line_of
from kit.paths import PROGRAMS

SOURCE = PROGRAMS / "scheduled_lines.cpp"


@pytest.fixture
def program(tmp_path):
    with looking(library(SOURCE, "-O2"), tmp_path) as beginning:
        yield beginning


@pytest.mark.parametrize(("mark", "passes"), [("turns", 2), ("widens", 2), ("moves", 6), ("writes", 6)])
def test_it_stops_there_in_each_instance_of_the_template(program, mark, passes):
    program.set_breakpoint(f"native:{SOURCE.name}:{line_of(mark, SOURCE)}")
    stops = [(stop.frame.function, stop.frame.line) for stop in iter(program.resume, None)]
    line = line_of(mark, SOURCE)
    assert stops == [("scaled<float>", line)] * passes + [("scaled<double>", line)] * passes
