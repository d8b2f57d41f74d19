"""The exception that debugpy has stopped at last: whoever meets it again, where it leaves the program, goes on."""

from __future__ import annotations


class _Seen:
    """By its address: an exception is kept alive by nobody here."""

    error = 0


def note(event: str, arg: object) -> None:
    """Note what a thread stops for."""
    if event == "exception" and isinstance(arg, tuple) and len(arg) > 1:
        _Seen.error = id(arg[1])


def is_last(error: BaseException) -> bool:
    """Whether debugpy has stopped at this one."""
    return _Seen.error == id(error)
