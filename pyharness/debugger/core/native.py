"""gdb on a core file: what it is asked is the same as of a program, but nothing in it runs or changes."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from pyharness.debugger.native.link import GdbLink
from pyharness.debugger.native.side import NativeSide
from pyharness.debugger.native.signals import NativeSignals
from pyharness.debugger.native.threads import NativeThreads
from pyharness.gdbmi.client import GdbError, GdbLostError
from pyharness.model.errors import DebuggerLostError, HarnessError
from pyharness.model.frozen import frozen
from pyharness.model.user_code import UserCode
from pyharness.protocol.mi import OpenCore

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from pyharness.gdbmi.records import Notice, Value
    from pyharness.protocol.mi import CoreContents, SignalStop

IMMOBILE = "A core file cannot run, and nothing in it can be changed: start the program itself for that."
REOPEN = "Open the core file again."
_ALIVE = {"SIGSTOP", "SIGTRAP", "SIGINT"}
"""What stops a program for the one who makes a core of it; it does not die of these."""

Answer = TypeVar("Answer")


class CoreLostError(DebuggerLostError):
    """The gdb that has a core file open is gone."""

    def __init__(self) -> None:
        super().__init__("gdb")
        self.remedy = REOPEN


@frozen
class OpenedCore:
    """A core file that gdb has open."""

    contents: CoreContents
    signal: SignalStop | None
    """What the program died of; ``None`` where it lived on."""


class CoreLink(GdbLink):
    """A gdb whose end ends the session: there is no program to let go."""

    def command(
        self,
        text: str,
        timeout: float | None = 60.0,
        waits: AbstractContextManager[None] | None = None,
        on_answer: Callable[[], None] = lambda: None,
    ) -> dict[str, Value]:
        """What gdb says; ``CoreLostError`` where it is gone."""
        try:
            return super().command(text, timeout, waits, on_answer)
        except GdbLostError as error:
            raise CoreLostError from error


class CoreThreads(NativeThreads):
    """The threads of a core file: each stands, and none goes on."""

    def held(
        self, thread: int, ask: Callable[[], Answer], go_on: Callable[[Answer], None] | None = None
    ) -> Answer | None:
        """The answer; nobody needs to hold the thread."""
        del thread, go_on
        return ask()

    def _of_thread(self, command: str, thread: int) -> str:
        del command, thread
        raise HarnessError(IMMOBILE)


class CoreNative(NativeSide):
    """Every thread stands, for ever."""

    def __init__(self, on_notice: Callable[[Notice | None], None]) -> None:
        code = UserCode.of(())
        super().__init__(CoreLink(on_notice, code), code, CoreThreads)

    def open(self, path: str, program: str) -> OpenedCore:
        """Read a core file; ``HarnessError`` says what is wrong with it."""
        try:
            contents = self.ask(OpenCore(path, program))
        except GdbError as error:
            message, _, remedy = error.message.partition("\n")
            raise HarnessError(message, remedy) from error
        self.link.refresh_threads()
        return OpenedCore(contents, self._died_of(contents.thread))

    def _died_of(self, thread: int) -> SignalStop | None:
        with suppress(GdbError):  # no signal
            found = NativeSignals(self).info(thread)
            return None if found.name in _ALIVE else found
        return None
