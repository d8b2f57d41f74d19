"""Variables that optimized code keeps in pieces: gdb ends where it follows a reference in one, or computes with one."""

import pytest

from kit.looking import standing
from kit.paths import PROGRAMS
from pyharness.model.errors import HarnessError

SOURCE = PROGRAMS / "in_pieces.cpp"


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    with standing(SOURCE, tmp_path_factory.mktemp("looks"), "-O2") as stopped:
        yield stopped


def test_all_variables_of_the_frame_are_shown(program):
    shown = program.variables()
    assert "scale = " in shown["view"]
    assert "sum = " in shown["view"]
    assert "count = " in shown["lambda"]
    assert shown["numbers"].startswith("std::vector of length 3")


def test_members_can_be_computed_with(program):
    values = {"view.scale": "6", "view.scale * 2": "12", "(int)view.scale": "6", "view.sum + view.scale": "7.5"}
    assert {each: program.evaluate(each) for each in (*values, "used(view.scale)")} == {
        **values,
        "used(view.scale)": "7",
    }


@pytest.mark.parametrize("expression", ["view.numbers", "view.numbers[0]", "view.numbers.size()"])
def test_a_reference_to_what_has_no_address_is_no_end_of_gdb(program, expression):
    try:
        program.evaluate(expression)
    except HarnessError as error:
        assert "view.numbers is a reference to what is in no memory." in str(error)  # noqa: PT017  (it may be in some)
    assert program.evaluate("1 + 1") == "2"
