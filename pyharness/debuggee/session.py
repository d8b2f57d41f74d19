"""One debugger's session in the program, which it started or came to: from the handshake to the last trace of it."""

from __future__ import annotations

import os
import queue
import secrets
import socket
import struct
import sys
import sysconfig
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pyharness.debuggee import apart, children, generated, libraries, op_places, quiet_thread, tracing
from pyharness.debuggee.bounded import BOUNDS
from pyharness.debuggee.conversation import Conversation
from pyharness.debuggee.ptracer import allow_ptrace
from pyharness.debuggee.seat import SEAT
from pyharness.model.errors import HarnessError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Session:
    """What the debugger is told is asked: generated files, libraries; what the program does meanwhile waits for it."""

    def __init__(self, connection: socket.socket, visitor: dict[str, Any], link: socket.socket | None = None) -> None:
        self.visitor = visitor
        self.key = secrets.token_hex(16)
        """What a second connection says that is meant for debugpy."""
        self._debugpy: queue.SimpleQueue[socket.socket | None] = queue.SimpleQueue()
        if link is not None:
            self._debugpy.put(link)
        self.gone = threading.Event()
        """Nothing of it is left."""
        allow_ptrace(peer_of(connection)[0])
        self.conversation = Conversation(connection, self._over)

    def stay(self, meet: Callable[[], None]) -> None:
        """``meet`` the debugger, stay until it leaves or dies, and clear up; on a thread that no debugger holds."""
        try:
            with quiet_thread.hidden_from_pydevd():
                self._stay(meet)
        finally:
            SEAT.leave()
            self.conversation.hang_up()
            self.gone.set()

    def _stay(self, meet: Callable[[], None]) -> None:
        try:
            meet()
            self.conversation.over.wait()
        except Exception as error:  # noqa: BLE001  (nothing of ours may end as a traceback of the program's)
            self.conversation.tell({"type": "failed", "error": f"{type(error).__name__}: {error}"})
            self.conversation.over.wait()
        finally:
            op_places.end()
            tracing.let_go()
            children.leave(self)

    def takes(self, connection: socket.socket, key: str) -> bool:
        """Whether ``connection`` is the one for debugpy; then it is debugpy's."""
        if not secrets.compare_digest(key.encode(), self.key.encode()):
            return False
        self._debugpy.put(connection)
        return True

    def greet(self) -> bool:
        """Say who we are, and do as the debugger wants; whether it is there."""
        with apart.FromInstalled():
            answer = self.conversation.ask({**hello(), "key": self.key})
            BOUNDS.seconds = answer.get("eval_timeout", BOUNDS.seconds)
            if "debugpy" in answer and (link := self._debugpy.get()):
                apart.make_importable(answer["debugpy"])
                tracing.connect(link, self.conversation.over.is_set)
            if answer.get("children"):
                children.follow(answer["children"], self)
            op_places.start(op_places.stop_by_channel(self.conversation.ask))
        return bool(answer)

    def tell_so_far(self) -> None:
        """Tell what a program that runs already has loaded and generated."""
        with apart.FromInstalled():
            for path in libraries.loaded():
                self.conversation.ask({"type": "library", "path": path})
            for entry in generated.known():
                self.conversation.ask({"type": "generated", **entry})

    def ready(self) -> dict[str, Any]:
        """Say that all was told; what the debugger answers, nothing where it has left."""
        return self.conversation.ask({"type": "ready"})

    def _over(self) -> None:
        self._debugpy.put(None)
        tracing.release()


@contextmanager
def started(connection: socket.socket, link: socket.socket) -> Iterator[Session]:
    """Have the debugger here that started the program: it is met on this thread, and a thread of ours stays with it."""
    session = SEAT.session = Session(connection, {"pid": os.getppid(), "name": "pyharness"}, link)
    stays, met = threading.Event(), threading.Event()

    def meet() -> None:
        stays.set()
        met.wait()

    quiet_thread.start(session.stay, meet)
    stays.wait()
    try:
        yield session
    finally:
        met.set()


def hello() -> dict[str, Any]:
    """Who we are."""
    agent, lack = _agent()
    return {
        "type": "hello",
        "pid": os.getpid(),
        "agent": agent,
        "lack": lack,
        "guard": _guard(),
        "stdlib": sysconfig.get_paths()["stdlib"],
        "python": sys.version.split()[0],
        "main_thread": threading.main_thread().native_id,
    }


def _agent() -> tuple[dict[str, int] | None, str]:
    """The addresses of the agent, or why there is none; as ``agent.start``, but silent."""
    try:
        from pyharness import _trap
    except ImportError as error:
        return None, f"pyharness's native half is not built for Python {sys.version.split()[0]} ({error})"
    from pyharness.debuggee import agent, stepping  # noqa: F401  (stepping registers its requests)

    _trap.set_agent(agent.answer)
    return _trap.addresses(), ""


def _guard() -> bool:
    from pyharness.native.trap_guard import install_trap_guard

    try:
        install_trap_guard()
    except (HarnessError, OSError):
        return False
    return True


def peer_of(connection: socket.socket) -> tuple[int, int]:
    """Process id and user of whoever is at the other end."""
    raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    pid, user, _group = struct.unpack("3i", raw)
    return pid, user
