"""A program that runs by itself: under a handle, or started by somebody who never heard of us."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from kit.command import PYHARNESS
from kit.marks import place
from kit.paths import PROGRAMS
from kit.processes import ends_within

PATIENCE = 60


class Running:
    """One of tests/programs, its input open; ends with the test at the latest."""

    def __init__(self, script, *arguments, handle="", python=sys.executable, env=None):
        self.script = str(PROGRAMS / script)
        front = [*PYHARNESS, "run", "--name", handle, "--python", python] if handle else [python]
        self._process = subprocess.Popen(
            [*front, self.script, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=env,
            start_new_session=True,
        )
        self.pid = self._process.pid
        self.said = ""
        self.until("begin")

    def until(self, text):
        while text not in self.said:
            line = self._process.stdout.readline()
            assert line, f"{text!r} never came: {self.said}\n{self._process.stderr.read()}"
            self.said += line
        return self

    def say(self, text):
        self._process.stdin.write(text)
        self._process.stdin.flush()

    def hang_up(self):
        """Its input ends."""
        self._process.stdin.close()
        self._process.stdin = None

    def at(self, mark):
        return place(mark, self.script)

    def end(self):
        """End its input; exit code and what was written to stdout and stderr."""
        try:
            output, errors = self._process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"it does not end:\n{self.stands()}") from None
        self.said += output
        return self._process.returncode, self.said, errors

    def ends_free(self):
        """It ends as it would have, with nothing of a debugger left in it."""
        code, output, errors = self.end()
        assert (code, output.splitlines()[-1]) == (7, "left None"), f"{code}\n{output}\n{errors}"

    def kill(self):
        if self._process.poll() is None:
            os.killpg(self.pid, signal.SIGKILL)
        self._process.communicate(timeout=PATIENCE)

    def lives(self):
        """The program itself, which runs; else the test fails by how the program ended."""
        code = self._process.poll()
        assert code is None, f"it has ended with {code}: {self.said}\n{self._process.stderr.read()}"
        return self

    def stands(self):
        """Where it is, for a test that fails."""
        seen = subprocess.run([*PYHARNESS, "stack", str(self.pid)], capture_output=True, text=True, check=False)
        return Path(f"/proc/{self.pid}/status").read_text() + seen.stdout + seen.stderr

    @property
    def tasks(self):
        return len(list(Path(f"/proc/{self.pid}/task").iterdir()))

    def wait_for_threads(self, most):
        """Until no more than ``most`` are left: a thread that ends tells nobody."""
        while self.tasks > most:
            time.sleep(0.01)

    @property
    def files(self):
        return len(list(Path(f"/proc/{self.pid}/fd").iterdir()))


def handles():
    """What ``pyharness run --list`` shows."""
    command = [*PYHARNESS, "run", "--list", "--json"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(listed.stdout)["handles"]


def wait_for_end(pid):
    """Wait until a process that need not be a child is gone."""
    assert ends_within(pid, PATIENCE), f"process {pid} did not end"
