"""Ctrl-C in a terminal: the program hears it as well, and may save what it has."""

import contextlib
import os
import pty
import select
import time

import pytest

from kit.command import PYHARNESS
from kit.marks import place
from kit.paths import PROGRAMS
from pyharness.host.exit_status import ExitStatus

SCRIPT = PROGRAMS / "saves.py"
PATIENCE = 60.0


class Terminal:
    """A command in a terminal of its own."""

    def __init__(self, command, environment):
        self.pid, self._terminal = pty.fork()
        if self.pid == 0:
            os.execvpe(command[0], command, environment)  # noqa: S606  (a list of arguments, no shell)
        self.text = ""

    def wait_for(self, text):
        ends = time.monotonic() + PATIENCE
        while text not in self.text:
            assert time.monotonic() < ends, self.text
            if select.select([self._terminal], [], [], 1)[0]:
                self.text += os.read(self._terminal, 4096).decode()

    def press_ctrl_c(self):
        os.write(self._terminal, b"\x03")

    def ends(self):
        """The exit status, once all is said."""
        with contextlib.suppress(OSError):  # the terminal has no end of file
            while True:
                self.text += os.read(self._terminal, 4096).decode()
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


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
