"""A line whose code is all inlined from elsewhere has no row of its own: a breakpoint there stops, at each pass."""

import pytest

from kit.builds import library
from kit.looking import looking
from kit.marks import line_of
from kit.paths import PROGRAMS

SOURCE = PROGRAMS / "inlined_lines.cpp"
PASSES = {"inserts": 8, "keeps": 5}


def place(mark):
    return f"native:{SOURCE.name}:{line_of(mark, SOURCE)}"


@pytest.fixture
def program(tmp_path):
    with looking(library(SOURCE, "-O2", "-std=c++20"), tmp_path) as beginning:
        yield beginning


@pytest.mark.parametrize("mark", PASSES)
def test_it_stops_once_a_pass(program, mark):
    program.set_breakpoint(place(mark))
    stops = [(stop.frame.function, stop.frame.line) for stop in iter(program.resume, None)]
    assert {function.partition("<")[0] for function, _ in stops} == {"(anonymous namespace)::sampled"}
    assert [line for _, line in stops] == [line_of(mark, SOURCE)] * PASSES[mark]


def test_a_line_before_it_slides_there(program):
    assert program.run_to(place("reads")).frame.line == line_of("inserts", SOURCE)


@pytest.mark.parametrize("mark", ["inserts", "sizes"])
def test_a_condition_knows_the_variables_of_the_line(program, mark):
    """The other line has rows, and begins with what is inlined."""
    stop = program.run_to(f"{place(mark)} if index == 3")
    assert (stop.frame.line, program.evaluate("index")) == (line_of(mark, SOURCE), "3")


def test_a_typo_in_a_condition_is_found_before(program):
    with pytest.raises(Exception, match='does not parse: No symbol "idnex"'):
        program.run_to(f"{place('inserts')} if idnex == 3")


def test_steps_go_on_from_there(program):
    program.run_to(place("keeps"))
    frames = [program.over().frame for _ in range(2)]  # the first may end behind what is inlined, at the same line
    assert {frame.function.partition("<")[0] for frame in frames} == {"(anonymous namespace)::sampled"}
    assert frames[-1].line != line_of("keeps", SOURCE)
