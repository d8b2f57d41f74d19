"""A command in a terminal of its own, typed into and read from."""

import codecs
import contextlib
import os
import pty
import select
import signal
import time
from pathlib import Path

PATIENCE = 60.0


class Terminal:
    """A command in a terminal of its own."""

    def __init__(self, command, environment):
        self.pid, self._terminal = pty.fork()
        if self.pid == 0:
            os.execvpe(command[0], command, environment)  # noqa: S606  (a list of arguments, no shell)
        self.text = ""
        self._decoded = codecs.getincrementaldecoder("utf-8")("surrogateescape").decode

    def wait_for(self, text):
        ends = time.monotonic() + PATIENCE
        while text not in self.text:
            assert time.monotonic() < ends, self.text
            if select.select([self._terminal], [], [], 1)[0]:
                self.text += self._decoded(os.read(self._terminal, 4096))

    def type(self, text):
        os.write(self._terminal, text.encode())

    def press_ctrl_c(self):
        self.type("\x03")

    def ends(self):
        """The exit status, once all is said."""
        with contextlib.suppress(OSError):  # the terminal has no end of file
            while True:
                self.text += self._decoded(os.read(self._terminal, 4096))
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def hang_up(self):
        """Close the terminal, as a window is closed."""
        with contextlib.suppress(OSError):
            os.close(self._terminal)

    def end(self):
        """End the command and what it has started."""
        started = children(self.pid)
        self.hang_up()
        for pid in started:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError, ProcessLookupError):
            if not os.waitpid(self.pid, os.WNOHANG)[0]:
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)


def children(pid):
    """The processes that a process has started, as long as it runs."""
    try:
        return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []
