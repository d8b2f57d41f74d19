"""Ctrl-C, and the end of the terminal, at the prompt of several programs."""

from __future__ import annotations

import signal
from contextlib import nullcontext
from typing import TYPE_CHECKING

from pyharness.prompt.debuggee import TerminalGoneError
from pyharness.prompt.signals import handled

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from types import FrameType


class SignalsOfAll:
    """While a person types they end what is typed; while programs are waited for, they are for those."""

    def __init__(self, interrupt: Callable[[], None], gone: Callable[[], None]) -> None:
        self._interrupt, self._gone = interrupt, gone
        self.waits = False
        """Whether programs are waited for."""

    def heard(self, *, typed: bool) -> AbstractContextManager[None]:
        """Hear them, where a person types."""
        handlers = {signal.SIGINT: self._heard_interrupt, signal.SIGHUP: self._heard_hangup}
        return handled(handlers) if typed else nullcontext()

    def _heard_interrupt(self, _number: int, _frame: FrameType | None) -> None:
        if not self.waits:
            raise KeyboardInterrupt
        self._interrupt()

    def _heard_hangup(self, _number: int, _frame: FrameType | None) -> None:
        if not self.waits:
            raise TerminalGoneError
        self._gone()
