"""A program that runs already, by the connection to its debuggee half: as ``launch.Launched``, but not our child."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyharness.debugger.starting import processes, small_limits
from pyharness.debugger.starting.child_processes import ChildProcesses
from pyharness.debugger.starting.launch import packages
from pyharness.debugger.starting.unanswered import Unanswered
from pyharness.host.descriptors import above_streams, streams_held
from pyharness.host.forks import blind, own
from pyharness.host.reaped import exit_code_of
from pyharness.host.surroundings import Surroundings
from pyharness.model.codec import MalformedError
from pyharness.model.errors import HarnessError
from pyharness.model.frozen import frozen
from pyharness.protocol.channel import Busy, Exits, Failed, Hello, Link, Visit, answer_line, message_in, messages

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyharness.host.handles import Handle
    from pyharness.protocol.channel import Go, Message, Welcome

_PATIENCE = 2.0
_INSIDE = "run pyharness in the container, or by `nsenter --target {pid} --mount --root`."
_EXIT_CODE_FIELD = 49
"""The number of the exit code's field in /proc/PID/stat, counted from behind the name."""


@frozen
class Way:
    """How to reach a program that cannot be visited through a handle: both connections are there already."""

    pid: int
    name: str
    channel: socket.socket
    link: socket.socket
    """debugpy's."""
    packages: dict[str, str]
    """Where it has our packages."""

    def connect(self, seconds: float = 0) -> socket.socket:
        """The connection for the conversation, which is there already."""
        del seconds
        return self.channel


class Attached:
    """The running program; ``on_message`` and ``on_exit`` are called on threads of this object.

    ``HarnessError`` where another debugger is there, or where the program does not answer within ``seconds``.
    """

    def __init__(
        self,
        handle: Handle | Way,
        on_message: Callable[[Message[Any]], None],
        on_exit: Callable[[int], None],
        *,
        seconds: float,
        child_wait: float | None = None,
        ranks: tuple[int, ...] | None = None,
    ) -> None:
        self.pid = handle.pid
        self._handle = handle
        self.packages = handle.packages if isinstance(handle, Way) else packages()
        """Where the program finds our packages."""
        self.surroundings = Surroundings(handle.pid)
        self.exit_code: int | None = None
        self.exit_known = False
        """Whether ``exit_code`` is the program's: only a parent is sure to hear it, and 0 stands for an unknown one."""
        self._process = above_streams(os.pidfd_open(handle.pid))
        self._over = threading.Event()
        with streams_held():
            self._wake, self._sleeper = socket.socketpair()
        try:
            self._socket = handle.connect(seconds)
            self._stream = self._socket.makefile("rwb")
            self.hello, number = self._greet(handle, seconds)
        except BlockingIOError:
            os.close(self._process)
            raise _silent(handle) from None
        except OSError as error:
            os.close(self._process)
            raise HarnessError(
                f"{handle.name} (process {handle.pid}) cannot be reached: {error.strerror or error}.",
                f"Is it ending, or does it see other files than we do? Then {_INSIDE.format(pid=handle.pid)}",
            ) from error
        except BaseException:
            os.close(self._process)
            raise
        self._unanswered = Unanswered()
        self._unanswered.add(self.hello, number)
        own(self)
        self.children = None
        if child_wait is not None:
            self.children = ChildProcesses(on_message, child_wait, handle.name, ranks)
        self._threads = [
            threading.Thread(target=self._read, args=(on_message,), name="pyharness-channel", daemon=True),
            threading.Thread(target=self._wait, args=(on_exit,), name="pyharness-exit", daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def debugpy(self, hello: Hello) -> socket.socket:
        """A second connection to the program, by the key that this conversation was given."""
        if isinstance(self._handle, Way):
            return self._handle.link
        try:
            connection = self._handle.connect()
            connection.sendall(Link(hello.key).to_line())
        except OSError as error:
            raise HarnessError(
                f"Process {self.pid} closed the connection: {error.strerror}.", "Is it ending?"
            ) from error
        return connection

    def answer(self, answer: Welcome | Go, to: Message[Any]) -> None:
        """Let the program's thread that sent the message ``to`` go on."""
        with contextlib.suppress(OSError, ValueError):
            self._write(answer_line(answer, self._unanswered.take(to)))

    def let_go(self) -> None:
        """End the conversation: the program undoes all that was done to it, and runs on."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)

    def end(self, *, at_once: bool = False) -> None:
        """End the program: politely, then for certain; ``at_once`` where a debugger holds it and it could not hear."""
        for number in (signal.SIGKILL,) if at_once else (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._process, number)
            if select.select([self._process], [], [], _PATIENCE)[0]:
                return

    def wait(self) -> int:
        """Wait for the program's end; its exit code, negative for a signal, 0 where nobody told."""
        if self._over.is_set():
            return self.exit_code or 0
        select.select([self._process], [], [])
        if self.exit_code is None:
            self.exit_code = self._code()
        return self.exit_code

    def close(self) -> None:
        """Give back the channel, and the threads."""
        if self._over.is_set():
            return
        if self.exit_code is None and select.select([self._process], [], [], 0)[0]:
            self.exit_code = self._code()
        self._over.set()
        self.let_go()
        self._threads[0].join(_PATIENCE)  # the program hangs up when all is undone: then the next debugger may come
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._wake.close()
        for thread in self._threads:
            thread.join()
        if self.children:
            self.children.close()
        for stream in (self._stream, self._socket, self._sleeper):
            with contextlib.suppress(OSError, ValueError):
                stream.close()
        os.close(self._process)

    def disown(self) -> None:
        """Forget it, in a forked child: the channel is its parent's."""
        blind([self._socket.fileno()])

    def _greet(self, handle: Handle | Way, seconds: float) -> tuple[Hello, int]:
        """Say who we are; what the program says first, and its number."""
        self._socket.settimeout(seconds)
        self._write(Visit("pyharness").to_line())
        try:
            line = self._stream.readline()
        except TimeoutError:
            raise _silent(handle) from None
        finally:
            self._socket.settimeout(None)
        try:
            first, number = message_in(line) if line else (None, 0)
        except MalformedError as error:
            raise HarnessError(f"Process {handle.pid} runs another version of pyharness: {error}.") from error
        if isinstance(first, Busy):
            raise HarnessError(
                f"Process {handle.pid} is being debugged already, by {first.name} (pid {first.pid}).",
                "A program has at most one debugger: detach or end that one first.",
            )
        if isinstance(first, Failed):
            pid = handle.pid
            remedy = small_limits.remedy(first.error, pid) or f"`pyharness stack {pid}` shows where it is."
            raise HarnessError(f"Process {pid} cannot be debugged. {first.error}.", remedy)
        if not isinstance(first, Hello):
            raise HarnessError(f"Process {handle.pid} closed the connection.", "Is it ending?")
        return first, number

    def _write(self, line: bytes) -> None:
        self._stream.write(line)
        self._stream.flush()

    def _read(self, on_message: Callable[[Message[Any]], None]) -> None:
        on_message(self.hello)
        for message, number in messages(self._stream):
            if isinstance(message, Exits):
                self.exit_code, self.exit_known = message.code, True
                continue
            self._unanswered.add(message, number)
            on_message(message)

    def _wait(self, on_exit: Callable[[int], None]) -> None:
        ready, _, _ = select.select([self._process, self._sleeper.fileno()], [], [])
        if self._process in ready:
            on_exit(self.wait())

    def _code(self) -> int:
        """The exit code, as far as the kernel still has it; 0 for an unknown one."""
        with contextlib.suppress(OSError, IndexError, ValueError):
            text = Path(f"/proc/{self.pid}/stat").read_text(encoding="utf-8", errors="replace")
            fields = text.rpartition(")")[2].split()
            if fields[0] in "ZX":
                self.exit_known = True
                return os.waitstatus_to_exitcode(int(fields[_EXIT_CODE_FIELD]))
        code = exit_code_of(self._process)
        self.exit_known = code is not None
        return code or 0


def _silent(handle: Handle | Way) -> HarnessError:
    """The error for a program that says nothing."""
    processes.check(handle.pid)  # it names a debugger that holds the program
    return HarnessError(
        f"{handle.name} (process {handle.pid}) does not answer.",
        "Is it stopped (Ctrl-Z), or inside native code that keeps the GIL? See `pyharness stack`.",
    )
