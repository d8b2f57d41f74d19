"""The debugger's side of the program's terminal: who has the keys, and what is typed to interrupt."""

from __future__ import annotations

import os
import pty
import queue
import socket
import sys
import termios
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from pyharness.host.descriptors import above_streams
from pyharness.prompt.terminal.keeper import Keeper, settings_of
from pyharness.prompt.terminal.modes import copy_size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TextIO

_PATIENCE = 2.0
"""Seconds that the keeper may take to answer."""


class ProgramTerminal:
    """A terminal for programs that are started one after the other; made before this process has any thread."""

    def __init__(self) -> None:
        self.on_interrupt: Callable[[], None] = lambda: None
        """Ctrl-C while the program runs; called on a thread of this object."""
        self.on_quit: Callable[[], None] = lambda: None
        """Ctrl-\\ likewise."""
        self.on_gone: Callable[[], None] = lambda: None
        """The terminal has gone; called likewise."""
        self.midline = False
        """Whether the program's output had not ended its line at the last stop."""
        terminal = above_streams(os.open(os.ttyname(0), os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC))
        master, slave = map(above_streams, pty.openpty())
        termios.tcsetattr(slave, termios.TCSANOW, settings_of(terminal))
        copy_size(terminal, master)
        ours, theirs = socket.socketpair()
        self.keeper = os.fork()
        if self.keeper == 0:
            ours.close()
            _keep(Keeper(master, _another(slave), theirs, terminal))
        theirs.close()
        os.close(master)
        os.close(terminal)
        self._slave = slave
        self._control = ours
        self._answers: queue.SimpleQueue[str] = queue.SimpleQueue()
        threading.Thread(target=self._hear, name="pyharness-terminal", daemon=True).start()

    def stream(self, ours: TextIO) -> int | None:
        """What a program gets in place of one of our streams: its terminal, or ours where it is none."""
        return self._slave if ours.isatty() else None

    @contextmanager
    def lent(self) -> Iterator[None]:
        """The program has the keys, and shows what it writes at once."""
        sys.stdout.flush()
        self._say("run")
        try:
            yield
        finally:
            self._say("hold")
            self.midline = self._answer() == "midline"

    def show(self) -> None:
        """Show what threads that still run have written meanwhile."""
        self._say("show")
        self._answer()

    def leave(self, *, quits: bool) -> None:
        """Nothing is to be done: who holds the keys is the keeper's to know."""

    def close(self) -> None:
        """Leave the terminal to what still writes to it."""
        os.close(self._slave)
        self._control.close()

    def _say(self, word: str) -> None:
        with suppress(OSError):
            self._control.sendall(f"{word}\n".encode())

    def _answer(self) -> str:
        with suppress(queue.Empty):
            return self._answers.get(timeout=_PATIENCE)
        return ""

    def _hear(self) -> None:
        with suppress(OSError), self._control.makefile("r") as words:
            for word in map(str.strip, words):
                if word == "interrupt":
                    self.on_interrupt()
                elif word == "quit":
                    self.on_quit()
                elif word == "gone":
                    self.on_gone()
                else:
                    self._answers.put(word)


def _another(slave: int) -> int:
    """Our own end, whose modes are not those of the program's: it never waits."""
    own = above_streams(os.open(os.ttyname(slave), os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC))
    os.close(slave)
    return own


def _keep(keeper: Keeper) -> None:
    """What the forked process does; it never returns."""
    try:
        for stream in range(3):  # whoever reads our output from a pipe shall not wait for us
            os.dup2(os.open(os.devnull, os.O_RDWR), stream)
        keeper.serve()
    finally:
        os._exit(0)
