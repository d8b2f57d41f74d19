"""``std::span``: shown, indexed, sliced; gdb evaluates nothing for it."""

import pytest

from kit.looking import standing
from kit.paths import PROGRAMS

SHOWN = {
    "all": "std::span of length 3 = [1, 2, 3]",
    "two": "std::span of length 2 = [1, 2]",
    "none": "std::span of length 0 = []",
    "places": "std::span of length 2 = [{x = 1, y = 2}, {x = 3, y = 4}]",
    "all[1]": "2",
    "all.size() + two.size()": "5",
    "all[1:]": "[2, 3]",
    "places[1].y": "4",
}


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    with standing(PROGRAMS / "spans.cpp", tmp_path_factory.mktemp("looks")) as stopped:
        yield stopped


def test_spans(program):
    assert {each: program.evaluate(each) for each in SHOWN} == SHOWN
