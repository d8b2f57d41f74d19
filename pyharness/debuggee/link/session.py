"""One debugger's session in the program, which it started or came to: from the handshake to the last trace of it."""

from __future__ import annotations

import os
import secrets
import struct
import sys
import sysconfig
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pyharness.debuggee import apart
from pyharness.debuggee.bounded import BOUNDS
from pyharness.debuggee.link import children, quiet_thread
from pyharness.debuggee.link.conversation import Conversation
from pyharness.debuggee.link.ptracer import allow_ptrace
from pyharness.debuggee.link.seat import SEAT
from pyharness.debuggee.link.short_turns import short_turns
from pyharness.debuggee.pydevd import tracing
from pyharness.debuggee.unpatched import queue, socket, threading
from pyharness.debuggee.watched import generated, kernels, libraries, saved_tensors
from pyharness.debuggee.watched.debug_kernels import DEBUG_KERNELS
from pyharness.debuggee.watched.op_places import OP_PLACES
from pyharness.host.own_rank import OWN_RANK
from pyharness.model import user_code
from pyharness.model.errors import HarnessError
from pyharness.protocol.channel import AddedLibrary, Busy, Failed, Generated, Hello, Library, Ready

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyharness.protocol.agent import Doorway
    from pyharness.protocol.channel import Go


class Session:
    """What the debugger is told is asked: generated files, libraries; what the program does meanwhile waits for it."""

    def __init__(self, connection: socket.socket, visitor: Busy, link: socket.socket | None = None) -> None:
        self.visitor = visitor
        self.key = secrets.token_hex(16)
        """What a second connection says that is meant for debugpy."""
        self._debugpy: queue.SimpleQueue[socket.socket | None] = queue.SimpleQueue()
        if link is not None:
            self._debugpy.put(link)
        self.gone = threading.Event()
        """Nothing of it is left."""
        self.greeted = False
        """The debugger knows who we are: before that it understands nothing else, and asks what there is after it."""
        allow_ptrace(peer_of(connection)[0])
        self.conversation = Conversation(connection, self._over)

    def stay(self, meet: Callable[[], object]) -> None:
        """``meet`` the debugger, stay until it leaves or dies, and clear up; on a thread that no debugger holds."""
        try:
            with quiet_thread.hidden_from_pydevd():
                self._stay(meet)
        finally:
            SEAT.leave()
            self.conversation.hang_up()
            self.gone.set()

    def _stay(self, meet: Callable[[], object]) -> None:
        try:
            meet()
            self.conversation.over.wait()
        except Exception as error:  # noqa: BLE001  (nothing of ours may end as a traceback of the program's)
            self.conversation.tell(Failed(f"{type(error).__name__}: {error}"))
            self.conversation.over.wait()
        finally:
            OP_PLACES.end()
            tracing.let_go()
            children.leave(self)
            DEBUG_KERNELS.end()
            user_code.include(())

    def takes(self, connection: socket.socket, key: str) -> bool:
        """Whether ``connection`` is the one for debugpy; then it is debugpy's."""
        if not secrets.compare_digest(key.encode(), self.key.encode()):
            return False
        self._debugpy.put(connection)
        return True

    def greet(self) -> bool:
        """Say who we are, and do as the debugger wants; whether it is there."""
        with apart.FromInstalled():
            welcome = self.conversation.ask(hello(self.key))
            if welcome is None:
                return False
            self.greeted = True
            BOUNDS.seconds = welcome.eval_timeout
            user_code.include(welcome.include)
            if link := self._debugpy.get():
                apart.make_importable(welcome.packages)
                tracing.connect(link, self.conversation.over.is_set)
            if welcome.debug_kernels:
                DEBUG_KERNELS.begin()
            if welcome.overwritten:
                saved_tensors.watch()
            if welcome.children:
                children.follow(welcome.children, self)
            OP_PLACES.start(OP_PLACES.stop_by_channel(self.conversation.ask))
        return True

    def meet(self) -> bool:
        """Tell a debugger that came to a program that runs already what there is; whether it is ready."""
        with short_turns():
            if not self.greet():
                return False
            self.tell_so_far()
            answer = self.ready()
        if answer and answer.stop:
            tracing.stop_soon()
        return answer is not None

    def tell_so_far(self) -> None:
        """Tell what a program that runs already has loaded and generated."""
        with apart.FromInstalled():
            for path in libraries.loaded():
                self.conversation.ask(Library(path))
            for path in libraries.added()[:1]:
                self.conversation.ask(AddedLibrary(path))
            for file in generated.known():
                self.conversation.ask(Generated(file))
            for wrapper, files in kernels.known().items():
                self.conversation.ask(Generated(wrapper, files))

    def ready(self) -> Go | None:
        """Say that all was told; what the debugger answers, ``None`` where it has left."""
        return self.conversation.ask(Ready())

    def _over(self) -> None:
        self._debugpy.put(None)
        tracing.release()


@contextmanager
def started(connection: socket.socket, link: socket.socket) -> Iterator[Session]:
    """Have the debugger here that started the program: it is met on this thread, and a thread of ours stays with it."""
    session = SEAT.session = Session(connection, Busy(os.getppid(), "pyharness"), link)
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


def hello(key: str) -> Hello:
    """Who we are."""
    doorway, lack = _doorway()
    stdlib, python = sysconfig.get_paths()["stdlib"], sys.version.split()[0]
    return Hello(os.getpid(), doorway, lack, _guard(), stdlib, python, sys.executable or "", key, OWN_RANK.number)


def _doorway() -> tuple[Doorway | None, str]:
    """Start the agent; where gdb asks it, or why there is none."""
    from pyharness.debuggee import agent
    from pyharness.debuggee.pydevd.steps import stepping  # noqa: F401  (stepping registers its requests)

    try:
        return agent.begin(), ""
    except OSError as error:
        return None, str(error)


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
