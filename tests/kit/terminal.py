"""A command in a terminal of its own, typed into and read from."""

import codecs
import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time
from pathlib import Path

import pyte

PATIENCE = 60.0
_PAUSE = 3.0
"""Seconds from one time that something is typed to the next."""


class Terminal:
    """A command in a terminal of its own."""

    def __init__(self, command, environment, columns=80, lines=24, folder="."):
        self.pid, self._terminal = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
            for name in ("COLUMNS", "LINES"):  # the terminal says it
                environment.pop(name, None)
            os.execvpe(command[0], command, environment)  # noqa: S606  (a list of arguments, no shell)
        self.text = ""
        self._decoded = codecs.getincrementaldecoder("utf-8")("surrogateescape").decode

    def wait_for(self, text):
        ends = time.monotonic() + PATIENCE
        while text not in self.text:
            assert time.monotonic() < ends, self.text
            self._read_some()

    def waits_for_either(self, text, other, count, typed):
        """Type, and wait for a text, or for the ``other`` one more often than ``count``; whether it was the first.

        Typed again after a while, as a person would: keys that come while a prompt gives the terminal back are lost.
        """
        ends, again = time.monotonic() + PATIENCE, 0.0
        while text not in self.text and self.text.count(other) <= count:
            assert time.monotonic() < ends, self.text
            if time.monotonic() > again:
                self.type(typed)
                again = time.monotonic() + _PAUSE
            self._read_some()
        return text in self.text

    def _read_some(self):
        """What comes within a second."""
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


class Window(Terminal):
    """A terminal as a person sees it: lines and columns, drawn over and over."""

    def __init__(self, command, environment, columns=80, lines=40):
        super().__init__(command, {**environment, "TERM": "xterm-256color"}, columns, lines)
        self._screen = pyte.Screen(columns, lines)
        self._stream = pyte.Stream(self._screen)

    def _read_some(self):
        before = len(self.text)
        super()._read_some()
        self._stream.feed(self.text[before:])

    @property
    def lines(self):
        """What is to be seen."""
        return [line.rstrip() for line in self._screen.display]

    def shows(self, *texts):
        """Wait until all of these are to be seen; the lines."""
        ends = time.monotonic() + PATIENCE
        while not all(text in "\n".join(self.lines) for text in texts):
            assert time.monotonic() < ends, "\n".join(self.lines)
            self._read_some()
        return self.lines

    def does(self, line, waits_for=""):
        """Type a line, and wait for what it shows and the next prompt; the lines."""
        self.type(f"{line}\r")
        self.shows(f"(ph) {line}", waits_for)
        return self.prompts()

    def prompts(self):
        """Wait until the last line is a prompt where nothing is typed; the lines."""
        ends = time.monotonic() + PATIENCE
        while [line for line in self.lines if line][-1:] != ["(ph)"]:
            assert time.monotonic() < ends, "\n".join(self.lines)
            self._read_some()
        return self.lines


def children(pid):
    """The processes that a process has started, as long as it runs."""
    try:
        return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []
