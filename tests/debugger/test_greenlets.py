"""Places and steps in greenlets: each has a stack of its own, and switches between them are no calls."""

import pytest

import pyharness

PROGRAM = """\
import greenlet
def other(value):
    while True:
        more = value + 1  # inner
        value = outer.switch(more)
outer = greenlet.getcurrent()
inner = greenlet.greenlet(other)
a = inner.switch(1)
b = inner.switch(2)
c = inner.switch(3)
end = 1
"""
INNER = 4


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return path


def test_a_line_behind_a_switch(script):
    with pyharness.debug(str(script)) as program:
        assert program.run_to(f"py:{script}:9").frame.line == 9
        assert program.over().frame.line == 10
        assert program.finish() == 0


def test_a_line_in_both(script):
    with pyharness.debug(str(script)) as program:
        for line in (INNER, 10):
            program.set_breakpoint(f"py:{script}:{line}")
        assert [program.resume().frame.line for _ in range(4)] == [INNER, INNER, 10, INNER]
        assert program.evaluate("value") == "3"
        assert program.finish() == 0


def test_a_line_in_one_that_is_suspended_when_the_place_is_set(script):
    with pyharness.debug(str(script)) as program:
        program.run_to(f"py:{script}:9")
        stop = program.run_to(f"py:{script}:{INNER}")
        assert (stop.frame.function, stop.frame.line) == ("other", INNER)
        assert program.evaluate("value") == "2"
        assert program.finish() == 0
