"""gdb on a core file: what it is asked is the same as of a program, but nothing in it runs or changes."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from pyharness.debugger.native.side import NativeSide
from pyharness.debugger.native.signals import NativeSignals
from pyharness.gdbmi.client import GdbError, GdbLostError
from pyharness.model.errors import DebuggerLostError, HarnessError
from pyharness.model.frozen import frozen
from pyharness.model.user_code import UserCode
from pyharness.protocol.mi import OpenCore

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyharness.gdbmi.records import Notice, Value
    from pyharness.protocol.mi import Command, CoreContents, SignalStop

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


class CoreNative(NativeSide):
    """Every thread stands, for ever."""

    def __init__(self, on_notice: Callable[[Notice | None], None]) -> None:
        super().__init__(on_notice, agent=None, guarded=False, user_code=UserCode.of(()))

    def open(self, path: str, program: str) -> OpenedCore:
        """Read a core file; ``HarnessError`` says what is wrong with it."""
        try:
            contents = self.ask(OpenCore(path, program))
        except GdbError as error:
            message, _, remedy = error.message.partition("\n")
            raise HarnessError(message, remedy) from error
        self.refresh_threads()
        return OpenedCore(contents, self._died_of(contents.thread))

    def _died_of(self, thread: int) -> SignalStop | None:
        with suppress(GdbError):  # no signal
            found = NativeSignals(self).info(thread)
            return None if found.name in _ALIVE else found
        return None

    def _held(self, thread: int, ask: Callable[[], Answer]) -> Answer | None:
        del thread
        return ask()

    def _resume(self, command: str, thread: int, options: str = "") -> None:
        del command, thread, options
        raise HarnessError(IMMOBILE)

    def _said(self, command: Command[Any], line: str) -> dict[str, Value]:
        try:
            return super()._said(command, line)
        except GdbLostError as error:
            raise CoreLostError from error
