"""What is said with a debugger: the program asks, it answers, and only then the program goes on; its end is noticed."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pyharness.debuggee.contained import CONTAINMENT
from pyharness.debuggee.link import quiet_thread
from pyharness.debuggee.link.own_socket import OwnSocket
from pyharness.debuggee.unpatched import threading
from pyharness.model.codec import MalformedError
from pyharness.protocol.channel import answer_in

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from pyharness.protocol.channel import Message
    from pyharness.protocol.question import Answer


class Conversation:
    """One JSON object a line. A thread of ours reads, so that a debugger that is killed keeps nobody waiting."""

    def __init__(self, connection: socket.socket, at_end: Callable[[], None]) -> None:
        self._socket = OwnSocket(connection)
        self._stream = self._socket.makefile("rb")
        self._lock = threading.Lock()
        self._owner = os.getpid()
        self._asked = 0
        self._waiting: dict[int, _Waiting] = {}
        self._at_end = at_end
        self.over = threading.Event()
        reads = threading.Lock()
        reads.acquire()
        quiet_thread.start(self._read, reads)
        reads.acquire()  # it is known as ours before a debugger looks at all threads

    def ask(self, message: Message[Answer]) -> Answer | None:
        """Send ``message`` and wait for the answer.

        ``None`` at once in a forked child (the conversation is the parent's), when the debugger is gone, and when
        Python ends: what an object loads as its last deed is told to nobody, because no thread of ours would hear the
        answer.
        An expression does not wait either: what it loads or generates is told beside it.
        """
        if os.getpid() != self._owner or sys.is_finalizing():
            return None
        if CONTAINMENT.prints_here() is not None:  # the debugger waits for what this thread evaluates
            quiet_thread.start(self._ask, message)
            return None
        return self._ask(message)

    def _ask(self, message: Message[Answer]) -> Answer | None:
        waiting = _Waiting()
        with self._lock:
            if self.over.is_set():
                return None
            self._asked += 1
            number = self._asked
            self._waiting[number] = waiting
            sent = self._send(message.to_line(number))
        if not sent:
            self._end()
        try:
            waiting.answered.wait()
        finally:  # a signal's handler may raise
            self._waiting.pop(number, None)
        with suppress(MalformedError):  # a debugger that talks nonsense lets the program run on
            return message.read_answer(waiting.answer)
        return None

    def tell(self, message: Message[None]) -> None:
        """Send what needs no answer."""
        if os.getpid() == self._owner:
            with self._lock:
                self._send(message.to_line())

    def hang_up(self) -> None:
        """Give the descriptor back, once it is over (a debugger waits for that), and in a forked child.

        The parent's conversation stays as it is.
        """
        self._socket.close()

    def _send(self, line: bytes) -> bool:
        try:
            self._socket.sendall(line)
        except OSError:
            return False
        return True

    def _read(self, reads: threading.Lock) -> None:
        reads.release()
        with suppress(OSError, ValueError):
            for line in self._stream:
                answer, number = answer_in(line)
                if waiting := self._waiting.pop(number, None):
                    waiting.answer = answer
                    waiting.answered.set()
        self._end()

    def _end(self) -> None:
        """Keep nobody waiting. Where the program closed our descriptor, who asks hears of it, and not the reader."""
        with self._lock:
            if self.over.is_set():
                return
            self.over.set()
            left = list(self._waiting.values())
        for waiting in left:
            waiting.answered.set()
        self._at_end()


class _Waiting:
    def __init__(self) -> None:
        self.answered = threading.Event()
        self.answer: Any = None
