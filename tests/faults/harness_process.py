"""``pyharness ...`` as a process of its own, in step with the test."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from processes import PATIENCE, marked_with

from kit.marks import place
from kit.paths import PROGRAMS

STANDS = PROGRAMS / "fault_stands.py"
_PAUSED = str(Path(__file__).with_name("paused.py"))


def at(mark, program=STANDS):
    """The place of the line with ``@mark``."""
    return place(mark, program)


class HarnessProcess:
    """The leader of a process group, as a shell starts it; its program reads and writes the same streams."""

    def __init__(self, words, environment, *, paused=False, before=()):
        self._environment = environment
        front_door = [_PAUSED] if paused else ["-m", "pyharness"]
        self._process = subprocess.Popen(
            [*before, sys.executable, *front_door, *map(str, words)],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.pid = self._process.pid
        self.on_release = lambda: None
        self.said = ""
        """What it and the program have written to stdout."""

    def until(self, text):
        """Read its output until a line has ``text``."""
        while True:
            line = self._process.stdout.readline()
            self.said += line
            if text in line:
                return self
            assert line, f"{text!r} never came:\n{self.said}\n{self._process.stderr.read()}"

    def until_error(self, text):
        """Read what it writes to stderr until a line has ``text``; that line."""
        seen = ""
        while line := self._process.stderr.readline():
            seen += line
            if text in line:
                return line
        pytest.fail(f"{text!r} never came:\n{seen}")

    def until_standing(self):
        """Wait for the pause after the next stop."""
        return self.until("standing in")

    def go_on(self):
        """End the pause."""
        Path(self._environment["PAUSES"]).write_text("\n")
        return self

    def answer(self, text="\n"):
        """Give the program a line."""
        self._process.stdin.write(text)
        self._process.stdin.flush()
        return self

    def release(self):
        """End whatever a phase holds up."""
        self.on_release()

    def hang_up(self):
        """The program comes to the end of its input."""
        self._process.stdin.close()
        self._process.stdin = None

    def interrupt(self, number=signal.SIGINT):
        """What Ctrl-C in its terminal does: the signal goes to the whole process group."""
        os.killpg(self.pid, number)
        return self

    def signal_alone(self, number):
        """A signal to the harness and nothing else."""
        self._process.send_signal(number)

    @property
    def runs(self):
        return self._process.poll() is None

    def kill(self):
        self._process.kill()
        self._process.wait()

    def end(self):
        """Wait for its end: exit status and what was written to stderr."""
        try:
            output, errors = self._process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired as error:
            pytest.fail(f"it did not end: {self.family()}\n{self.said}{error.stdout}\n{error.stderr}")
        self.said += output
        return self._process.returncode, errors

    def family(self):
        """Everything that was started, by role: harness, program, gdb."""
        processes = marked_with(self._environment["PYHARNESS_HOME"])
        return {process.role if process.role != "other" else str(process.pid): process for process in processes}

    def abandon(self):
        family = marked_with(self._environment["PYHARNESS_HOME"])
        for process in family:
            process.kill()
        for process in family:
            if process.pid != self.pid:  # which is our child, and waited for below
                process.wait_for_end()
        self._process.communicate(timeout=PATIENCE)
