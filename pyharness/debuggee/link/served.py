"""A program with a handle: it runs by itself, and whoever debugs may come, leave, and come again."""

from __future__ import annotations

import atexit
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, ClassVar

from pyharness.debuggee import program_process
from pyharness.debuggee.link import forked, quiet_thread
from pyharness.debuggee.link.left_alone import is_left_alone
from pyharness.debuggee.link.own_socket import OwnSocket
from pyharness.debuggee.link.seat import SEAT
from pyharness.debuggee.link.session import Session, peer_of
from pyharness.debuggee.unpatched import _thread, select, socket, time
from pyharness.host import handles
from pyharness.host.descriptors import socket_above_streams
from pyharness.host.process_state import tasks
from pyharness.model.codec import MalformedError
from pyharness.model.errors import HarnessError
from pyharness.model.text.visible import say
from pyharness.protocol.channel import Busy, Ends, Exits, Greeting, Link, Visit, greeting_in, greeting_line

if TYPE_CHECKING:
    from collections.abc import Callable


_LOOKS = 5.0
"""Seconds from one look to the next whether the program has ended without its main thread."""

_MAIN_AND_THIS = 2
_ENDS, _A_MOMENT = 1.0, 0.0005
"""Seconds in which a thread of ours has ended that waits for nobody any more, and from one look for it to the next."""
_FORKS = 0.05
"""Seconds that a program which forks waits for that."""
_WARNS_OF_THREADS = sys.version_info[:2] == (3, 12)
"""Whether Python warns whoever forks of other threads. 3.13 does, too, but counts them when its hooks have run."""


class Served:
    """The listening half; at most one debugger at a time is let in, another is told who is there."""

    current: ClassVar[Served | None] = None
    """What this process listens with."""

    def __init__(self, name: str, command: str, parent: str = "", folder: str = "") -> None:
        self.handle, listener = handles.listen(name, command, parent, folder)
        self._listener = OwnSocket(listener)
        self._owner = os.getpid()
        self._rests = self._is_aside = self._accepts = False
        self._lwp = 0
        """The thread that accepts, or did last."""
        self.on_ready: Callable[[], None] = _nothing
        """Called when a debugger has come and is ready, on a thread of ours."""

    def start(self) -> None:
        """Let debuggers come from now on."""
        Served.current = self
        SEAT.follow()
        forked.let_children_go()
        atexit.register(self.end)
        program_process.takes_along(self)
        if _WARNS_OF_THREADS:
            os.register_at_fork(before=self._step_aside, after_in_parent=self._come_back)
        self._let_come()

    def rest(self) -> None:
        """Let nobody come, so that no thread of ours is there; a debugger that is here stays."""
        if SEAT.session or os.getpid() != self._owner:
            return
        ours = quiet_thread.lwps()
        self.handle.remove()
        self._rests = True
        self._listener.shutdown(socket.SHUT_RDWR)  # its thread ends
        self._wait(lambda: not ours.intersection(tasks(self._owner)), _ENDS)

    def _step_aside(self) -> None:
        """Before a fork: whoever comes meanwhile waits, and no thread of ours is there."""
        if not SEAT.session and os.getpid() == self._owner and self._accepts:
            self._is_aside = True
            with suppress(OSError):  # its folder has gone, or it has no descriptor: then Python warns
                self.handle.connect().close()  # its thread ends
                self._wait(lambda: not (self._accepts or self._lwp in tasks(self._owner)), _FORKS)

    @staticmethod
    def _wait(has_ended: Callable[[], bool], seconds: float) -> None:
        """Wait for threads of ours to end, no longer than that, and not where a debugger has come meanwhile."""
        until = time.monotonic() + seconds
        while time.monotonic() < until and not SEAT.session and not has_ended():
            time.sleep(_A_MOMENT)

    def _come_back(self) -> None:
        """Behind a fork, in the program: let debuggers come again."""
        if self._is_aside:
            self._is_aside = False
            if not self._accepts:
                with suppress(RuntimeError):  # no thread can be had any more
                    self._let_come()

    def go_on(self) -> None:
        """Listen again, maybe in a child that is the program now; it runs on where that cannot be."""
        if not self._rests:
            return
        self._rests, self._owner = False, os.getpid()
        try:
            self.move(self.handle.folder)
            Served.current = self
        except HarnessError as error:
            say(f"no handle: {error}")
        except RuntimeError as error:  # no thread can be had
            self.handle.remove()
            say(f"no handle: {error}.")

    def move(self, folder: str) -> None:
        """Listen in ``folder`` from now on: the one before has gone."""
        before, handle = self._listener, self.handle
        self.handle, listener = handles.listen(handle.name, handle.command, handle.parent, folder)
        self._listener = OwnSocket(listener)
        before.shutdown(socket.SHUT_RDWR)  # its thread ends
        self._let_come()

    def end(self) -> None:
        """The program ends: nobody shall come any more."""
        if os.getpid() == self._owner:
            self.handle.remove()
            if session := SEAT.session:
                session.conversation.tell(Ends())

    def exits(self, code: int) -> None:
        """Tell a debugger the exit code, which only a parent hears otherwise."""
        if session := SEAT.session:
            session.conversation.tell(Exits(code))

    def forget(self) -> None:
        """In a forked child: this is the parent's."""
        self._is_aside = False
        self._listener.close()

    def wait_for_visit(self, hung_up: socket.socket, seconds: float) -> None:
        """Wait until a debugger has come and is ready, but no longer than it keeps ``hung_up`` open, or ``seconds``."""
        if seconds > 0:
            self.on_ready = lambda: hung_up.shutdown(2)
            select.select([hung_up], [], [], seconds)
            self.on_ready = _nothing

    def _let_come(self) -> None:
        self._accepts = True
        try:
            quiet_thread.start(self._accept, self._listener)
        except RuntimeError:
            self._accepts = False
            raise

    def _accept(self, listener: socket.socket) -> None:
        self._lwp = _thread.get_native_id()
        try:
            with suppress(OSError):  # the program has closed it, with all that it has
                listener.settimeout(_LOOKS)
                while not self._is_aside and self._let_in(listener):
                    pass
        finally:
            if listener is self._listener:
                self._accepts = False

    def _let_in(self, listener: socket.socket) -> bool:
        """Let the next one in, if one comes soon; whether another may come."""
        try:
            if not _has_visitor(listener):
                if is_left_alone():
                    self._leave()
                    return False
                return True
            connection = OwnSocket(socket_above_streams(listener.accept()[0]))
        except socket.timeout:  # another class up to Python 3.9; whoever came has gone
            return True
        except OSError:
            listener.close()
            return False
        try:
            if peer_of(connection)[0] == os.getpid():
                connection.close()  # it only woke this thread
            else:
                quiet_thread.start(self._welcome, connection)
        except (OSError, RuntimeError):  # it has gone; or the program has left no memory for a thread, or none at all
            connection.close()
        return True

    def _leave(self) -> None:
        """Have the process end: it does so with its last thread, where that is the calling one."""
        self.end()
        self.exits(0)
        if len(tasks(self._owner)) > _MAIN_AND_THIS:
            os._exit(0)

    def _welcome(self, connection: socket.socket) -> None:
        """Read who comes; one that says nothing only wanted to know whether we live."""
        with suppress(OSError, MalformedError):
            greeting = greeting_in(greeting_line(connection))
            pid, user = peer_of(connection)
            if user in {0, os.geteuid()} and self._belongs(connection, greeting, pid):
                return
        connection.close()

    def _belongs(self, connection: socket.socket, greeting: Greeting[None], pid: int) -> bool:
        """Whether somebody took the connection: debugpy for the debugger that is here, or a visit of its own."""
        if isinstance(greeting, Link):
            session = SEAT.session
            return session is not None and session.takes(connection, greeting.key)
        if isinstance(greeting, Visit):
            self._receive(connection, Busy(pid, greeting.name))
        return True

    def _receive(self, connection: socket.socket, visitor: Busy) -> None:
        session = SEAT.take(lambda: Session(connection, visitor))
        if isinstance(session, Session):
            session.stay(lambda: self._meet(session))
            return
        connection.sendall(session.to_line())
        connection.close()

    def _meet(self, session: Session) -> None:
        """Tell a debugger what there is, and whoever waits for one that it is here."""
        if session.meet():
            self.on_ready()


def _has_visitor(listener: socket.socket) -> bool:
    """Whether somebody comes soon; ``OSError`` where nobody can any more: ``accept`` would ask again and again."""
    poll = select.poll()
    poll.register(listener, select.POLLIN)
    found = dict(poll.poll(_LOOKS * 1000)).get(listener.fileno(), 0)
    if found & ~select.POLLIN:
        raise OSError("it is shut down")
    return bool(found)


def forget() -> str:
    """In a forked child: the parent's handle is not ours. Its name, or empty."""
    served, Served.current = Served.current, None
    if served is None:
        return ""
    served.forget()
    return served.handle.name


def _nothing() -> None:
    pass
