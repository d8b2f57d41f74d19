"""Ctrl-C in a terminal: the program hears it as well, and may save what it has."""

import pytest

from kit.command import PYHARNESS
from kit.marks import place
from kit.paths import PROGRAMS
from kit.terminal import Terminal
from pyharness.host.exit_status import ExitStatus

SCRIPT = PROGRAMS / "saves.py"


@pytest.fixture
def step(environment):
    return Terminal([*PYHARNESS, "step", str(SCRIPT), "--at", place("work", SCRIPT)], environment)


def test_the_program_saves(step):
    step.wait_for("1  breakpoint")
    step.press_ctrl_c()
    assert step.ends() == ExitStatus.INTERRUPTED
    assert "saved" in step.text.split()


def test_another_one_ends_it(step):
    step.wait_for("1  breakpoint")
    step.press_ctrl_c()
    step.wait_for("saving")
    step.press_ctrl_c()
    assert step.ends() == ExitStatus.INTERRUPTED
    assert "saved" not in step.text.split()
