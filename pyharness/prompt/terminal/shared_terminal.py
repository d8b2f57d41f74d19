"""The terminal that a program was started in, where that has opened the prompt there: both have it in turn.

The one in front reads the keys; the kernel says who that is by the process group. The program is put in front while it
runs, and everything is to it as ever: Ctrl-C is a signal to it, and what it prints goes straight to the terminal.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import termios
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from pyharness.host.terminal_turn import Turn, told
from pyharness.prompt.terminal.modes import for_lines

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterator
    from typing import TextIO

_TERMINAL = 0
_LOOKS = 0.1
"""Seconds between two looks whether another prompt still stands here."""


class SharedTerminal:
    """Made by a process that the program has just started: that leaves, and so nobody waits for this one."""

    def __init__(self, program: socket.socket) -> None:
        self.on_interrupt: Callable[[], None] = lambda: None
        """Not called: Ctrl-C is the program's while it runs."""
        self.on_quit: Callable[[], None] = lambda: None
        """Nor this."""
        self.on_gone: Callable[[], None] = lambda: None
        """The program ends and wants to be left; called on a thread of this object."""
        self.midline = False
        self._program = program
        starter, self._program_id = os.getpid(), os.getppid()
        self._gone = threading.Event()
        if os.fork():
            os._exit(0)
        _wait_for_end(starter)
        os.setpgid(0, 0)
        threading.Thread(target=self._hear, name="pyharness-terminal", daemon=True).start()
        self._turn = Turn()
        if not self._has_turn():
            raise SystemExit(0)
        self._others = os.tcgetpgrp(_TERMINAL)
        self._programs = termios.tcgetattr(_TERMINAL)
        self._own = for_lines(self._programs)
        self._take()

    def stream(self, ours: TextIO) -> int | None:
        """``None``: the program has its streams already."""
        del ours
        return None

    @contextmanager
    def lent(self) -> Iterator[None]:
        """The program is in front."""
        self._give()
        self._turn.leave()
        try:
            yield
        finally:
            if self._has_turn():
                self._programs = termios.tcgetattr(_TERMINAL)
                self._take()

    def show(self) -> None:
        """Show nothing: what the program writes goes straight to the terminal."""

    def leave(self, *, quits: bool) -> None:
        """Put the program in front for good, and tell it to wait until we are gone."""
        self._give()
        with suppress(OSError):
            self._program.sendall(b"quit" if quits else b"detach")

    def close(self) -> None:
        """Put the program in front, however we come to leave."""
        self._give()

    def _has_turn(self) -> bool:
        """Wait until no other process's prompt stands here; not where the program goes meanwhile."""
        if self._turn.take():
            return True
        os.write(_TERMINAL, told(self._program_id))
        while not self._gone.wait(_LOOKS):
            if self._turn.take():
                return True
        return False

    def _give(self) -> None:
        sys.stdout.flush()
        if self._turn.held:  # else another prompt stands here
            self._put(self._others, self._programs)

    def _take(self) -> None:
        self._put(os.getpgrp(), self._own)

    @staticmethod
    def _put(group: int, modes: list[int | list[bytes | int]]) -> None:
        """Put ``group`` in front, from behind as well; the terminal may have gone."""
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})
        try:
            with suppress(OSError, termios.error):
                os.tcsetpgrp(_TERMINAL, group)
                termios.tcsetattr(_TERMINAL, termios.TCSADRAIN, modes)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def _hear(self) -> None:
        with suppress(OSError):
            self._program.recv(1)
        self._gone.set()
        self.on_gone()


def _wait_for_end(starter: int) -> None:
    """Wait until the process that forked us is over: as long as it is our parent, the program is an ancestor."""
    with suppress(OSError):  # it is over already
        ended = os.pidfd_open(starter)
        select.select([ended], [], [])
        os.close(ended)
