"""The exception that debugpy has stopped at last: whoever meets it again, where it leaves the program, goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType


class _Seen:
    """By addresses, as an exception is kept alive by nobody here; another one may have them later."""

    error: tuple[int, ...] = ()


def note(event: str, arg: object) -> None:
    """Note what a thread stops for."""
    if event == "exception" and isinstance(arg, tuple) and len(arg) > 2 and isinstance(arg[1], BaseException):
        _Seen.error = _name(arg[1], arg[2])


def is_last(error: BaseException) -> bool:
    """Whether debugpy has stopped at this one."""
    return _Seen.error == _name(error, error.__traceback__)


def _name(error: BaseException, trace: TracebackType | None) -> tuple[int, ...]:
    """An error's address, and where it was raised: the innermost of its traceback is the same all the way."""
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    raised = (id(trace), id(trace.tb_frame), trace.tb_lasti) if trace is not None else ()
    return id(error), id(type(error)), *raised
