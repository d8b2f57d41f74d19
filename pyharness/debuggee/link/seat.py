"""Who debugs this process: at most one debugger at a time, whether it started the program or came later."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pyharness.debuggee.pydevd import tracing
from pyharness.debuggee.unpatched import threading
from pyharness.debuggee.watched import generated, kernels, libraries
from pyharness.host.process_state import has_ended
from pyharness.model.text.visible import say
from pyharness.protocol.channel import AddedLibrary, Busy, Failed, FirstLibrary, Generated, Library

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyharness.debuggee.link.session import Session
    from pyharness.protocol.channel import Go, Message

_LEAVING = 5.0
_AT_ITS_END = "Its threads have ended. What runs now are functions of atexit, where no line of Python stops"


class Seat:
    """Holds the session of the debugger that is here."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._following = False
        self.session: Session | None = None

    def take(self, begin: Callable[[], Session]) -> Session | Busy | Failed:
        """A session that ``begin`` makes, if nobody is here; else who is, or why there can be none."""
        other = self._other()
        with self._lock:
            if other is None and self.session is None:
                self.session = begin()
                return self.session
            return other or (self.session.visitor if self.session else Busy(0, "one that has just left"))

    def leave(self) -> None:
        """Nobody is here any more."""
        with self._lock:
            self.session = None

    def tell(self, message: Message[Go]) -> None:
        """Ask the debugger, if one is here and was greeted, and wait until it says go on."""
        if (session := self.session) and session.greeted:
            session.conversation.ask(message)

    def follow(self, lost: Callable[[str], None] = say) -> None:
        """Tell what the program generates and loads from now on to whoever debugs it, now or later."""
        if not self._following:
            self._following = True
            libraries.install(
                lambda path: self.tell(FirstLibrary(path)),
                lambda path: self.tell(Library(path)),
                lambda path: self.tell(AddedLibrary(path)),
            )
            generated.install(lambda file: self.tell(Generated(file)), lost)
            kernels.install(lambda wrapper: self.tell(Generated(wrapper.file, wrapper.kernel_files)), lost)

    def forget(self) -> None:
        """In a forked child: whoever is here is the parent's."""
        self._lock = threading.Lock()  # a thread that does not exist here may have it
        if session := self.session:
            session.conversation.hang_up()
        self.session = None

    def _other(self) -> Busy | Failed | None:
        """Who is here already; one who is leaving, or was killed, is waited for."""
        session = self.session
        if session is None:
            if _is_at_its_end():
                return Failed(_AT_ITS_END)
            name = tracing.foreign_debugger()
            return Busy(os.getpid(), f"{name}, in the program itself") if name else None
        if session.conversation.over.is_set() or has_ended(session.visitor.pid):
            session.gone.wait(_LEAVING)
        return None


def _is_at_its_end() -> bool:
    """Whether all threads have ended that Python waits for: debugpy would end at once."""
    return not any(each.is_alive() and not each.daemon for each in threading.enumerate())


SEAT = Seat()
