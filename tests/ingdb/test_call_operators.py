"""Objects that an expression calls: gdb 13 has no call operator, and gdb 16 ends of one that is inlined."""

import pytest

from kit.looking import standing
from kit.paths import PROGRAMS
from pyharness.model.errors import HarnessError

SOURCE = PROGRAMS / "call_operators.cpp"
VALUES = {
    "adds(1)": "2",
    "adds (1)": "2",
    "holder.adds(4)": "5",
    "several[1](5)": "6",
    "(*holder.pointer)(6)": "7",
    "adds(1) * 2 + plain(adds(3))": "8",
    "holder.method(3)": "3",
    "plain(2)": "2",
    "(float)(3)": "3",
    "sizeof(adds)": "1",
    '"adds(1)"': '"adds(1)"',
}


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    with standing(SOURCE, tmp_path_factory.mktemp("looks")) as stopped:
        yield stopped


def test_what_is_called(program):
    assert {each: program.evaluate(each) for each in VALUES} == VALUES


@pytest.mark.parametrize("expression", ["inlined(1)", "lambda(1)", "2 * inlined(1)", "lambda(inlined(1))"])
def test_what_has_no_code_of_its_own(program, expression):
    with pytest.raises(HarnessError, match="may be inlined"):
        program.evaluate(expression)
