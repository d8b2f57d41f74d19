"""Ctrl-C at a moment when it would leave a process behind: it comes when that moment is over."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

_ENDING = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def postponed() -> Iterator[None]:
    """SIGINT and SIGTERM take effect at the end of the block; for short blocks that start or end processes.

    Signals are the main thread's: on any other thread this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []

    def keep(number: int, _frame: FrameType | None) -> None:
        came.append(number)

    handlers = {number: signal.getsignal(number) for number in _ENDING}
    ours = {number: handler for number, handler in handlers.items() if callable(handler)}
    for number in ours:
        signal.signal(number, keep)
    try:
        yield
    finally:
        for number, handler in ours.items():
            signal.signal(number, handler)
        if came:
            signal.raise_signal(came[0])


def reaches(pid: int) -> bool:
    """Whether a Ctrl-C in our terminal reaches process ``pid`` as well as us."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp() == os.getpgid(pid)
    except OSError:  # the terminal has hung up, or the process has ended
        return False
    finally:
        os.close(terminal)


@contextmanager
def raised() -> Iterator[None]:
    """Ctrl-C is a ``KeyboardInterrupt``, also where it was ignored; on the main thread."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def passed_to(interrupt: Callable[[], None]) -> Iterator[None]:
    """The first Ctrl-C calls ``interrupt`` and nothing else; one more is as it was before. For blocks that only wait.

    On any other thread than the main one this does nothing.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return

    def first(_number: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, before)
        interrupt()

    signal.signal(signal.SIGINT, first)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGINT) is first:
            signal.signal(signal.SIGINT, before)
