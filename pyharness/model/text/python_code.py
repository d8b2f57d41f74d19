"""Compiles a source of Python as ``python FILE`` does: nested as deeply, however deep the stack is that asks for it."""

from __future__ import annotations

import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType


_MOST = (1 << 31) - 1
"""What a C int holds: some programs set the limit to that."""


class _Limit:
    """The recursion limit, which all threads share: one at a time moves it and puts it back."""

    lock = threading.RLock()


def compiled(source: bytes, file: str) -> CodeType:
    """The code of a source; what ``compile`` raises for one that has none."""
    with as_from_the_bottom():
        return compile(source, file, "exec", dont_inherit=True)


@contextmanager
def as_from_the_bottom() -> Iterator[None]:
    """What is compiled here may be nested as if nothing had called it.

    Until CPython 3.11 the compiler goes on from the depth of the stack, three levels for each frame of Python.
    """
    with _Limit.lock:
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(min(limit + _depth(), _MOST))
        try:
            yield
        finally:
            sys.setrecursionlimit(limit)


def _depth() -> int:
    """How many frames of Python are on this thread's stack."""
    frame, depth = sys._getframe(), 0  # noqa: SLF001
    while frame.f_back is not None:
        frame, depth = frame.f_back, depth + 1
    return depth
