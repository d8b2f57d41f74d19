"""A command in a terminal of its own, typed into and read from."""

import contextlib
import os
import pty
import select
import time

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

    def type(self, text):
        os.write(self._terminal, text.encode())

    def press_ctrl_c(self):
        self.type("\x03")

    def ends(self):
        """The exit status, once all is said."""
        with contextlib.suppress(OSError):  # the terminal has no end of file
            while True:
                self.text += os.read(self._terminal, 4096).decode()
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
