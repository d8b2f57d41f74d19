"""ph-meet: the gdb half of a pair that an IDE starts at once; it attaches to the program as soon as that is there."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import gdb

from pyharness.host import rendezvous
from pyharness.ingdb import terminal
from pyharness.ingdb.commands import crossing, running
from pyharness.ingdb.prompt.registry import command
from pyharness.model.errors import HarnessError, UsageError

if TYPE_CHECKING:
    import socket

_WITHIN = 60.0
_READY = b"ready\n"


@command("ph-meet")
def ph_meet(argument: str) -> None:
    """Attach to the program that is started to meet this gdb: ph-meet KEY, for IDEs (docs/vscode.md).

    The program is started as `python -m pyharness.debuggee.meet --key KEY SCRIPT`, before or after this. It is stopped
    then, before the first line of the script.
    """
    if not argument:
        raise UsageError("Meet whom?", "Write ph-meet KEY, with the key that the program names.")
    try:
        program = rendezvous.meet(argument, "gdb", within=_WITHIN, hung_up=_stdin(), waits=_say_so)
    except rendezvous.NobodyCameError as error:
        raise HarnessError(error.message, "Is the Python half of the compound running? Its console says why.") from None
    try:
        _attach(program)
    except BaseException:
        program.close()
        raise
    crossing.serve(program)


def _say_so() -> None:
    terminal.write("Waiting for the program.")
    gdb.flush()


def _attach(program: socket.socket) -> None:
    if program.makefile("rb").readline() != _READY:
        raise HarnessError(
            "The program ended before gdb could attach.", "What it printed last, above or in its window, says why."
        )
    try:
        running.attach_to(rendezvous.pid_of(program))
    except (HarnessError, gdb.error) as error:
        with suppress(OSError):
            program.sendall(f"{' '.join(str(error).split())}\n".encode())
        raise
    program.sendall(b"attached\n")


def _stdin() -> int:
    """Whoever drives gdb holds the other end of its input."""
    try:
        return sys.__stdin__.fileno() if sys.__stdin__ else -1
    except ValueError:
        return -1
