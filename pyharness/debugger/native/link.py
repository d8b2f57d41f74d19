"""One gdb over MI: who hears of its notices, which of its threads is which, and what it says to our commands."""

from __future__ import annotations

import json
import queue
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from pyharness.gdbmi.client import GdbClient, GdbError
from pyharness.gdbmi.records import Notice, quote
from pyharness.host.process_state import has_ended
from pyharness.model.codec import MalformedError
from pyharness.protocol import mi

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from pyharness.gdbmi.records import Value
    from pyharness.model.user_code import UserCode

Answer = TypeVar("Answer")
Stops: TypeAlias = "queue.SimpleQueue[Notice | None]"
"""Threads that have stopped; ``None`` for gdb's end."""


class GdbLink(GdbClient):
    """A gdb whose notices go to ``listener``, on the thread that reads them, or to whoever has it stop a thread."""

    def __init__(self, listener: Callable[[Notice | None], None], user_code: UserCode) -> None:
        self._listener = listener
        self._gathered: Stops | None = None
        self.thread_ids: dict[str, int] = {}
        """gdb's thread number (as MI writes it) → LWP."""
        self._called = 0
        """The thread on which gdb calls a function: a stop of it is one of the call; then it stands as before."""
        self.stop_in_call: Notice | None = None
        """The stop of the latest call's thread in that call."""
        self.debugged = 0
        """The process that gdb is attached to; 0 for none."""
        super().__init__(self._forward, **user_code.environment)

    def debugs(self, pid: int) -> None:
        """Have commands fail soon where the process ``pid``, which gdb attaches to, has ended."""
        self.debugged = pid
        self.target_is_gone = lambda: has_ended(pid)

    # --- notices ------------------------------------------------------------------------------------------------------

    @contextmanager
    def gathered(self) -> Iterator[Stops]:
        """Have the stops of threads come into this queue for now: they are none that the program has made."""
        stops: Stops = queue.SimpleQueue()
        self._gathered = stops
        try:
            yield stops
        finally:
            self._gathered = None

    def tell(self, notice: Notice | None) -> None:
        """Have the listener hear of a stop that was gathered, and is the program's own after all."""
        self._listener(notice)

    def _forward(self, notice: Notice | None) -> None:
        if notice is not None and notice.kind == "console" and not _is_ours(str(notice.values["text"])):
            return
        if self._called and self.thread_of(notice) == self._called:
            self.stop_in_call = notice
            return
        gathered = self._gathered
        if gathered is not None and (notice is None or notice.kind == "stopped"):
            gathered.put(notice)
        if gathered is None or notice is None:
            self._listener(notice)

    # --- threads ------------------------------------------------------------------------------------------------------

    def thread_of(self, notice: Notice | None) -> int:
        """The LWP of a thread that gdb tells to have stopped, from any thread; 0 where it is not known yet."""
        if notice is None or notice.kind != "stopped":
            return 0
        return self.thread_ids.get(str(notice.values.get("thread-id")), 0)

    def refresh_threads(self) -> None:
        """Read which LWP each of gdb's threads is."""
        self.thread_ids = self.ask(mi.Threads())

    def lwp_of(self, number: str) -> int:
        """The LWP of gdb's thread ``number``."""
        if number not in self.thread_ids:
            self.refresh_threads()
        return self.thread_ids.get(number, 0)

    # --- commands -----------------------------------------------------------------------------------------------------

    def ask(self, command: mi.Command[Answer]) -> Answer:
        """The answer of one of our MI commands (``protocol.mi``) that runs nothing in the program."""
        return answer_of(command, self.command(line_of(command)))

    def begin_asking(self, command: mi.Command[Answer]) -> Callable[[], Answer]:
        """Ask as ``ask`` does, and wait for the answer only where that is called for: gdb has it in its order."""
        said = self.begin(line_of(command))
        return lambda: answer_of(command, said())

    def calling(
        self,
        thread: int,
        line: str,
        timeout: float | None = 60.0,
        waits: AbstractContextManager[None] | None = None,
    ) -> dict[str, Value]:
        """What gdb says to a command that calls a function on ``thread``."""
        self._called, self.stop_in_call = thread, None
        return self.command(line, timeout, waits, self._has_called)

    def comes_out(self, thread: int) -> bool:
        """Lead a paused thread to where Python may be asked; false where it comes to a stop of its own on the way."""
        self._called, self.stop_in_call = thread, None
        try:
            self.command(line_of(mi.ComeOut(thread)))  # ^running is no answer of ours
            return self.ask(mi.CameOut())
        finally:
            self._called = 0

    def _has_called(self) -> None:
        self._called = 0


def line_of(command: mi.Command[Any]) -> str:
    """One of our MI commands, as its line."""
    return f"-{command.tag} {quote(json.dumps(command.to_json()))}"


def answer_of(command: mi.Command[Answer], said: dict[str, Value]) -> Answer:
    """The answer in what gdb said; a ``GdbError`` where it is none: gdb has loaded another version of pyharness."""
    try:
        return command.read_answer(json.loads(str(said["json"])))
    except (MalformedError, ValueError, KeyError) as error:
        raise GdbError(f"gdb's half of pyharness sent a message that this half does not know: {error}") from error


def _is_ours(line: str) -> bool:
    """Whether a line of gdb's console is none of gdb's own."""
    return line.startswith(mi.READ_MORE) or mi.Logged.in_line(line) is not None
