"""What signals mean at the prompt: Ctrl-C is for what runs, and a terminal that hangs up ends no program."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pyharness.prompt.debuggee import ImpatientError, TerminalGoneError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from types import FrameType

    from pyharness.prompt.session import Session

HUNG_UP = 128 + signal.SIGHUP
"""The exit status of a session whose terminal has gone."""


@contextmanager
def handled(handlers: Mapping[signal.Signals, Callable[[int, FrameType | None], object]]) -> Iterator[None]:
    """Have signals handled so within the block."""
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class Signals:
    """The signals of a session whose commands a person types; without one they end it, as they end other verbs.

    Signals are the main thread's: on any other one nothing changes.
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    @contextmanager
    def heard(self) -> Iterator[None]:
        """Within the block."""
        if not self._session.lines.is_typed or threading.current_thread() is not threading.main_thread():
            yield
            return
        with handled({signal.SIGINT: self._interrupted, signal.SIGHUP: self._hung_up}):
            yield

    def _interrupted(self, _number: int, _frame: object) -> None:
        """The program is to pause; else an expression ends, or the line that is typed."""
        program = self._session.debuggee
        if program is None or not program.runs:
            if not self._session.interruptible:
                return
            self._session.interruptible = False  # at once: the next may come before anybody has caught this one
            raise KeyboardInterrupt
        if program.stuck:
            program.stuck = False
            raise ImpatientError
        program.interrupt()

    def _hung_up(self, _number: int, _frame: object) -> None:
        """Nobody is there any more: the program runs on."""
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        program = self._session.debuggee
        if program is None or not program.runs:
            raise TerminalGoneError
        program.gone()
