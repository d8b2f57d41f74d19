"""A debugger that cannot come to a socket of ours, from outside of a container: it hands over both connections."""

from __future__ import annotations

import atexit
import os
import shutil
from contextlib import suppress
from typing import ClassVar

from pyharness.debuggee.link import forked, quiet_thread
from pyharness.debuggee.link.seat import SEAT
from pyharness.debuggee.link.session import Session
from pyharness.debuggee.unpatched import socket
from pyharness.host.descriptors import socket_above_streams
from pyharness.model.codec import MalformedError
from pyharness.protocol.channel import Busy, Ends, Visit, greeting_in, greeting_line


class Brought:
    """The folder of our modules that a debugger brought along; they are needed for as long as the program runs."""

    folder: ClassVar[str] = ""

    @classmethod
    def keep(cls, folder: str) -> None:
        """Use ``folder`` until this process ends, and take it away then."""
        owner, cls.folder = os.getpid(), folder

        def remove() -> None:
            if os.getpid() == owner:  # not in a forked child
                shutil.rmtree(folder, ignore_errors=True)

        atexit.register(remove)


def receive(channel: int, link: int) -> None:
    """Be debugged by whoever has the other ends of these two descriptors; on a thread of ours."""
    SEAT.follow()
    forked.let_children_go()
    atexit.register(_ends, os.getpid())
    both = [socket_above_streams(socket.socket(fileno=each)) for each in (channel, link)]
    quiet_thread.start(_meet, *both)


def _meet(channel: socket.socket, link: socket.socket) -> None:
    with suppress(OSError, MalformedError):
        greeting = greeting_in(greeting_line(channel))
        if isinstance(greeting, Visit):
            session = SEAT.take(lambda: Session(channel, Busy(os.getpid(), greeting.name), link))
            if isinstance(session, Session):
                session.stay(session.meet)
                return
            channel.sendall(session.to_line())
    channel.close()
    link.close()


def _ends(owner: int) -> None:
    if os.getpid() == owner and (session := SEAT.session):
        session.conversation.tell(Ends())
