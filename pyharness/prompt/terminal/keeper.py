"""The process that keeps a program's terminal: what the program writes goes to ours, what is typed goes to it.

Only while the program runs: at a stop the keys are the prompt's, and what other threads of the program still write is
kept until the next command. It is a process of its own, so that the program has its terminal also when the debugger
is gone, and its thread that reads keys waits for nothing that the debugger does.
"""

from __future__ import annotations

import os
import select
import signal
import termios
from contextlib import suppress
from typing import TYPE_CHECKING

from pyharness.prompt.terminal.modes import Modes, copy_size, signals_of_keys

if TYPE_CHECKING:
    import socket

_CHUNK = 1 << 16
_MOST_KEPT = 1 << 20
"""Bytes that are kept at a stop; a program that writes more waits, as at Ctrl-S."""
_DRAIN_SECONDS = 0.5
_POLL_IN = select.POLLIN | select.POLLHUP | select.POLLERR


class Keeper:
    """Serves until the program's end, or for as long as any process has the terminal where the debugger has gone."""

    def __init__(self, master: int, slave: int, control: socket.socket, terminal: int) -> None:
        self._master = master
        self._slave = slave
        """Our own end of what the program writes to: marks where its output has come to, and keeps it open."""
        self._control = control
        self._terminal = terminal
        self._modes = Modes(terminal)
        self._runs = False
        self._kept = b""
        self._at_line_start = True
        self._marks = 0
        self._over = False
        self._debugger = True

    def serve(self) -> None:
        """Relay, and do what the debugger says."""
        for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTTOU, signal.SIGPIPE):
            signal.signal(number, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGWINCH, lambda *_: copy_size(self._terminal, self._master))
        os.set_blocking(self._slave, False)
        while not self._over:
            self._turn()
        self._modes.restore()

    def _turn(self) -> None:
        ready = self._ready()
        if self._master in ready:
            self._show(self._read_master())
        if self._runs and self._terminal in ready:
            self._on_keys()
        if self._debugger and self._control.fileno() in ready:
            self._on_word()

    def _ready(self) -> set[int]:
        poll = select.poll()
        if self._runs or not self._debugger or len(self._kept) < _MOST_KEPT:
            poll.register(self._master, _POLL_IN)
        if self._runs:
            poll.register(self._terminal, _POLL_IN)
        if self._debugger:
            poll.register(self._control, _POLL_IN)
        return {descriptor for descriptor, _ in poll.poll()}

    # --- what the program writes --------------------------------------------------------------------------------------

    def _read_master(self) -> bytes:
        try:
            data = os.read(self._master, _CHUNK)
        except OSError:  # nobody has the program's terminal any more
            data = b""
        self._over = self._over or not data
        return data

    def _show(self, data: bytes) -> None:
        if self._debugger and not self._runs:
            self._kept += data
        elif data:
            self._modes.follow(self._master)
            self._write(data)

    def _write(self, data: bytes) -> None:
        if data:
            self._at_line_start = data.endswith((b"\n", b"\r\x1b[K"))
        with suppress(OSError):  # the terminal has gone: the program runs on, as under nohup
            while data:
                data = data[os.write(self._terminal, data) :]

    def _drain(self) -> None:
        """Show all that was written up to now: a mark of ours comes behind it."""
        self._marks += 1
        mark = f"\x1b]7777;{os.getpid()}.{self._marks}\x07".encode()
        waiting, seen = mark, b""
        while mark not in seen:
            if waiting:
                with suppress(BlockingIOError):
                    waiting = waiting[os.write(self._slave, waiting) :]
            ready, _, _ = select.select([self._master], [], [], _DRAIN_SECONDS)
            if not ready:  # the program has stopped its output, as by Ctrl-S
                break
            seen += self._read_master()
        self._modes.follow(self._master)
        self._write(seen.replace(mark, b""))

    # --- what is typed ------------------------------------------------------------------------------------------------

    def _on_keys(self) -> None:
        try:
            keys = os.read(self._terminal, _CHUNK)
        except OSError:
            keys = b""
        if not keys:
            self._runs = False
            self._tell(b"gone\n")
            return
        interrupt, suspend, leave = self._modes.keys
        if interrupt and interrupt in keys:
            self._tell(b"interrupt\n" * keys.count(interrupt))
            keys = keys.replace(interrupt, b"")
        if suspend and suspend in keys:
            keys = keys.replace(suspend, b"")
            self._suspend()
        if leave and leave in keys and signals_of_keys(self._master):
            self._tell(b"quit\n")  # the program may be in no group that this terminal could send it to
            keys = keys.replace(leave, b"")
        with suppress(OSError):
            os.write(self._master, keys)

    def _suspend(self) -> None:
        """Ctrl-Z: the debugger, we and so the terminal are the shell's, until it says otherwise."""
        self._modes.restore()
        os.killpg(0, signal.SIGTSTP)
        copy_size(self._terminal, self._master)
        self._modes.relay()

    # --- what the debugger says ---------------------------------------------------------------------------------------

    def _on_word(self) -> None:
        words = b""
        with suppress(OSError):
            words = self._control.recv(_CHUNK)
        for word in words.split():
            self._do(word)
        if not words:
            self._left_alone()

    def _do(self, word: bytes) -> None:
        if word == b"run":
            self._flush()
            self._modes.relay()
            self._runs = True
        elif word == b"hold":
            self._drain()
            self._runs = False
            self._modes.restore()
            self._tell(b"held\n" if self._at_line_start else b"midline\n")
            self._at_line_start = True
        elif word == b"show":
            self._flush()
            self._tell(b"held\n")

    def _flush(self) -> None:
        kept, self._kept = self._kept, b""
        self._write(kept)

    def _tell(self, word: bytes) -> None:
        with suppress(OSError):
            self._control.sendall(word)

    def _left_alone(self) -> None:
        """The debugger has gone: what still has the terminal writes to it until its end, and nothing is typed to it."""
        self._debugger = self._runs = False
        self._modes.restore()
        self._flush()
        os.close(self._slave)


def settings_of(terminal: int) -> list[int | list[bytes | int]]:
    """What a program's terminal begins with: the modes of ours, whose lines we end."""
    modes = termios.tcgetattr(terminal)
    modes[1] &= ~termios.ONLCR
    return modes
