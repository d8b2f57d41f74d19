"""Asks gdb: what it knows itself, and what it must run in the program for, which may crash, hang or be interrupted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from pyharness.debugger.interrupts import passed_to
from pyharness.debugger.native.in_program.calls import CallRunsError, NativeCalls
from pyharness.debugger.native.in_program.ending import (
    CALL_DROPPED,
    PYTHON_LOST,
    EndedError,
    NativeEnding,
    crash_of,
    crash_told,
)
from pyharness.debugger.native.link import answer_of, line_of
from pyharness.debugger.native.look_ahead import LookAhead
from pyharness.debugger.python.asking import GRACE, StuckError
from pyharness.gdbmi.client import GdbBusyError, GdbError, GdbLostError
from pyharness.model.errors import HarnessError
from pyharness.protocol import mi
from pyharness.protocol.agent import Evaluate
from pyharness.protocol.mi.command import Running

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyharness.debugger.native.link import GdbLink
    from pyharness.gdbmi.records import Notice, Value
    from pyharness.protocol.agent import Request

Answer = TypeVar("Answer")


class NativeAsking:
    """One question at a time, with what an expression of the user's may do to it."""

    def __init__(self, link: GdbLink) -> None:
        self._link = link
        self.guarded = False
        """The program outlives a breakpoint of gdb's that is left in it: it has our guard."""
        self.ahead = LookAhead(link)
        """What gdb is asked before anybody asks for it."""
        self.unguarded = False
        """gdb died while it was asked for what may call a function of the program, which has no guard."""
        self._lost_python: dict[int, tuple[str, str]] = {}
        """Threads in whose Python a call crashed → why nothing of it can be asked any more, and what to do."""
        self.ending = NativeEnding()
        """What ends C++ expressions."""
        self.calls = NativeCalls(self)
        """Calls that gdb has given up."""
        self.on_interrupt: Callable[[], None] = lambda: None
        """Ends what runs in the program for an expression, in either language."""

    def ask(self, command: mi.Command[Answer]) -> Answer:
        """The answer of one of our MI commands (``protocol.mi``)."""
        return answer_of(command, self.said(command, line_of(command)))

    def ask_agent(self, thread: int, request: Request[Any]) -> mi.AgentReply:
        """Run a request on a stopped thread of the program, which must have the agent."""
        if lost := self._lost_python.get(thread):
            raise HarnessError(*lost)
        return self.calls.ask(mi.AskAgent(thread, request.written()))

    def come_out(self, thread: int) -> Notice | None:
        """Have a paused thread come to where Python may be asked; the stop that it came to on the way, if any."""
        self.ahead.forget()
        try:
            return None if self._link.comes_out(thread) else self._link.stop_in_call
        except GdbBusyError:
            raise
        except GdbError:  # then it is shown where it stands
            return None

    def said(self, command: mi.Command[Any], line: str) -> dict[str, Value]:
        """What gdb says to a command, which is written as ``line``."""
        if (known := self.ahead.said(command)) is not None:
            return known
        if isinstance(command, mi.AskAgent):
            return self._said_agent(command, line)
        if not isinstance(command, Running):
            try:
                return self._link.command(line)
            except GdbError as error:
                if self.calls.run and "thread is running" in error.message:
                    raise CallRunsError from error
                raise
        try:
            with self.ending.limited(self._link.debugged, command.thread, command.code):
                return self._evaluated(line, command.thread, command.code)
        except (GdbBusyError, EndedError):
            raise
        except GdbError as error:
            if crash := crash_of(self._link.stop_in_call) or crash_told(error.message):
                raise EndedError(f"{command.code!r} {crash}.", CALL_DROPPED) from error
            if not self.calls.was_given_up(command.thread):
                raise
            message, _, remedy = error.message.partition("\n")
            raise HarnessError(message, remedy) from error  # no value: what gdb refuses may yet be Python

    def _said_agent(self, command: mi.AskAgent, line: str) -> dict[str, Value]:
        expression = command.request.get("expression", "")
        try:
            if command.request.get("do") == Evaluate.tag:
                return self._evaluated(line, command.thread, expression)
            return self._link.calling(command.thread, line)
        except GdbError as error:
            if not (crash := crash_of(self._link.stop_in_call) or crash_told(error.message)):
                raise
            what = repr(expression) if expression else "What the debugger had Python do"
            lost = f"{what} {crash}, in the midst of Python.", PYTHON_LOST
            self._lost_python[command.thread] = lost
            raise EndedError(*lost) from error

    def _evaluated(self, line: str, thread: int, expression: str) -> dict[str, Value]:
        """What gdb says to a command that runs an expression of the user's; Ctrl-C ends that."""
        try:
            return self._link.calling(thread, line, self.ending.seconds + GRACE, passed_to(self.on_interrupt))
        except GdbLostError:
            self.unguarded = not self.guarded
            raise
        except GdbBusyError as error:
            raise StuckError(repr(expression)) from error
