"""A rank of a job that is debugged: it says so at the debugger's door, and waits there where it was chosen."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pyharness.debuggee.link import quiet_thread
from pyharness.debuggee.link.held_timeouts import HeldTimeouts
from pyharness.debuggee.watched.imports import after_import
from pyharness.host.own_rank import OWN_RANK
from pyharness.host.own_words import own_words
from pyharness.model.ranks.launchers import told_rank
from pyharness.protocol.channel import Child, Children
from pyharness.protocol.children_door import take_from

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyharness.debuggee.link.own_socket import OwnSocket
    from pyharness.debuggee.unpatched import socket

_DISTRIBUTED = "torch.distributed.distributed_c10d"
_LAUNCHERS = ("torchrun", "torch.distributed.run", "torch.distributed.launch")
_WITH_VALUE = ("-X", "-W", "--check-hash-based-pycs")
"""Options of Python's before a script that are two words."""


class JobProcess:
    """A Python that was started somewhere in a job; it is a rank as soon as it knows which."""

    def __init__(self, told: Children, name: str, meet: Callable[[Child], None]) -> None:
        self._told = told
        self._name = name
        self._meet = meet
        self._timeouts = HeldTimeouts()
        self._is_rank = False

    def begin(self, connect: Callable[[], OwnSocket | socket.socket | None]) -> None:
        """Call in now where a launcher has said the rank, else where the process group is made."""
        self._connect = connect
        if is_launcher():
            return
        after_import(_DISTRIBUTED, lambda module: self._timeouts.hold(module, self._arrive))
        if told := told_rank(os.environ):
            self._call_in(told[0], told[1])

    def _arrive(self, arguments: dict[str, Any]) -> None:
        """The process group is made, and names the rank of a process that was spawned."""
        rank = arguments.get("rank", -1)
        if not self._is_rank and isinstance(rank, int) and rank >= 0:
            OWN_RANK.arriving = rank
            world = arguments.get("world_size", -1)
            self._call_in(rank, world if isinstance(world, int) and world > 0 else None)

    def _call_in(self, rank: int, world: int | None) -> None:
        self._is_rank = True
        take_from(os.environ)  # what a rank starts is no rank
        if (connection := self._connect()) is None:
            self._timeouts.put_back()
            return
        name = self._name if self._name.startswith("rank ") else f"rank {rank} ({self._name})"
        told = Child(os.getpid(), "", name, os.getppid(), rank, world)
        with suppress(OSError):
            connection.sendall(told.to_line())
        quiet_thread.start(self._wait_for_end, connection)
        if not self._told.ranks or rank in self._told.ranks:
            self._meet(told)

    def _wait_for_end(self, connection: OwnSocket | socket.socket) -> None:
        """Until the debugger has left the job, or has died."""
        with suppress(OSError):
            while connection.recv(1):
                pass
        self._timeouts.put_back()
        connection.close()


def is_launcher() -> bool:
    """Whether this Python starts ranks, and is none, whatever its own launcher has told it."""
    words = iter(own_words()[1:])
    for word in words:
        if word in _WITH_VALUE:
            next(words, "")
        elif word == "-m" or not word.startswith("-"):
            return (next(words, "") if word == "-m" else word.rpartition("/")[2]) in _LAUNCHERS
    return False
