"""Calls into the program that gdb gave up because another thread stopped: they run on, and are ended here."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol, TypeVar

from pyharness.gdbmi.client import GdbError
from pyharness.model.errors import HarnessError
from pyharness.protocol import mi
from pyharness.protocol.agent import ArmNextLine, ArmStepIn, Disarm

if TYPE_CHECKING:
    from collections.abc import Callable

_PATIENCE = 2.0
"""Seconds that an expression of gdb's has for its end once gdb has given it up."""
_POLL = 0.02
_ARMING = (ArmStepIn().written(), ArmNextLine().written())


Answer = TypeVar("Answer")


class Gdb(Protocol):
    """Who knows what gdb knows."""

    def ask(self, command: mi.Command[Answer]) -> Answer:
        """The answer of one of our MI commands."""


class CallRunsError(HarnessError):
    """A thread cannot be looked into."""

    def __init__(self) -> None:
        super().__init__(
            "The thread runs a call of the debugger's, which waits for what another stopped thread holds.",
            "Continue: the stop of that thread comes next.",
        )


class NativeCalls:
    """Which threads run such a call, and what is to be done with each when it is over."""

    def __init__(self, gdb: Gdb) -> None:
        self._gdb = gdb
        self._running: dict[int, mi.AskAgent | None] = {}
        """Thread → what it was asked; ``None`` for an expression of gdb's, whose value is lost."""
        self.owed: dict[int, Callable[[], None]] = {}
        """Thread → what it does when its call is over."""

    def ask(self, command: mi.AskAgent) -> mi.AgentReply:
        """The agent's reply; where the thread still runs a call, ``later`` until that is over."""
        thread = command.thread
        if thread not in self._running:
            return self._noted(thread, command, self._gdb.ask(command))
        asked = self._running[thread]
        reply = self._ended(thread)
        return reply if reply.runs or asked == command else self.ask(command)

    @property
    def run(self) -> bool:
        """Whether a thread that stands for its debugger runs such a call."""
        return bool(self._running)

    def disarms(self, thread: int) -> bool:
        """Whether debugpy will be told to forget a step when the call is over that arms it."""
        return self._is_arming(self._running.get(thread))

    def after(self, thread: int, act: Callable[[], None]) -> None:
        """Let a thread go on: now, or when its call is over."""
        if thread in self._running:
            self.owed[thread] = act
            self.look()
        else:
            act()

    def look(self) -> None:
        """Some thread has stopped: one whose call is over does what it is owed."""
        for thread, act in list(self.owed.items()):
            self._end_for_good(thread)
            if thread not in self._running:
                del self.owed[thread]
                act()

    def was_given_up(self, thread: int) -> bool:
        """Whether gdb gave up an expression that failed, which is then waited for: its thread stands again after it."""
        end = time.monotonic() + _PATIENCE
        self._running[thread] = None
        was = False
        try:
            while (reply := self._ended(thread)).runs and not reply.holder and time.monotonic() < end:
                was = True
                time.sleep(_POLL)
        except GdbError:  # it has no answer
            was = True
        return was

    def _end_for_good(self, thread: int) -> None:
        """Nobody waits for the answer any more: what was armed meanwhile is disarmed."""
        asked = self._running[thread]
        with suppress(GdbError):  # it has stopped in the call, or is gone
            self._ended(thread)
        if thread in self._running or not self._is_arming(asked):
            return
        disarm = mi.AskAgent(thread, Disarm().written())
        with suppress(GdbError):
            if self._noted(thread, disarm, self._gdb.ask(disarm)).later:
                self._running[thread] = asked

    def _ended(self, thread: int) -> mi.AgentReply:
        asked = self._running.pop(thread)
        return self._noted(thread, asked, self._gdb.ask(mi.EndCall(thread)))

    def _noted(self, thread: int, asked: mi.AskAgent | None, reply: mi.AgentReply) -> mi.AgentReply:
        if reply.runs:
            self._running[thread] = asked
        return reply

    @staticmethod
    def _is_arming(asked: mi.AskAgent | None) -> bool:
        return asked is not None and asked.request in _ARMING
