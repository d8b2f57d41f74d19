"""A walk with a look at every variable: at each level of optimization something is shown of each, and gdb lives on.

Functions stand before their variables are made, and a compiler keeps them in registers, in pieces, or nowhere.
"""

import pytest

from kit.builds import library
from kit.looking import looking
from kit.marks import line_of
from kit.paths import PROGRAMS
from kit.survey import Survey

LEVELS = ("-O0", "-Og", "-O1", "-O2", "-O3")
FUNCTIONS = {
    "plain": (8, 60),
    "captured": (8, 40),
    "containers": (8, 150),
    "wrapped": (8, 200),
    "raw": (8, 300),
    "thrown": (2, 20),
}
"""With the steps that are taken before its last line, and how many variables are seen at least, in all."""
SOURCE = PROGRAMS / "every_variable.cpp"


@pytest.mark.rotated
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_each_variable_is_shown(tmp_path, level, function):
    steps, least = FUNCTIONS[function]
    with looking(library(SOURCE, level, "-std=c++23"), tmp_path) as program:
        survey = Survey(program)
        program.run_to(f"native:{function}")
        for _ in range(steps):
            survey.look()
            program.over()
        program.run_to(f"native:{SOURCE.name}:{line_of(function, SOURCE)}")
        survey.look()
    assert survey.faults == []
    assert survey.seen >= least
    assert survey.computed
