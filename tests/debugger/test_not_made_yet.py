"""A variable that is not made yet, or destroyed, neither holds gdb up nor hides what is beside it."""

import re

import pytest

from kit.looking import standing
from kit.paths import PROGRAMS
from kit.survey import Survey

TOO_LONG = "not read in"


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    with standing(PROGRAMS / "not_made_yet.cpp", tmp_path_factory.mktemp("looks")) as stopped:
        yield stopped


def test_the_others_are_shown_beside_a_circle(program):
    shown = program.variables()
    assert TOO_LONG in shown["circular"]
    assert TOO_LONG in shown["holder"]
    assert "_M_manager" in shown["unmade"]
    assert re.match(r"<corrupt: a length of \d{10,}> <the container cannot be read", shown["hashed"])
    assert shown["number"] == "7"


def test_what_it_expands_into_ends(program):
    survey = Survey(program)
    survey.look()
    assert survey.faults == []
    assert survey.seen


def test_an_expression_says_so_and_gdb_goes_on(program):
    assert TOO_LONG in program.evaluate("circular")
    assert program.evaluate("holder.after") == "7"
    assert program.evaluate("circular.size()") == "3"
