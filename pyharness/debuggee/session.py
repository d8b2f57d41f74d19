"""One debugger's visit to a running program: from the handshake to the last trace of it."""

from __future__ import annotations

import ctypes
import os
import queue
import secrets
import socket
import struct
import sys
import sysconfig
import threading
from typing import TYPE_CHECKING, Any

from pyharness.debuggee import apart, children, generated, libraries, op_places, quiet_thread, tracing
from pyharness.debuggee.bounded import BOUNDS
from pyharness.debuggee.conversation import Conversation
from pyharness.model.errors import HarnessError

if TYPE_CHECKING:
    from collections.abc import Callable

_PR_SET_PTRACER = 0x59616D61


class Session:
    """What the debugger is told is asked: generated files, libraries; what the program does meanwhile waits for it."""

    def __init__(self, connection: socket.socket, stream: Any, visitor: dict[str, Any]) -> None:
        self.visitor = visitor
        self.key = secrets.token_hex(16)
        """What a second connection says that is meant for debugpy."""
        self._debugpy: queue.SimpleQueue[socket.socket | None] = queue.SimpleQueue()
        self.conversation = Conversation(connection, stream, self._over)
        self.gone = threading.Event()
        """Nothing of it is left."""
        _allow_ptrace(peer_of(connection)[0])

    def run(self, on_ready: Callable[[], None]) -> None:
        """Do the handshake, call ``on_ready``, and stay until the debugger leaves."""
        with quiet_thread.hidden_from_pydevd():
            try:
                with apart.FromInstalled():
                    stays = self._shake_hands()
                if stays:
                    on_ready()
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

    def _over(self) -> None:
        self._debugpy.put(None)
        tracing.release()

    def _shake_hands(self) -> bool:
        """Tell what there is; whether the debugger stayed."""
        ask = self.conversation.ask
        answer = ask({**hello(), "key": self.key})
        BOUNDS.seconds = answer.get("eval_timeout", BOUNDS.seconds)
        if "debugpy" in answer and (link := self._debugpy.get()):
            apart.make_importable(answer["debugpy"])
            tracing.connect(link, self.conversation.over.is_set)
        if answer.get("children"):
            children.follow(answer["children"], self)
        op_places.start(op_places.stop_by_channel(ask))
        for path in libraries.loaded():
            ask({"type": "library", "path": path})
        for entry in generated.known():
            ask({"type": "generated", **entry})
        answer = ask({"type": "ready"})
        if answer.get("stop"):
            tracing.stop_soon()
        return bool(answer)


def hello() -> dict[str, Any]:
    """Who we are, for a debugger that came to a running program."""
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


def _allow_ptrace(pid: int) -> None:
    """Let the debugger, and the gdb that it starts, attach under Yama's ptrace_scope 1."""
    if pid > 0:
        ctypes.CDLL(None).prctl(_PR_SET_PTRACER, pid, 0, 0, 0)
