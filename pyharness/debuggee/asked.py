"""Tells, on a thread's stack, what a person asked for from what is the program's: handlers of signals run between.

Such a handler may raise wherever Python code runs: also in ours, which then has no chance to tidy up. So whoever
depends on being within what was asked looks at the stack.
"""

from __future__ import annotations

import functools
import signal
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType

Whose = Literal["person", "program", "over"]


def call(body: Callable[[], Any]) -> Any:
    """Call what a person asked for."""
    return body()


def whose(frame: FrameType | None) -> Whose:
    """Whose code runs in ``frame``: the person's, or a handler's of the program's within; or what was asked is over."""
    asked, handlers, within = call.__code__, _handlers(), False
    while frame is not None:
        if frame.f_code is asked:
            return "program" if within else "person"
        within = within or frame.f_code in handlers
        frame = frame.f_back
    return "over"


def is_programs(error: BaseException | None) -> bool:
    """Whether a handler of a signal raised ``error``; Python's own one raises ``KeyboardInterrupt``."""
    if isinstance(error, KeyboardInterrupt):
        return True
    handlers, trace = _handlers(), None if error is None else error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code in handlers:
            return True
        trace = trace.tb_next
    return False


def _handlers() -> set[CodeType]:
    codes = (_code_of(signal.getsignal(number)) for number in signal.valid_signals())
    return {code for code in codes if code is not None}


def _code_of(handler: Any) -> CodeType | None:
    while isinstance(handler, functools.partial):
        handler = handler.func
    called = getattr(handler, "__func__", handler)
    called = called if hasattr(called, "__code__") else vars(type(called)).get("__call__")
    return getattr(called, "__code__", None)
