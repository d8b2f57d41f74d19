"""A program that computes lets a debugger in soon: its threads take short turns meanwhile, and their own after that."""

import sys

import pytest

import pyharness
from pyharness.debuggee.link.short_turns import short_turns


@pytest.fixture
def usual():
    before = sys.getswitchinterval()
    sys.setswitchinterval(0.004)
    yield pytest.approx(0.004)
    sys.setswitchinterval(before)


def test_a_program_that_computes_takes_short_turns_while_the_debugger_comes_and_its_own_after_that(running):
    program = running("attach_turns.py")
    with pyharness.attach(program.pid) as attached:
        assert attached.run_to(program.at("after")) is not None
        assert attached.evaluate("sorted(seen)") == "[0.0001, 0.003]"
        assert attached.evaluate("now") == "0.003"
    program.end()


def test_the_turns_are_as_before_when_the_last_has_what_it_wants(usual):
    with short_turns():
        with short_turns():
            assert sys.getswitchinterval() == pytest.approx(0.0001)
        assert sys.getswitchinterval() == pytest.approx(0.0001)
    assert sys.getswitchinterval() == usual


@pytest.mark.usefixtures("usual")
def test_what_the_program_chooses_meanwhile_stays():
    with short_turns():
        sys.setswitchinterval(0.002)
    assert sys.getswitchinterval() == pytest.approx(0.002)


@pytest.mark.usefixtures("usual")
def test_turns_that_are_shorter_still_stay():
    sys.setswitchinterval(1e-5)
    with short_turns():
        assert sys.getswitchinterval() == pytest.approx(1e-5)
