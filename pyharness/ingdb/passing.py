"""Lets one thread pass breakpoints by, while it runs an expression of a person's that has to come back."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, ClassVar

import gdb

if TYPE_CHECKING:
    from collections.abc import Iterator


class _Passing:
    """Who does, of which there is one: gdb evaluates one expression at a time."""

    lwp: ClassVar[int] = 0


def passes() -> bool:
    """Whether the thread that has come to a breakpoint passes it by."""
    return bool(_Passing.lwp) and gdb.selected_thread().ptid[1] == _Passing.lwp


@contextmanager
def by_selected_thread() -> Iterator[None]:
    """Others go on to stop at breakpoints, catchpoints and watchpoints; those of a class of ours ask `passes`."""
    thread = gdb.selected_thread()
    before = {each: each.condition for each in gdb.breakpoints() if type(each) is gdb.Breakpoint and each.enabled}
    _Passing.lwp = thread.ptid[1]
    try:
        for each, condition in before.items():
            others = f"$_thread != {thread.num}"
            each.condition = f"{others} && ({condition})" if condition else others
        yield
    finally:
        _Passing.lwp = 0
        for each, condition in before.items():
            if each.is_valid():
                each.condition = condition
