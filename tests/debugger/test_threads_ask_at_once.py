"""Threads of a program that ask the controller at once: each gets its own answer."""

import pytest

import pyharness
from kit.paths import PROGRAMS

pytestmark = pytest.mark.rotated_tests(turns=5)


SCRIPT = "ops_at_once.py"
LAST = "op:aten::sin hits 400"
"""The last call of the last of its threads: none of them may wait for ever, and no call may be missed."""


def test_of_a_program_that_was_started():
    with pyharness.debug(str(PROGRAMS / SCRIPT)) as program:
        assert program.run_to(LAST).frame.function == "aten::sin"
        assert program.finish() == 7


@pytest.mark.parametrize("how", [{"handle": "crowd"}, {}], ids=["by handle", "by pid"])
def test_of_a_program_that_was_attached_to(running, how):
    crowd = running(SCRIPT, **how)
    with pyharness.attach(how.get("handle") or crowd.pid) as program:
        program.set_breakpoint(LAST)
        crowd.say("go\n")
        assert program.resume().frame.function == "aten::sin"
    crowd.ends_free()
