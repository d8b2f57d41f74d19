"""At a stop at a function its arguments can be read: of each unit of a library, and however it makes its frame."""

import pytest

from kit.builds import of_units
from kit.looking import looking
from kit.paths import PROGRAMS

UNITS = ("-DSLOW", "-O0"), ("-DFAST", "-O2")


@pytest.fixture
def program(tmp_path):
    with looking(of_units(PROGRAMS / "arguments_at_entry.cpp", *UNITS), tmp_path) as beginning:
        yield beginning


def test_of_an_unoptimized_unit_beside_an_optimized_one(program):
    assert program.run_to("native:plain").frame.function == "plain"
    assert program.variables() == {"scale": "2.5", "count": "3"}


def test_of_the_optimized_unit(program):
    program.run_to("native:fast")
    assert program.variables() == {"number": "2.5"}


@pytest.mark.parametrize("lanes", ["Wide", "Wider"])
def test_behind_the_alignment_of_the_stack(program, lanes):
    assert program.run_to(f"native:aligned<{lanes}>").frame.function == f"aligned<{lanes}>"
    assert program.variables() == {"scale": "2.5", "count": "3"}


def test_where_a_step_leads_to(program):
    program.run_to("native:look")
    program.over()
    program.into()
    assert program.variables() == {"scale": "2.5", "count": "3"}
